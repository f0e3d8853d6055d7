/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of a replay: the part of a recording, and the speed. */
#ifndef CONTROLLER_REPLAY_OPTIONS_H
#define CONTROLLER_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A point in time, or a distance from the beginning of the recording, in ns. */
struct replay_time {
	bool is_set;
	bool is_relative;
	int64_t ns;
};

/* The format in which dump prints. */
enum dump_format {
	DUMP_NONE,	/* a replay */
	DUMP_CSV,
	DUMP_JSON,
	DUMP_OPENMETRICS,
};

struct replay_options {
	char **files;		/* of argv; NULL: nothing is replayed */
	size_t file_count;
	struct replay_time from;
	struct replay_time to;
	/* Recorded time divided by time of the replay; 0: as fast as possible. */
	double speed;
	bool has_speed;
	enum dump_format format;
};

#define REPLAY_SPEED_MIN 0.001
#define REPLAY_SPEED_MAX 1000000

/*
 * "@1764066600.5" (UNIX time), "2026-11-25T10:30:00.5Z" (or +01:00; without either local
 * time; a blank instead of T), "+90s", "+5min" or "+250ms" from the beginning.  Returns 0,
 * -EINVAL, or -ERANGE for a date or a time of day that does not exist.
 */
int replay_time__parse(const char *text, struct replay_time *time);
/* @time in a recording that began at @started_ns; @unset if it is not set. */
int64_t replay_time__ns(const struct replay_time *time, int64_t started_ns, int64_t unset);
/* "2", "0.5", "10x" or "max". */
int replay_options__parse_speed(const char *text, double *speed);

#endif /* CONTROLLER_REPLAY_OPTIONS_H */
