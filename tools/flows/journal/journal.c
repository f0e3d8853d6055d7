// SPDX-License-Identifier: GPL-2.0-only
/* The flows on disk: see journal.h. */
#include "journal.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define VERSION 1
#define CHECK_LENGTH 4
#define KEPT 65536 /* bytes that are written at once */
/* Records of ended flows that are too few to write the file anew. */
#define ENDED_FEW 65536

#define WIDE 8 /* kind of the first half of addresses of IPv6; the second half has the next one */
#define IS_WIDE 16 /* added to an operation: the record belongs to the halves before it */
#define HALVES 2
#define HALF 18 /* bytes */
#define UPPER 12 /* bytes of an address that are in the halves */
#define PACKED_MAX ((HALVES + 1) * JOURNAL_RECORD_LENGTH)

_Static_assert(HALVES *HALF == 3 * UPPER && UPPER + 4 == ADDRESS_LENGTH, "three addresses");

static const char magic[8] = "DARTFLOW";

struct journal {
	char path[PATH_MAX], next_path[PATH_MAX + 8];
	int lock, fd;
	uint64_t records, kept_records; /* in the file, and not yet there */
	uint8_t *kept; /* bytes of the latter */
	size_t length, size; /* of these, and of their memory */
	bool has_lost; /* a record found no memory: the file must be written anew */
};

/* ---- records as bytes */

static void put16(uint8_t *bytes, uint16_t value)
{
	value = htole16(value);
	memcpy(bytes, &value, sizeof(value));
}

