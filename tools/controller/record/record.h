/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of a chunk, in the byte order of this machine. */
#ifndef CONTROLLER_RECORD_RECORD_H
#define CONTROLLER_RECORD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "format.h"
#include "tools/controller/decode/sample.h"

/* Longer names and reasons are none. */
#define RECORD_NAME_MAX 512
#define RECORD_REASON_MAX 4096

/* Bytes of the chunk that are not ended by a NUL, and may be anything. */
struct record_text {
	const char *bytes;
	size_t length;
};

struct recorded_target {
	uint32_t number;
	uint64_t interval_ns;
	struct record_text name;
	struct record_text labels;
};

struct recorded_table {
	uint32_t target;
	uint64_t number;
	const struct record_read *reads; /* as in the file */
	uint32_t read_count;
	const void *bytes;
	uint32_t length;
	uint32_t landing_length;
	struct record_text names; /* each with a NUL, also the last */
};

struct recorded_scrape {
	uint64_t table;
	struct sample_head head;
	uint64_t end_ns;
	const void *landing;
	uint32_t landing_length;
};

/* Also for a target that is removed, without a reason. */
struct recorded_loss {
	uint32_t target;
	uint64_t monotonic_ns;
	struct record_text reason;
};

struct record {
	enum record_type type; /* or another number, which is to be left out */
	int64_t time_ns; /* of an event */
	union {
		struct recorded_target target;
		struct recorded_table table;
		struct recorded_scrape scrape;
		struct recorded_loss loss;
	};
};

/*
 * Parses the record at @place of @length bytes of records; differences are undone in place,
 * so all records before it have been parsed, each once.  @record points into @records.  Only
 * lengths are checked: all else may be hostile.  Returns the bytes of the record, which
 * begins at a multiple of 8, or 0 if it is none.
 */
size_t record__parse(uint8_t *records, size_t length, size_t place, struct record *record);

/* Makes @difference of @bytes, and from it these again. */
void record__xor(uint8_t *bytes, const uint8_t *other, size_t length);

#endif /* CONTROLLER_RECORD_RECORD_H */
