// SPDX-License-Identifier: GPL-2.0-only
/* Messages in files: see spool.h. */
#include "spool.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "record.h"

#define SUFFIX ".segment"
#define DIGITS 16
#define NAME_LENGTH (DIGITS + sizeof(SUFFIX) - 1)
/* Of the bound: so many segments are there at most, and one is what a drop loses. */
#define SEGMENTS 8
#define SEGMENT_MAX (64ULL << 20)
/* Of segments: no spool reaches it, but a file may have any name. */
#define NUMBER_MAX (1ULL << 62)

/* The file "position". */
struct position {
	uint64_t segment;
	uint64_t offset;
	uint64_t sum;		/* XXH3, 64 bits, of the members above */
};

struct segment {
	struct segment *next;
	uint64_t number;
	uint64_t length;	/* of whole messages */
	uint64_t samples;	/* that are not sent */
};

struct spool {
	int directory;
	int lock;
	int position_file;
	int reading;		/* the first segment; -1: not open */
	int writing;		/* the last; -1: the next message begins a new one */
	uint64_t bound;
	uint64_t segment_max;
	struct segment *first, *last;
	uint64_t next_number;
	uint64_t offset;	/* in the first */
	uint64_t bytes;
	uint64_t samples;
	uint64_t dropped;
	uint64_t damaged;
	/* Of the message read last; 0: none. */
	uint64_t read_segment;
	uint64_t read_length;
	uint32_t read_samples;
};

static void name_of(uint64_t number, char name[NAME_LENGTH + 1])
{
	snprintf(name, NAME_LENGTH + 1, "%016" PRIx64 SUFFIX, number);
}

