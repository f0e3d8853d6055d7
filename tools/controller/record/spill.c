// SPDX-License-Identifier: GPL-2.0-only
/* Sorts points by group, in runs: see spill.h. */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 16384
#define WRITE_BYTES (1U << 20)

/* Precedes the points of a group in a run, in the byte order of this machine. */
struct section {
	uint32_t group;
	uint32_t count;
};

struct stored {
	double value;
	int64_t time_ns;
	uint64_t member;
};

struct run {
	off_t at; /* offset of the bytes after the buffer */
	off_t end;
	struct section section; /* the next section; its count is 0 at the end */
	uint8_t *bytes; /* buffer of READ_BYTES */
	size_t length, used;
};

struct spill {
	int fd;
	off_t size;
	struct spilled *points;
	uint32_t *order; /* indices of the points, sorted by rank */
	size_t count, room;
	struct run *runs;
	size_t run_count, run_room;
};

static int open_file(const char *directory, int *fd, struct dart_error *error)
{
	char *path;

	if (asprintf(&path, "%s/dart-dump-XXXXXX", directory) < 0)
		return dart_error__no_memory(error);
	*fd = mkostemp(path, O_CLOEXEC);
	if (*fd < 0)
		dart_error__system(error, errno, "cannot make a temporary file in '%s'", directory);
	else
		unlink(path);
	free(path);
	return *fd < 0 ? -errno : 0;
}

int spill__open(const char *directory, size_t bytes, struct spill **spillp,
		struct dart_error *error)
{
	struct spill *spill = calloc(1, sizeof(*spill));
	int err;

	if (!spill)
		return dart_error__no_memory(error);
	spill->room = bytes / (sizeof(*spill->points) + sizeof(*spill->order));
	spill->points = malloc(spill->room * sizeof(*spill->points));
	spill->order = malloc(spill->room * sizeof(*spill->order));
	spill->fd = -1;
	err = spill->points && spill->order ? open_file(directory, &spill->fd, error) :
					      dart_error__no_memory(error);
	if (err) {
		spill__close(spill);
		return err;
	}
	*spillp = spill;
	return 0;
}

void spill__close(struct spill *spill)
{
	size_t i;

	if (!spill)
		return;
	for (i = 0; i < spill->run_count; i++)
		free(spill->runs[i].bytes);
	free(spill->runs);
	free(spill->points);
	free(spill->order);
	if (spill->fd >= 0)
		close(spill->fd);
	free(spill);
}

bool spill__add(struct spill *spill, const struct spilled *point)
{
	if (spill->count == spill->room)
		return false;
	spill->points[spill->count++] = *point;
	return true;
}

/* ---- writing */

/* A stable sort: the points of a group keep their order. */
static int sort(struct spill *spill, const uint32_t *ranks, uint32_t count)
{
	uint32_t *starts = calloc((size_t)count + 1, sizeof(*starts));
	size_t i;

	if (!starts)
		return -ENOMEM;
	for (i = 0; i < spill->count; i++)
		starts[ranks[spill->points[i].group] + 1]++;
	for (i = 1; i <= count; i++)
		starts[i] += starts[i - 1];
	for (i = 0; i < spill->count; i++)
		spill->order[starts[ranks[spill->points[i].group]]++] = i;
	free(starts);
	return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t length, off_t *at)
{
	ssize_t written;

	while (length) {
		written = pwrite(fd, bytes, length, *at);
		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			bytes += written;
			length -= written;
			*at += written;
		}
	}
	return 0;
}

struct block_writer {
	struct spill *spill;
	uint8_t *bytes;
	size_t length;
};

static int block_writer__put(struct block_writer *writer, const void *bytes, size_t length)
{
	int err = 0;

	if (WRITE_BYTES - writer->length < length) {
		err = write_all(writer->spill->fd, writer->bytes, writer->length,
				&writer->spill->size);
		writer->length = 0;
	}
	memcpy(writer->bytes + writer->length, bytes, length);
	writer->length += length;
	return err;
}

/* Returns the number of points of the same group from @from on. */
static uint32_t section_length(const struct spill *spill, size_t from)
{
	const uint32_t group = spill->points[spill->order[from]].group;
	size_t i = from;

	while (i < spill->count && spill->points[spill->order[i]].group == group)
		i++;
	return i - from;
}

