// SPDX-License-Identifier: GPL-2.0-only
/* Files of a spool: see segment.h. */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "record.h"
#include "tools/controller/base/schedule.h"

#define SUFFIX ".segment"
#define DIGITS 16
#define NAME_LENGTH (DIGITS + sizeof(SUFFIX) - 1)

static void name_of(uint64_t number, char name[NAME_LENGTH + 1])
{
	snprintf(name, NAME_LENGTH + 1, "%016" PRIx64 SUFFIX, number);
}

int segment__open(int directory, uint64_t number, int flags)
{
	char name[NAME_LENGTH + 1];
	int fd;

	name_of(number, name);
	fd = openat(directory, name, flags | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

void segment__unlink(int directory, uint64_t number)
{
	char name[NAME_LENGTH + 1];

	name_of(number, name);
	unlinkat(directory, name, 0);
}

int segment__is_file(const struct dirent *entry)
{
	/* The number is below SEGMENT_NUMBER_MAX. */
	return strlen(entry->d_name) == NAME_LENGTH && *entry->d_name <= '3' &&
	       strspn(entry->d_name, "0123456789abcdef") == DIGITS &&
	       !strcmp(entry->d_name + DIGITS, SUFFIX);
}

int segment__next_message(int fd, uint64_t end, uint64_t *offset, struct message **message,
			  struct damage *damage)
{
	struct record_extent extent;
	uint64_t begin;
	int ret;

	while (*offset < end) {
		begin = *offset;
		ret = record__read(fd, begin, end, message, &extent);
		if (ret == -ENOMEM)
			return ret;
		*offset = ret == -EIO ? record__find(fd, begin + 1, end) : begin + extent.length;
		if (!ret)
			return 0;
		damage->bytes += *offset - begin;
		damage->samples += ret == -EIO ? 0 : extent.samples;
	}
	return -ENODATA;
}

/* CLOCK_MONOTONIC at the time @s, @ns of CLOCK_REALTIME; a time in the future counts as now. */
static uint64_t monotonic_at(int64_t s, uint32_t ns)
{
	int64_t age_ns = dart_clock__ns(CLOCK_REALTIME) - s * 1000000000LL - (int64_t)ns;

	return monotonic_ns() - (age_ns > 0 ? age_ns : 0);
}

/* Of a program before: from when its file was made until it was written last. */
static void set_times(struct segment *segment, int fd, const struct stat *status)
{
	struct statx times;

	segment->last_ns = monotonic_at(status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
	segment->first_ns = segment->last_ns;
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &times) && (times.stx_mask & STATX_BTIME))
		segment->first_ns = monotonic_at(times.stx_btime.tv_sec, times.stx_btime.tv_nsec);
	/* It was copied. */
	if ((int64_t)(segment->last_ns - segment->first_ns) < 0)
		segment->first_ns = segment->last_ns;
}

uint64_t segment__added_at(const struct segment *segment, uint64_t offset)
{
	const uint64_t lasted_ns = segment->last_ns - segment->first_ns;

	return (segment->first_ns + (uint64_t)((double)lasted_ns * offset / segment->length)) | 1;
}

int segment__scan(struct segment *segment, int fd, uint64_t sent)
{
	struct record_extent extent;
	uint64_t begin, at, end;
	struct stat status;
	int ret;

	if (fstat(fd, &status))
		return -errno;
	segment->length = status.st_size;
	set_times(segment, fd, &status);
	at = end = segment->sent = sent < segment->length ? sent : segment->length;
	while (at < segment->length) {
		begin = at;
		ret = record__look(fd, begin, segment->length, &extent);
		at = ret == -EIO ? record__find(fd, begin + 1, segment->length) :
				   begin + extent.length;
		if (!ret) {
			segment->samples += extent.samples;
			end = at;
			continue;
		}
		segment->damage.bytes += at - begin;
		segment->damage.samples += ret == -EIO ? 0 : extent.samples;
	}
	/* Or else the next program would count it again. */
	if (end < segment->length && !ftruncate(fd, end))
		segment->length = end;
	return 0;
}