static void put32(uint8_t *bytes, uint32_t value)
{
	value = htole32(value);
	memcpy(bytes, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8;
}

static uint32_t get32(const uint8_t *bytes)
{
	return get16(bytes) | (uint32_t)get16(bytes + 2) << 16;
}

static uint32_t check_of(const uint8_t *bytes)
{
	return XXH32(bytes + CHECK_LENGTH, JOURNAL_RECORD_LENGTH - CHECK_LENGTH, VERSION);
}

static void pack_one(const struct journal_record *record, uint8_t kind, uint8_t *bytes)
{
	bytes[4] = kind;
	bytes[5] = record->protocol;
	put16(bytes + 6, record->inside_port);
	put16(bytes + 8, record->outside_port);
	put16(bytes + 10, record->remote_port);
	put32(bytes + 12, record->inside);
	put32(bytes + 16, record->outside);
	put32(bytes + 20, record->remote);
	put32(bytes + 24, record->time_s);
	put32(bytes + 28, record->time_s >> 32);
	put32(bytes, check_of(bytes));
}

static bool is_wide(const struct journal_record *record)
{
	return !address__is_ipv4(record->inside | record->outside | record->remote);
}

/* Returns the number of bytes. */
static size_t pack(const struct journal_record *record, uint8_t bytes[static PACKED_MAX])
{
	uint8_t upper[HALVES * HALF];
	uint8_t *const first = bytes;
	unsigned int half;

	if (!is_wide(record)) {
		pack_one(record, record->operation, bytes);
		return JOURNAL_RECORD_LENGTH;
	}
	address__put(upper, UPPER, record->inside >> 32);
	address__put(upper + UPPER, UPPER, record->outside >> 32);
	address__put(upper + 2 * UPPER, UPPER, record->remote >> 32);
	memset(bytes, 0, HALVES * JOURNAL_RECORD_LENGTH);
	for (half = 0; half < HALVES; half++) {
		bytes[4] = WIDE + half;
		memcpy(bytes + 6, upper + half * HALF, HALF);
		put32(bytes, check_of(bytes));
		bytes += JOURNAL_RECORD_LENGTH;
	}
	pack_one(record, record->operation + IS_WIDE, bytes);
	return bytes + JOURNAL_RECORD_LENGTH - first;
}

static bool is_operation(uint8_t kind)
{
	return kind >= JOURNAL_BEGIN && kind <= JOURNAL_RESET_OUT;
}

static void unpack_one(const uint8_t *bytes, struct journal_record *record)
{
	*record = (struct journal_record){
		.operation = bytes[4] & (IS_WIDE - 1),
		.protocol = bytes[5],
		.inside_port = get16(bytes + 6),
		.outside_port = get16(bytes + 8),
		.remote_port = get16(bytes + 10),
		.inside = get32(bytes + 12),
		.outside = get32(bytes + 16),
		.remote = get32(bytes + 20),
		.time_s = get32(bytes + 24) | (uint64_t)get32(bytes + 28) << 32,
	};
}

/* The halves of addresses that came last, one after the other. */
struct halves {
	uint8_t upper[HALVES * HALF];
	unsigned int count;
};

enum unpacked { UNPACKED, UNPACKED_HALF, UNPACKED_DAMAGED };

static enum unpacked unpack(const uint8_t *bytes, struct halves *halves,
			    struct journal_record *record)
{
	const unsigned int count = halves->count;
	const uint8_t kind = bytes[4];

	halves->count = 0;
	if (get32(bytes) != check_of(bytes))
		return UNPACKED_DAMAGED;
	if (kind >= WIDE && kind < WIDE + HALVES) {
		memcpy(halves->upper + (kind - WIDE) * HALF, bytes + 6, HALF);
		/* The first one begins anew, and a second one alone is of nothing. */
		halves->count = kind == WIDE ? 1 : 2 * count;
		return kind == WIDE || count == 1 ? UNPACKED_HALF : UNPACKED_DAMAGED;
	}
	if (!is_operation(kind) && (!is_operation(kind - IS_WIDE) || count != HALVES))
		return UNPACKED_DAMAGED;
	unpack_one(bytes, record);
	if (!(kind & IS_WIDE))
		return UNPACKED;
	record->inside |= address__get(halves->upper, UPPER) << 32;
	record->outside |= address__get(halves->upper + UPPER, UPPER) << 32;
	record->remote |= address__get(halves->upper + 2 * UPPER, UPPER) << 32;
	return UNPACKED;
}

static void pack_header(uint8_t *bytes)
{
	memcpy(bytes, magic, sizeof(magic));
	put32(bytes + 8, VERSION);
	put32(bytes + 12, 0);
}

/* ---- reading */

/* Returns 0, or -EBADMSG if it is not a journal. */
static int read_records(FILE *file,
			void (*tell)(void *subject, const struct journal_record *record),
			void *subject, struct journal_found *found)
{
	uint8_t bytes[JOURNAL_RECORD_LENGTH], header[JOURNAL_HEADER_LENGTH];
	struct halves halves = {};
	struct journal_record record;
	enum unpacked unpacked;
	size_t length;

	pack_header(header);
	length = fread(bytes, 1, JOURNAL_HEADER_LENGTH, file);
	if (length < JOURNAL_HEADER_LENGTH || memcmp(bytes, header, sizeof(header)))
		return ferror(file) ? -EIO : -EBADMSG;
	while ((length = fread(bytes, 1, sizeof(bytes), file))) {
		unpacked = length == sizeof(bytes) ? unpack(bytes, &halves, &record) :
						     UNPACKED_DAMAGED;
		found->damaged += unpacked == UNPACKED_DAMAGED;
		if (unpacked != UNPACKED)
			continue;
		found->records++;
		tell(subject, &record);
	}
	return ferror(file) ? -EIO : 0;
}

static int read_file(const struct journal *journal,
		     void (*tell)(void *subject, const struct journal_record *record),
		     void *subject, struct journal_found *found, struct dart_error *error)
{
	char aside[PATH_MAX + 16];
	FILE *file;
	int ret;

	file = fopen(journal->path, "re");
	if (!file && errno == ENOENT)
		return 0;
	if (!file)
		return dart_error__system(error, errno, "cannot open '%s'", journal->path);
	ret = read_records(file, tell, subject, found);
	fclose(file);
	if (ret == -EIO)
		return dart_error__system(error, EIO, "cannot read '%s'", journal->path);
	if (!ret)
		return 0;
	snprintf(aside, sizeof(aside), "%s.damaged", journal->path);
	if (rename(journal->path, aside))
		return dart_error__system(error, errno, "cannot rename '%s'", journal->path);
	found->is_set_aside = true;
	return 0;
}

/* ---- life */

static int lock(struct journal *journal, struct dart_error *error)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s.lock", journal->path);
	journal->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (journal->lock < 0)
		return dart_error__system(error, errno, "cannot create '%s'", path);
	if (!flock(journal->lock, LOCK_EX | LOCK_NB))
		return 0;
	return dart_error__set(error, EBUSY, "'%s' is in use by another dart-flows", journal->path);
}

