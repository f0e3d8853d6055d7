/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings without agents: the test chooses the landed bytes and times. */
#ifndef CONTROLLER_RECORDING_H
#define CONTROLLER_RECORDING_H

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "selftests/unit/controller/decode/controller_table.h"
#include "tools/controller/decode/budget.h"
#include "tools/controller/decode/ring.h"
#include "tools/controller/record/recorder.h"

#define ROWS 8
/* Scrape n begins n seconds after these times of CLOCK_REALTIME and CLOCK_MONOTONIC. */
#define REALTIME_NS	1764066600000000000LL
#define MONOTONIC_NS	5000000000ULL
#define SECOND_NS	1000000000LL

struct recording {
	char directory[64];
	char path[96];
	struct settings_record settings;
	struct output *log;
	int log_fd;
	struct recorder *recorder;
};

static inline void recording__make_directory(struct recording *recording)
{
	*recording = (struct recording){ .directory = "/tmp/recording-XXXXXX" };
	assert_non_null(mkdtemp(recording->directory));
	snprintf(recording->path, sizeof(recording->path), "%s/file", recording->directory);
	recording->settings.path = recording->path;
	recording->log_fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(recording->log_fd >= 0);
}

/* Returns as recorder__open(). */
static inline int recording__try(struct recording *recording, struct dart_error *error)
{
	assert_int_equal(output__open(recording->log_fd, "log", 65536, NULL, &recording->log), 0);
	return recorder__open(&recording->settings, recording->log, &recording->recorder, error);
}

static inline void recording__begin(struct recording *recording)
{
	struct dart_error error;

	if (recording__try(recording, &error))
		fail_msg("%s", error.text);
}

/* Returns as recorder__close(). */
static inline int recording__end(struct recording *recording)
{
	struct pollfd event;
	int ret = 0;

	if (recording->recorder)
		ret = recorder__close(recording->recorder);
	recording->recorder = NULL;
	event = (struct pollfd){
		.fd = output__event_fd(recording->log),
		.events = POLLIN,
	};
	output__end(recording->log);
	while (!output__has_ended(recording->log))
		assert_int_equal(poll(&event, 1, 60000), 1);
	output__close(recording->log);
	recording->log = NULL;
	return ret;
}

/* Does a line of the log contain @text? */
static inline bool recording__has_said(const struct recording *recording, const char *text)
{
	char log[4096];
	ssize_t length = pread(recording->log_fd, log, sizeof(log) - 1, 0);

	assert_true(length >= 0);
	log[length] = '\0';
	return strstr(log, text);
}

/* The path of file number @number, until the next call. */
static inline const char *recording__path(const struct recording *recording, unsigned int number)
{
	static char path[128];

	snprintf(path, sizeof(path), number ? "%s.%u" : "%s", recording->path, number);
	return path;
}

static inline void recording__remove(struct recording *recording)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		unlink(recording__path(recording, i));
	assert_int_equal(rmdir(recording->directory), 0);
	close(recording->log_fd);
}

static inline off_t recording__size(const struct recording *recording, unsigned int number)
{
	struct stat status;

	if (stat(recording__path(recording, number), &status))
		return -1;
	return status.st_size;
}

/* A ring of @host with one entry of @rows numbers, and the bytes of its table. */
static inline struct ring *recording__ring(const struct test_host *host, uint32_t rows)
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_GAUGE);
	const struct wish wish = { "values", schema, rows, 1 };
	const struct scraper_use use = { .value_bytes = BUDGET_TEXT_BYTES };
	const struct settings all = { };
	struct dart_table *table;
	struct scraper *scraper;
	struct dart_error error;
	struct ring *ring;
	uint32_t length;
	uint8_t *bytes;

	bytes = table_bytes_of_host(&wish, 1, host, &length);
	assert_int_equal(dart_table__decode(bytes, length, &table, NULL, &error), 0);
	assert_int_equal(scraper__new(table, &all, &use, &accept_of_agent, &scraper, &error), 0);
	ring = ring__new(scraper);
	assert_non_null(ring);
	ring->table.bytes = bytes;
	ring->table.length = length;
	dart_schema__free(schema);
	return ring;
}

static inline uint64_t recording__value(size_t target, uint64_t sequence, uint32_t row)
{
	return target * 1000000 + sequence * (row % 3) + row;
}

static inline struct sample_head recording__head(uint64_t sequence)
{
	return (struct sample_head){
		.sequence = sequence,
		.start_ns = MONOTONIC_NS + sequence * SECOND_NS,
		.landed_ns = MONOTONIC_NS + sequence * SECOND_NS + 1000,
		.time_ns = REALTIME_NS + sequence * SECOND_NS,
		.clock_offset_ns = -(int64_t)sequence,
		.clock_uncertainty_ns = sequence + 1,
		.reads = 2,
		.bytes = sequence * 100,
		.failed = sequence + 2,
		.missed = sequence + 3,
	};
}

static inline uint64_t recording__end_ns(uint64_t sequence)
{
	return MONOTONIC_NS + sequence * SECOND_NS + 2000;
}

/* Lands the contents of the slot as scrape @sequence. */
static inline void recording__land(struct recording *recording,
				   const struct target_settings *target,
				   struct ring *ring, uint64_t sequence)
{
	struct tap *tap = recorder__tap(recording->recorder);
	const struct sample sample = {
		.head = recording__head(sequence),
		.end_ns = recording__end_ns(sequence),
	};

	tap->operations->landed(tap, target, ring, ring__current(ring)->landing, &sample);
}

/* The same with the values of recording__value(). */
static inline void recording__scrape(struct recording *recording,
				     const struct target_settings *target,
				     struct ring *ring, uint64_t sequence)
{
	const struct dart_read *read = &ring->scraper->reads[0];
	uint64_t *values = (uint64_t *)((char *)ring->memory + read->landing);
	uint32_t i;

	for (i = 0; i < read->length / sizeof(*values); i++)
		values[i] = htole64(recording__value(target->index, sequence, i));
	recording__land(recording, target, ring, sequence);
}

static inline void recording__add(struct recording *recording, const struct target_settings *target)
{
	struct tap *tap = recorder__tap(recording->recorder);

	tap->operations->added(tap, target);
}

static inline void recording__lose(struct recording *recording,
				   const struct target_settings *target, const char *reason)
{
	struct tap *tap = recorder__tap(recording->recorder);

	tap->operations->lost(tap, target, reason);
}

static inline void recording__take_off(struct recording *recording,
				       const struct target_settings *target)
{
	struct tap *tap = recorder__tap(recording->recorder);

	tap->operations->removed(tap, target);
}

#endif /* CONTROLLER_RECORDING_H */
