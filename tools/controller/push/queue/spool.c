// SPDX-License-Identifier: GPL-2.0-only
/* Messages in files: see spool.h. */
#include "spool.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "record.h"
#include "segment.h"
#include "tools/controller/base/schedule.h"

/* The bound in segments: each time one segment is dropped. */
#define SEGMENTS 32
#define SEGMENT_MAX (32ULL << 20)
/* A segment that is sent, and may grow, is kept up to it: new files cost more than bytes. */
#define SENT_MAX (1ULL << 20)
/* The file "position". */
struct position {
	uint64_t segment;
	uint64_t offset;
	uint64_t sum; /* XXH3, 64 bits, of the members above */
};

struct spool {
	int directory;
	int lock;
	int position_file;
	int reading; /* a file of the segment that is read; -1: not open */
	int writing; /* the last file; -1: the next message begins a new file */
	uint64_t bound;
	bool is_forced; /* by each message */
	uint64_t segment_max;
	struct segment *first, *last;
	struct segment *read; /* whose messages are read; NULL: there is no segment */
	uint64_t offset; /* of the next message in it */
	uint64_t next_number;
	uint64_t bytes;
	uint64_t samples;
	uint64_t dropped;
	uint64_t damaged;
	uint64_t damaged_samples; /* of the dropped samples */
	bool is_full; /* the last message could not be written */
	bool is_directory_loose; /* names of segments are not forced to the disk */
};

