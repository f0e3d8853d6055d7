/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of a chunk, in the byte order of this machine. */
#ifndef CONTROLLER_RECORD_RECORD_H
#define CONTROLLER_RECORD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "format.h"
#include "tools/controller/decode/sample.h"

/* Records with longer names or reasons are refused. */
#define RECORD_NAME_MAX 512
#define RECORD_REASON_MAX 4096

/* Bytes of a chunk, not terminated by a NUL, that may contain anything. */
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
	const struct record_read *reads; /* in the byte order of the file */
	uint32_t read_count;
	const void *bytes;
	uint32_t length;
	uint32_t landing_length;
	struct record_text names; /* each name ends with a NUL, including the last */
};

struct recorded_scrape {
	uint64_t table;
	struct sample_head head;
	uint64_t end_ns;
	const void *landing;
	uint32_t landing_length;
};

/* Describes a removed target, too, without a reason. */
struct recorded_loss {
	uint32_t target;
	uint64_t monotonic_ns;
	struct record_text reason;
};

struct record {
	enum record_type type; /* or another number; such records are skipped */
	int64_t time_ns; /* time of an event */
	union {
		struct recorded_target target;
		struct recorded_table table;
		struct recorded_scrape scrape;
		struct recorded_loss loss;
	};
};

/*
 * Parses the record at @place in @length bytes of records.  Differences are undone in place, so the
 * caller must have parsed all records before it, each once.  @record points into @records.  Only
 * lengths are checked; everything else may be hostile.  Returns the bytes of the record, which
 * begins at a multiple of 8; 0 if it is malformed.
 */
size_t record__parse(uint8_t *records, size_t length, size_t place, struct record *record);

/* XORs @bytes with @other: makes a difference, or restores the bytes from it. */
void record__xor(uint8_t *bytes, const uint8_t *other, size_t length);

#endif /* CONTROLLER_RECORD_RECORD_H */