static int write_run(struct spill *spill, struct block_writer *writer)
{
	size_t i = 0, end;
	int err = 0;

	while (i < spill->count && !err) {
		const struct section section = {
			.group = spill->points[spill->order[i]].group,
			.count = section_length(spill, i),
		};

		err = block_writer__put(writer, &section, sizeof(section));
		for (end = i + section.count; i < end && !err; i++) {
			const struct spilled *point = &spill->points[spill->order[i]];
			const struct stored stored = {
				.value = point->value,
				.time_ns = point->time_ns,
				.member = point->member,
			};

			err = block_writer__put(writer, &stored, sizeof(stored));
		}
	}
	return err ?: write_all(spill->fd, writer->bytes, writer->length, &spill->size);
}

static int add_run(struct spill *spill)
{
	const size_t room = spill->run_room ? 2 * spill->run_room : 16;
	struct run *larger;

	if (spill->run_count == spill->run_room) {
		larger = reallocarray(spill->runs, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		spill->runs = larger;
		spill->run_room = room;
	}
	spill->runs[spill->run_count++] = (struct run){ .at = spill->size };
	return 0;
}

int spill__flush(struct spill *spill, const uint32_t *ranks, uint32_t count)
{
	struct block_writer writer = { .spill = spill };
	int err;

	if (!spill->count)
		return 0;
	err = sort(spill, ranks, count) ?: add_run(spill);
	if (err)
		return err;
	writer.bytes = malloc(WRITE_BYTES);
	err = writer.bytes ? write_run(spill, &writer) : -ENOMEM;
	free(writer.bytes);
	spill->runs[spill->run_count - 1].end = spill->size;
	spill->count = 0;
	return err;
}

/* ---- reading */

/* Copies the next @length bytes.  The run is that long, because this program wrote the file. */
static int run__take(struct run *run, int fd, void *to, size_t length)
{
	size_t rest = run->length - run->used, wanted;
	ssize_t got;

	if (rest < length) {
		memmove(run->bytes, run->bytes + run->used, rest);
		run->length = rest;
		run->used = 0;
		while (run->length < length) {
			wanted = READ_BYTES - run->length;
			if (run->end - run->at < (off_t)wanted)
				wanted = run->end - run->at;
			got = pread(fd, run->bytes + run->length, wanted, run->at);
			if (!got || (got < 0 && errno != EINTR))
				return got ? -errno : -EIO;
			if (got > 0) {
				run->length += got;
				run->at += got;
			}
		}
	}
	memcpy(to, run->bytes + run->used, length);
	run->used += length;
	return 0;
}

static int run__next_section(struct run *run, int fd)
{
	run->section = (struct section){};
	if (run->at == run->end && run->used == run->length)
		return 0;
	return run__take(run, fd, &run->section, sizeof(run->section));
}

int spill__rewind(struct spill *spill)
{
	struct run *run;
	int err = 0;

	free(spill->points);
	free(spill->order);
	spill->points = NULL;
	spill->order = NULL;
	for (run = spill->runs; run < spill->runs + spill->run_count && !err; run++) {
		run->bytes = malloc(READ_BYTES);
		err = run->bytes ? run__next_section(run, spill->fd) : -ENOMEM;
	}
	return err;
}

int spill__read(struct spill *spill, uint32_t group,
		int (*take)(void *data, const struct spilled *point), void *data)
{
	struct spilled point = { .group = group };
	struct stored stored;
	struct run *run;
	int ret = 0;

	for (run = spill->runs; run < spill->runs + spill->run_count; run++) {
		if (!run->section.count || run->section.group != group)
			continue;
		while (run->section.count && !ret) {
			ret = run__take(run, spill->fd, &stored, sizeof(stored));
			if (ret)
				break;
			run->section.count--;
			point.member = stored.member;
			point.time_ns = stored.time_ns;
			point.value = stored.value;
			ret = take(data, &point);
		}
		ret = ret ?: run__next_section(run, spill->fd);
		if (ret)
			return ret;
	}
	return 0;
}