static void save_position(struct spool *spool)
{
	struct position position = {
		.segment = htole64(spool->first ? spool->first->number : 0),
		.offset = htole64(spool->first ? spool->first->sent : 0),
	};

	position.sum = htole64(XXH3_64bits(&position, offsetof(struct position, sum)));
	/* If it fails, messages are sent again after a restart. */
	(void)!pwrite(spool->position_file, &position, sizeof(position), 0);
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Reads from the beginning of the segment, or from the place that an earlier program reached. */
static void read_segment(struct spool *spool, struct segment *segment)
{
	close_file(&spool->reading);
	spool->read = segment;
	spool->offset = segment ? segment->sent : 0;
}

/* Drops the messages of the first segment that were not read. */
static void remove_first(struct spool *spool)
{
	struct segment *segment = spool->first;

	segment__unlink(spool->directory, segment->number);
	if (segment == spool->read)
		read_segment(spool, segment->next);
	if (segment == spool->last)
		close_file(&spool->writing);
	spool->bytes -= segment->length;
	spool->samples -= segment->samples;
	spool->dropped += segment->samples;
	spool->first = segment->next;
	if (!spool->first)
		spool->last = NULL;
	free(segment);
	save_position(spool);
}

/* Were all messages of the segment read and sent?  Segments are read one after the other. */
static bool is_sent(const struct spool *spool, const struct segment *segment)
{
	const struct segment *read = spool->read;

	if (read &&
	    (segment == read ? spool->offset < segment->length : segment->number > read->number))
		return false;
	return segment->sent >= segment->read_end;
}

/*
 * Removes segments that are sent; the segment that may still grow only if that is worth it, or room
 * is scarce.  True if one was removed.
 */
static bool remove_sent(struct spool *spool)
{
	bool was_any = false;

	while (spool->first && is_sent(spool, spool->first) &&
	       (spool->first != spool->last || spool->writing < 0 ||
		(spool->is_full && spool->first->length) || spool->first->length >= SENT_MAX)) {
		remove_first(spool);
		was_any = true;
	}
	return was_any;
}

static struct segment *add_segment(struct spool *spool, uint64_t number)
{
	struct segment *segment = calloc(1, sizeof(*segment));

	if (!segment)
		return NULL;
	segment->number = number;
	if (spool->last)
		spool->last->next = segment;
	else
		spool->first = segment;
	spool->last = segment;
	if (!spool->read)
		read_segment(spool, segment);
	if (number >= spool->next_number)
		spool->next_number = number + 1;
	return segment;
}

/* A position that is not whole is the beginning. */
static void load_position(struct spool *spool, struct position *position)
{
	if (pread(spool->position_file, position, sizeof(*position), 0) != sizeof(*position) ||
	    le64toh(position->sum) != XXH3_64bits(position, offsetof(struct position, sum)))
		*position = (struct position){};
	position->segment = le64toh(position->segment);
	position->offset = le64toh(position->offset);
	if (position->segment >= SEGMENT_NUMBER_MAX)
		*position = (struct position){};
}

static int load_segment(struct spool *spool, uint64_t number, const struct position *position)
{
	struct segment *segment = add_segment(spool, number);
	int fd, ret;

	if (!segment)
		return -ENOMEM;
	fd = segment__open(spool->directory, number, O_RDWR);
	if (fd < 0)
		return fd;
	ret = segment__scan(segment, fd,
			    number < position->segment	? UINT64_MAX :
			    number == position->segment ? position->offset :
							  0);
	close(fd);
	spool->damaged += segment->damage.bytes;
	spool->dropped += segment->damage.samples;
	spool->damaged_samples += segment->damage.samples;
	spool->bytes += segment->length;
	spool->samples += segment->samples;
	return ret;
}

static int load(struct spool *spool)
{
	struct position position;
	struct dirent **entries;
	int count, i, ret = 0;

	load_position(spool, &position);
	spool->next_number = position.segment + 1;
	/* All numbers are written with the same number of digits. */
	count = scandirat(spool->directory, ".", &entries, segment__is_file, alphasort);
	if (count < 0)
		return -errno;
	for (i = 0; i < count; i++) {
		if (!ret)
			ret = load_segment(spool, strtoull(entries[i]->d_name, NULL, 16),
					   &position);
		free(entries[i]);
	}
	free(entries);
	if (ret)
		return ret;
	/* A program was killed before it removed these. */
	while (spool->first && spool->first->number < position.segment)
		remove_first(spool);
	read_segment(spool, spool->first);
	save_position(spool);
	return 0;
}

static int open_files(struct spool *spool, const char *directory)
{
	spool->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->directory < 0)
		return -errno;
	spool->lock = openat(spool->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (spool->lock < 0 || flock(spool->lock, LOCK_EX | LOCK_NB))
		return -errno;
	spool->position_file =
		openat(spool->directory, "position", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return spool->position_file < 0 ? -errno : 0;
}

int spool__open(const char *directory, uint64_t bound, bool is_forced, struct spool **spoolp,
		struct dart_error *error)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	int ret;

	if (!spool)
		return dart_error__no_memory(error);
	spool->directory = spool->lock = spool->position_file = -1;
	spool->reading = spool->writing = -1;
	spool->bound = bound;
	spool->is_forced = is_forced;
	spool->segment_max = bound / SEGMENTS < SEGMENT_MAX ? bound / SEGMENTS : SEGMENT_MAX;
	ret = mkdir(directory, 0700) && errno != EEXIST ? -errno : 0;
	if (!ret)
		ret = open_files(spool, directory);
	if (!ret)
		ret = load(spool);
	if (!ret) {
		*spoolp = spool;
		return 0;
	}
	spool__close(spool);
	if (ret == -EWOULDBLOCK)
		return dart_error__set(
			error, EBUSY,
			"another program has the spool '%s' (each output needs its own)",
			directory);
	return dart_error__system(error, -ret, "cannot open the spool '%s'", directory);
}

void spool__close(struct spool *spool)
{
	struct segment *segment;

	if (!spool)
		return;
	while ((segment = spool->first)) {
		spool->first = segment->next;
		free(segment);
	}
	close_file(&spool->reading);
	close_file(&spool->writing);
	close_file(&spool->position_file);
	close_file(&spool->lock);
	close_file(&spool->directory);
	free(spool);
}

bool spool__is_loose(const struct spool *spool)
{
	const struct segment *segment;

	for (segment = spool->first; segment; segment = segment->next) {
		if (segment->is_loose && !is_sent(spool, segment))
			return true;
	}
	return false;
}

/* Any descriptor of a file serves for all that was written to it. */
static int force_segment(struct spool *spool, struct segment *segment)
{
	const bool is_open = segment == spool->last && spool->writing >= 0;
	int fd, ret;

	fd = is_open ? spool->writing : segment__open(spool->directory, segment->number, O_RDONLY);
	if (fd < 0)
		return fd;
	ret = fdatasync(fd) ? -errno : 0;
	if (!is_open)
		close(fd);
	segment->is_loose = ret;
	return ret;
}

int spool__force(struct spool *spool)
{
	struct segment *segment;
	int ret;

	for (segment = spool->first; segment; segment = segment->next) {
		ret = segment->is_loose ? force_segment(spool, segment) : 0;
		if (ret)
			return ret;
	}
	if (spool->is_directory_loose && fsync(spool->directory))
		return -errno;
	spool->is_directory_loose = false;
	return fdatasync(spool->position_file) ? -errno : 0;
}

/* Makes a file with the next number that no file has.  Returns a descriptor or -errno. */
static int make_segment_file(struct spool *spool)
{
	int fd;

	for (;; spool->next_number++) {
		if (spool->next_number >= SEGMENT_NUMBER_MAX)
			return -EOVERFLOW;
		fd = segment__open(spool->directory, spool->next_number, O_RDWR | O_CREAT | O_EXCL);
		if (fd != -EEXIST)
			return fd;
	}
}

static int begin_segment(struct spool *spool)
{
	const int fd = make_segment_file(spool);
	struct segment *segment;

	if (fd < 0)
		return fd;
	segment = add_segment(spool, spool->next_number);
	if (!segment) {
		segment__unlink(spool->directory, spool->next_number);
		close(fd);
		return -ENOMEM;
	}
	spool->writing = fd;
	spool->is_directory_loose = true;
	return 0;
}

/* Finds a segment for another message of @length bytes. */
static int make_room(struct spool *spool, uint64_t length)
{
	while (spool->first && spool->bytes + length > spool->bound)
		remove_first(spool);
	if (spool->writing >= 0 && spool->last->length + length <= spool->segment_max)
		return 0;
	close_file(&spool->writing);
	remove_sent(spool);
	return begin_segment(spool);
}

static int put(struct spool *spool, const struct message *message)
{
	const uint64_t length = record__length(message);
	int ret = make_room(spool, length);

	if (ret)
		return ret;
	ret = record__write(spool->writing, spool->last->length, message);
	spool->last->is_loose = true;
	if (!ret && spool->is_forced)
		ret = spool__force(spool);
	if (ret) {
		/*
		 * Cuts off the incomplete message; if that fails, the next message overwrites it.
		 */
		(void)!ftruncate(spool->writing, spool->last->length);
		return ret;
	}
	spool->last->last_ns = monotonic_ns();
	if (!spool->last->length)
		spool->last->first_ns = spool->last->last_ns;
	spool->last->length += length;
	spool->last->samples += message->samples;
	spool->bytes += length;
	spool->samples += message->samples;
	return 0;
}

int spool__add(struct spool *spool, const struct message *message)
{
	int ret;

	if (message->length > MESSAGE_BYTES_MAX || record__length(message) > spool->bound)
		return -EMSGSIZE;
	ret = put(spool, message);
	spool->is_full = ret;
	if (ret && remove_sent(spool)) {
		ret = put(spool, message);
		spool->is_full = ret;
	}
	return ret;
}

/* Counts @damage of the segment that is read, unless it was counted when it was opened. */
static void count_damage(struct spool *spool, const struct damage *damage)
{
	struct damage *told = &spool->read->damage;
	const uint64_t bytes = damage->bytes < told->bytes ? damage->bytes : told->bytes;
	const uint64_t samples = damage->samples < told->samples ? damage->samples : told->samples;
	uint64_t lost = damage->samples - samples;

	told->bytes -= bytes;
	told->samples -= samples;
	spool->damaged += damage->bytes - bytes;
	/* No more than are missing. */
	if (lost > spool->read->samples)
		lost = spool->read->samples;
	spool->dropped += lost;
	spool->damaged_samples += lost;
	spool->read->samples -= lost;
	spool->samples -= lost;
}

/* Goes on with the next segment.  False if there is no other, or the last one may still grow. */
static bool next_segment(struct spool *spool)
{
	struct segment *segment = spool->read;

	if (segment == spool->last && spool->writing >= 0)
		return false;
	/* Samples whose heads are lost. */
	spool->samples -= segment->samples;
	spool->dropped += segment->samples;
	spool->damaged_samples += segment->samples;
	segment->samples = 0;
	read_segment(spool, segment->next);
	return spool->read;
}

/* Opens the file to read.  A file that somebody removed counts as empty.  0 or -errno. */
static int open_reading(struct spool *spool)
{
	int fd;

	if (spool->reading >= 0)
		return 0;
	fd = segment__open(spool->directory, spool->read->number, O_RDONLY);
	if (fd == -ENOENT) {
		spool->offset = spool->read->length;
		if (spool->read == spool->last)
			close_file(&spool->writing);
		return 0;
	}
	if (fd < 0)
		return fd;
	spool->reading = fd;
	return 0;
}

/* Reads the next message of the segment; -ENODATA at its end. */
static int read_message(struct spool *spool, struct message **message)
{
	struct segment *segment = spool->read;
	struct damage damage = {};
	uint64_t samples;
	int ret;

	ret = segment__next_message(spool->reading, segment->length, &spool->offset, message,
				    &damage);
	count_damage(spool, &damage);
	if (ret)
		return ret;
	segment->read_end = spool->offset;
	(*message)->segment = segment->number;
	(*message)->end = spool->offset;
	(*message)->made_ns = segment__added_at(segment, spool->offset - record__length(*message));
	/* Its samples were counted before, unless somebody changed the file since. */
	samples = (*message)->samples < segment->samples ? (*message)->samples : segment->samples;
	segment->samples -= samples;
	spool->samples -= samples;
	return 0;
}

int spool__read(struct spool *spool, struct message **message)
{
	int ret;

	*message = NULL;
	while (spool->read) {
		if (spool->offset >= spool->read->length) {
			if (!next_segment(spool))
				break;
			continue;
		}
		ret = open_reading(spool);
		if (!ret && spool->reading >= 0)
			ret = read_message(spool, message);
		if (*message || (ret && ret != -ENODATA))
			return ret;
	}
	remove_sent(spool);
	return 0;
}

void spool__advance(struct spool *spool, const struct message *message)
{
	/* Segments before it are sent, or were damaged. */
	while (spool->first && spool->first->number < message->segment)
		remove_first(spool);
	if (!spool->first || spool->first->number != message->segment)
		return;
	spool->first->sent = message->end;
	save_position(spool);
	remove_sent(spool);
}

uint64_t spool__oldest(const struct spool *spool)
{
	return spool->first ? spool->first->number : spool->next_number;
}

uint64_t spool__bytes(const struct spool *spool)
{
	return spool->bytes;
}

uint64_t spool__bound(const struct spool *spool)
{
	return spool->bound;
}

uint64_t spool__samples(const struct spool *spool)
{
	return spool->samples;
}

uint64_t spool__dropped(const struct spool *spool)
{
	return spool->dropped;
}

uint64_t spool__damaged(const struct spool *spool)
{
	return spool->damaged;
}

uint64_t spool__damaged_samples(const struct spool *spool)
{
	return spool->damaged_samples;
}
