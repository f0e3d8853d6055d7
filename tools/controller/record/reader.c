// SPDX-License-Identifier: GPL-2.0-only
/* Reads a file chunk by chunk, and skips damaged chunks. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "chunk.h"
#include "reader.h"

#define SEARCH_BYTES 65536

struct reader {
	const char *path;
	int fd;
	uint64_t size; /* size of the file when it was opened */
	uint64_t place; /* offset of the next chunk */
	struct record_file_header header;
	struct reader_range range;

	struct chunk_packer packer;
	uint8_t *stored; /* buffer for the stored bytes of a chunk */
	size_t room;
	uint8_t *records; /* records of the current chunk */
	size_t length;
	size_t at; /* offset of the next record */
	uint64_t chunk; /* offset of the current chunk */

	/*
	 * Damage so far: the offset of the first skipped byte, the number of skipped bytes, and the
	 * number of damaged places.
	 */
	uint64_t damaged_at;
	uint64_t damaged;
	unsigned int damages;
	bool is_cut;
};

/* Returns 0; -ENODATA at the end of the file; or another -errno. */
static int read_at(const struct reader *reader, void *bytes, size_t length, uint64_t place)
{
	size_t done = 0;
	ssize_t got;

	while (done < length) {
		got = pread(reader->fd, (char *)bytes + done, length - done, place + done);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			return -ENODATA;
		if (got > 0)
			done += got;
	}
	return 0;
}

static int reader__check_header(struct reader *reader, struct dart_error *error)
{
	const struct record_file_header *header = &reader->header;
	int err = read_at(reader, &reader->header, sizeof(*header), 0);

	if (err && err != -ENODATA)
		return dart_error__system(error, -err, "cannot read '%s'", reader->path);
	if (err || memcmp(header->magic, RECORD_FILE_MAGIC, sizeof(header->magic)))
		return dart_error__set(error, EINVAL, "'%s' is not a recording of dart-controller",
				       reader->path);
	if (le32toh(header->version) != RECORD_VERSION)
		return dart_error__set(
			error, EPROTONOSUPPORT,
			"'%s' is a recording of version %u, and this dart-controller reads version %d",
			reader->path, le32toh(header->version), RECORD_VERSION);
	if (le64toh(header->checksum) !=
		    XXH64(header, offsetof(struct record_file_header, checksum), 0) ||
	    le32toh(header->length) != sizeof(*header))
		return dart_error__set(error, EBADMSG, "'%s' is damaged at its beginning",
				       reader->path);
	reader->place = sizeof(*header);
	return 0;
}

int reader__open(const char *path, struct reader **readerp, struct dart_error *error)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct stat status;
	int err = 0;

	if (!reader)
		return dart_error__no_memory(error);
	reader->path = path;
	reader->range = READER_ALL;
	reader->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0 || fstat(reader->fd, &status))
		err = dart_error__system(error, errno, "cannot open '%s'", path);
	if (!err) {
		reader->size = status.st_size;
		err = reader__check_header(reader, error);
	}
	if (err) {
		reader__close(reader);
		return err;
	}
	*readerp = reader;
	return 0;
}

void reader__close(struct reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	chunk_packer__close(&reader->packer);
	free(reader->stored);
	free(reader);
}

int64_t reader__started_ns(const struct reader *reader)
{
	return le64toh(reader->header.started_ns);
}

uint64_t reader__number(const struct reader *reader)
{
	return le64toh(reader->header.number);
}

bool reader__is_same_recording(const struct reader *reader, const struct reader *other)
{
	return !memcmp(reader->header.recording, other->header.recording,
		       sizeof(reader->header.recording));
}

void reader__set_range(struct reader *reader, struct reader_range range)
{
	reader->range = range;
}

static void reader__note_damage(struct reader *reader, uint64_t from, uint64_t to)
{
	if (!reader->damages++)
		reader->damaged_at = from;
	reader->damaged += to - from;
}

/* Notes that the file ends within a chunk. */
static void reader__note_cut(struct reader *reader)
{
	reader->is_cut = true;
	reader__note_damage(reader, reader->place, reader->size);
	reader->place = reader->size;
}

/* Moves on to the next intact header after @place.  Returns 0, or -errno of read(). */
static int reader__search(struct reader *reader)
{
	const uint64_t from = reader->place;
	struct record_chunk_header header;
	uint64_t place = from + RECORD_ALIGNMENT;
	uint32_t words[SEARCH_BYTES / sizeof(uint32_t)];
	size_t length, i;
	int err = 0;

	while (!err && place < reader->size && reader->size - place >= sizeof(header)) {
		length = reader->size - place < sizeof(words) ? reader->size - place :
								sizeof(words);
		err = read_at(reader, words, length, place);
		for (i = 0; !err && i < length / RECORD_ALIGNMENT; i++) {
			if (le32toh(words[2 * i]) != RECORD_CHUNK_MAGIC)
				continue;
			reader->place = place + i * RECORD_ALIGNMENT;
			err = read_at(reader, &header, sizeof(header), reader->place);
			if (!err && chunk__is_header(&header)) {
				reader__note_damage(reader, from, reader->place);
				return 0;
			}
		}
		/* If the file became shorter meanwhile, the search ends there. */
		place += length / RECORD_ALIGNMENT * RECORD_ALIGNMENT;
	}
	reader->place = reader->size;
	reader__note_damage(reader, from, reader->size);
	return err == -ENODATA ? 0 : err;
}