int journal__open(const char *path,
		  void (*tell)(void *subject, const struct journal_record *record), void *subject,
		  struct journal **made, struct journal_found *found, struct dart_error *error)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	int ret;

	*found = (struct journal_found){};
	if (!journal)
		return dart_error__no_memory(error);
	journal->lock = journal->fd = -1;
	ret = strlen(path) >= sizeof(journal->path) ?
		      dart_error__set(error, ENAMETOOLONG, "'%s' is too long", path) :
		      0;
	if (!ret) {
		strcpy(journal->path, path);
		snprintf(journal->next_path, sizeof(journal->next_path), "%s.new", path);
		ret = lock(journal, error) ?: read_file(journal, tell, subject, found, error);
	}
	if (ret)
		journal__close(journal);
	else
		*made = journal;
	return ret;
}

void journal__close(struct journal *journal)
{
	if (!journal)
		return;
	if (journal->lock >= 0)
		close(journal->lock);
	if (journal->fd >= 0)
		close(journal->fd);
	free(journal->kept);
	free(journal);
}

/* ---- appending */

void journal__add(struct journal *journal, const struct journal_record *record)
{
	uint8_t *kept;

	if (journal->size - journal->length < PACKED_MAX) {
		kept = realloc(journal->kept, 2 * journal->size + KEPT);
		if (!kept) {
			journal->has_lost = true;
			return;
		}
		journal->kept = kept;
		journal->size = 2 * journal->size + KEPT;
	}
	journal->length += pack(record, journal->kept + journal->length);
	journal->kept_records++;
}

/* Appends all bytes, or none. */
static int append(int fd, const uint8_t *bytes, size_t length)
{
	const off_t before = lseek(fd, 0, SEEK_END);
	size_t done = 0;
	ssize_t written;
	int ret;

	if (before < 0)
		return -errno;
	while (done < length) {
		written = write(fd, bytes + done, length - done);
		if (written > 0) {
			done += written;
			continue;
		}
		if (written < 0 && errno == EINTR)
			continue;
		ret = written ? -errno : -ENOSPC;
		/* A torn record would otherwise shift all that follow. */
		return ftruncate(fd, before) ? -errno : ret;
	}
	return 0;
}

int journal__write(struct journal *journal, struct dart_error *error)
{
	int ret;

	if (journal->has_lost)
		return dart_error__no_memory(error);
	if (!journal->length)
		return 0;
	ret = append(journal->fd, journal->kept, journal->length);
	if (ret)
		return dart_error__system(error, -ret, "cannot write '%s'", journal->path);
	journal->records += journal->kept_records;
	journal->kept_records = 0;
	journal->length = 0;
	return 0;
}

/* ---- writing anew */

bool journal__is_long(const struct journal *journal, uint64_t live)
{
	return journal->has_lost || journal->records > 2 * live + ENDED_FEW;
}

static int write_all(int fd, int (*next)(void *subject, struct journal_record *record),
		     void *subject, uint64_t *records)
{
	uint8_t bytes[KEPT];
	struct journal_record record;
	size_t length = JOURNAL_HEADER_LENGTH;
	int ret;

	pack_header(bytes);
	while ((ret = next(subject, &record)) > 0) {
		if (length + PACKED_MAX > sizeof(bytes)) {
			ret = append(fd, bytes, length);
			if (ret)
				return ret;
			length = 0;
		}
		length += pack(&record, bytes + length);
		++*records;
	}
	ret = ret ?: append(fd, bytes, length);
	return ret ?: fsync(fd) ? -errno : 0;
}

/* The name of the new file outlives a machine that stops now. */
static void sync_directory(const struct journal *journal)
{
	char path[PATH_MAX];
	char *slash;
	int fd;

	strcpy(path, journal->path);
	slash = strrchr(path, '/');
	if (!slash)
		return;
	slash[slash == path] = '\0';
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

int journal__compact(struct journal *journal,
		     int (*next)(void *subject, struct journal_record *record), void *subject,
		     struct dart_error *error)
{
	uint64_t records = 0;
	int fd, ret;

	unlink(journal->next_path);
	fd = open(journal->next_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot create '%s'", journal->next_path);
	ret = write_all(fd, next, subject, &records);
	if (!ret && rename(journal->next_path, journal->path))
		ret = -errno;
	if (ret) {
		close(fd);
		unlink(journal->next_path);
		return dart_error__system(error, -ret, "cannot write '%s'", journal->next_path);
	}
	sync_directory(journal);
	if (journal->fd >= 0)
		close(journal->fd);
	journal->fd = fd;
	journal->records = records;
	journal->kept_records = 0;
	journal->length = 0;
	journal->has_lost = false;
	return 0;
}

uint64_t journal__length(const struct journal *journal)
{
	return journal->records;
}