static int open_segment(const struct spool *spool, uint64_t number, int flags)
{
	char name[NAME_LENGTH + 1];
	int fd;

	name_of(number, name);
	fd = openat(spool->directory, name, flags | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static void save_position(struct spool *spool)
{
	struct position position = {
		.segment = htole64(spool->first ? spool->first->number : 0),
		.offset = htole64(spool->offset),
	};

	position.sum = htole64(XXH3_64bits(&position,
					   offsetof(struct position, sum)));
	/* If it fails, messages are sent again after a restart. */
	(void)!pwrite(spool->position_file, &position, sizeof(position), 0);
}

/* With what was not sent of it. */
static void remove_first(struct spool *spool)
{
	struct segment *segment = spool->first;
	char name[NAME_LENGTH + 1];

	name_of(segment->number, name);
	unlinkat(spool->directory, name, 0);
	if (spool->reading >= 0)
		close(spool->reading);
	spool->reading = -1;
	if (segment == spool->last && spool->writing >= 0) {
		close(spool->writing);
		spool->writing = -1;
	}
	spool->bytes -= segment->length;
	spool->samples -= segment->samples;
	spool->dropped += segment->samples;
	spool->first = segment->next;
	if (!spool->first)
		spool->last = NULL;
	spool->offset = 0;
	free(segment);
	save_position(spool);
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
	if (number >= spool->next_number)
		spool->next_number = number + 1;
	return segment;
}

/*
 * Counts the whole messages of a segment, of which @sent bytes are sent, and cuts off the
 * rest.
 */
static int scan(struct spool *spool, struct segment *segment, uint64_t sent)
{
	int fd = open_segment(spool, segment->number, O_RDWR), ret;
	struct message *message;
	struct stat status;
	uint64_t samples;

	if (fd < 0)
		return fd;
	for (;;) {
		ret = record__read(fd, segment->length, &message);
		if (ret)
			break;
		samples = segment->length < sent ? 0 : message->samples;
		segment->samples += samples;
		segment->length += record__length(message);
		free(message);
	}
	if (ret == -EIO)
		ret = 0;
	if (!ret && !fstat(fd, &status) &&
	    (uint64_t)status.st_size > segment->length) {
		spool->damaged += status.st_size - segment->length;
		if (ftruncate(fd, segment->length))
			ret = -errno;
	}
	close(fd);
	spool->bytes += segment->length;
	spool->samples += segment->samples;
	return ret;
}

static int is_segment(const struct dirent *entry)
{
	/* Below NUMBER_MAX. */
	return strlen(entry->d_name) == NAME_LENGTH && *entry->d_name <= '3' &&
	       strspn(entry->d_name, "0123456789abcdef") == DIGITS &&
	       !strcmp(entry->d_name + DIGITS, SUFFIX);
}

/* A position that is not whole is the beginning. */
static void load_position(struct spool *spool, struct position *position)
{
	if (pread(spool->position_file, position, sizeof(*position), 0) !=
		    sizeof(*position) ||
	    le64toh(position->sum) !=
		    XXH3_64bits(position, offsetof(struct position, sum)))
		*position = (struct position){};
	position->segment = le64toh(position->segment);
	position->offset = le64toh(position->offset);
	if (position->segment >= NUMBER_MAX)
		*position = (struct position){};
}

static int load_segment(struct spool *spool, uint64_t number,
			const struct position *position)
{
	struct segment *segment = add_segment(spool, number);

	if (!segment)
		return -ENOMEM;
	return scan(spool, segment,
		    number < position->segment	? UINT64_MAX :
		    number == position->segment ? position->offset :
						  0);
}

static int load(struct spool *spool)
{
	struct position position;
	struct dirent **entries;
	int count, i, ret = 0;

	load_position(spool, &position);
	spool->next_number = position.segment + 1;
	/* Their numbers have equally many digits. */
	count = scandirat(spool->directory, ".", &entries, is_segment,
			  alphasort);
	if (count < 0)
		return -errno;
	for (i = 0; i < count; i++) {
		if (!ret)
			ret = load_segment(spool,
					   strtoull(entries[i]->d_name, NULL,
						    16),
					   &position);
		free(entries[i]);
	}
	free(entries);
	/* Removed already, if the program had not been killed in between. */
	while (!ret && spool->first && spool->first->number < position.segment)
		remove_first(spool);
	if (!ret && spool->first && spool->first->number == position.segment)
		spool->offset = position.offset;
	if (!ret)
		save_position(spool);
	return ret;
}

static int open_files(struct spool *spool, const char *directory)
{
	spool->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->directory < 0)
		return -errno;
	spool->lock = openat(spool->directory, "lock",
			     O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (spool->lock < 0 || flock(spool->lock, LOCK_EX | LOCK_NB))
		return -errno;
	spool->position_file = openat(spool->directory, "position",
				      O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return spool->position_file < 0 ? -errno : 0;
}

int spool__open(const char *directory, uint64_t bound, struct spool **spoolp,
		struct dart_error *error)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	int ret;

	if (!spool)
		return dart_error__no_memory(error);
	spool->directory = spool->lock = spool->position_file = -1;
	spool->reading = spool->writing = -1;
	spool->bound = bound;
	spool->segment_max = bound / SEGMENTS < SEGMENT_MAX ? bound / SEGMENTS :
							      SEGMENT_MAX;
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
	return dart_error__system(error, -ret, "cannot open the spool '%s'",
				  directory);
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
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
	close_file(spool->reading);
	close_file(spool->writing);
	close_file(spool->position_file);
	close_file(spool->lock);
	close_file(spool->directory);
	free(spool);
}

/* A segment for one more message of @length bytes. */
static int make_room(struct spool *spool, uint64_t length)
{
	struct segment *segment;
	int fd;

	while (spool->first && spool->bytes + length > spool->bound)
		remove_first(spool);
	if (spool->writing >= 0 &&
	    spool->last->length + length <= spool->segment_max)
		return 0;
	close_file(spool->writing);
	spool->writing = -1;
	if (spool->next_number >= NUMBER_MAX)
		return -EOVERFLOW;
	fd = open_segment(spool, spool->next_number,
			  O_RDWR | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	segment = add_segment(spool, spool->next_number);
	if (!segment) {
		close(fd);
		return -ENOMEM;
	}
	spool->writing = fd;
	return 0;
}

int spool__add(struct spool *spool, const struct message *message)
{
	const uint64_t length = record__length(message);
	struct segment *segment;
	int ret;

	if (message->length > MESSAGE_BYTES_MAX || length > spool->bound)
		return -EMSGSIZE;
	ret = make_room(spool, length);
	if (ret)
		return ret;
	segment = spool->last;
	/* If it fails, what was written is written over by the next one. */
	ret = record__write(spool->writing, segment->length, message);
	if (ret)
		return ret;
	segment->length += length;
	segment->samples += message->samples;
	spool->bytes += length;
	spool->samples += message->samples;
	return 0;
}

int spool__read(struct spool *spool, struct message **message)
{
	int ret;

	*message = NULL;
	spool->read_segment = 0;
	while (spool->first) {
		if (spool->offset >= spool->first->length) {
			/* Nothing is left; the last one may grow. */
			if (spool->first == spool->last && spool->writing >= 0)
				return 0;
			remove_first(spool);
			continue;
		}
		if (spool->reading < 0)
			spool->reading = open_segment(
				spool, spool->first->number, O_RDONLY);
		if (spool->reading < 0)
			return spool->reading;
		ret = record__read(spool->reading, spool->offset, message);
		if (!ret) {
			spool->read_segment = spool->first->number;
			spool->read_length = record__length(*message);
			spool->read_samples = (*message)->samples;
			return 0;
		}
		if (ret == -ENOMEM)
			return ret;
		/* Damaged since it was written: where the next begins is unknown. */
		spool->damaged += spool->first->length - spool->offset;
		remove_first(spool);
	}
	return 0;
}

void spool__advance(struct spool *spool)
{
	struct segment *segment = spool->first;

	if (!segment || segment->number != spool->read_segment)
		return;
	spool->offset += spool->read_length;
	segment->samples -= spool->read_samples;
	spool->samples -= spool->read_samples;
	spool->read_segment = 0;
	save_position(spool);
}

uint64_t spool__bytes(const struct spool *spool)
{
	return spool->bytes;
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