static bool reader__wants(const struct reader *reader, const struct record_chunk_header *header)
{
	return le32toh(header->flags) & RECORD_CHUNK_DEFINITIONS ||
	       ((int64_t)le64toh(header->first_ns) < reader->range.to_ns &&
		(int64_t)le64toh(header->last_ns) >= reader->range.from_ns);
}

/*
 * Reserves memory for the stored bytes of a chunk, which the caller compared with the size of the
 * file.
 */
static int reader__reserve(struct reader *reader, size_t size)
{
	if (size <= reader->room)
		return 0;
	free(reader->stored);
	reader->room = 0;
	reader->stored = malloc(size);
	if (!reader->stored)
		return -ENOMEM;
	reader->room = size;
	return 0;
}

static int reader__take_chunk(struct reader *reader, const struct record_chunk_header *header,
			      size_t size)
{
	int err;

	err = reader__reserve(reader, size)						     ?:
		      read_at(reader, reader->stored, size, reader->place + sizeof(*header)) ?:
		      chunk_packer__unpack(&reader->packer, header, reader->stored,
					   &reader->records);
	if (err == -ENODATA) {
		reader__note_cut(reader);
		return 0;
	}
	reader->chunk = reader->place;
	reader->place += sizeof(*header) + size;
	if (!err) {
		reader->length = le32toh(header->raw_length);
		reader->at = 0;
	} else if (err == -EBADMSG) {
		reader__note_damage(reader, reader->chunk, reader->place);
		err = 0;
	}
	return err;
}

/* Moves on by one chunk, and may read its records.  Returns 0 or -errno. */
static int reader__next_chunk(struct reader *reader)
{
	const uint64_t left = reader->size - reader->place;
	struct record_chunk_header header;
	size_t size;
	int err;

	if (left < sizeof(header)) {
		reader__note_cut(reader);
		return 0;
	}
	err = read_at(reader, &header, sizeof(header), reader->place);
	if (err == -ENODATA) {
		reader__note_cut(reader);
		return 0;
	}
	if (err)
		return err;
	if (!chunk__is_header(&header))
		return reader__search(reader);
	size = chunk__stored_size(&header);
	if (size > left - sizeof(header)) {
		reader__note_cut(reader);
		return 0;
	}
	if (reader__wants(reader, &header))
		return reader__take_chunk(reader, &header, size);
	reader->place += sizeof(header) + size;
	return 0;
}

static bool is_event(enum record_type type)
{
	return type == RECORD_SCRAPE || type == RECORD_LOST || type == RECORD_REMOVED;
}

static bool reader__has(const struct reader *reader, const struct record *record)
{
	return !is_event(record->type) ||
	       (record->time_ns >= reader->range.from_ns && record->time_ns < reader->range.to_ns);
}

int reader__next(struct reader *reader, struct record *record, struct dart_error *error)
{
	size_t size;
	int err;

	for (;;) {
		while (reader->at < reader->length) {
			size = record__parse(reader->records, reader->length, reader->at, record);
			if (!size) {
				/* The checksum is right, so the record was written like this. */
				reader__note_damage(reader, reader->chunk, reader->place);
				reader->at = reader->length;
				break;
			}
			reader->at += size;
			if (reader__has(reader, record))
				return 1;
		}
		if (reader->place >= reader->size)
			return 0;
		err = reader__next_chunk(reader);
		if (err)
			return dart_error__system(error, -err, "cannot read '%s'", reader->path);
	}
}

bool reader__is_damaged(const struct reader *reader, struct dart_error *error)
{
	const unsigned long long at = reader->damaged_at;
	const unsigned long long bytes = reader->damaged;

	if (!reader->damages)
		return false;
	if (reader->is_cut && reader->damages == 1)
		dart_error__set(
			error, EBADMSG,
			"'%s' is cut off: its last chunk, at byte %llu, is not whole; all before it was read",
			reader->path, at);
	else
		dart_error__set(
			error, EBADMSG,
			"'%s' is damaged: %llu bytes in %u places, the first at byte %llu, were left out%s; all else was read",
			reader->path, bytes, reader->damages, at,
			reader->is_cut ? " (the last where it is cut off)" : "");
	return true;
}
