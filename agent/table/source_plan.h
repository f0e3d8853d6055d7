/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A source plan: is a source better exposed directly or gathered, by the size and the interval, and
 * why, in sentences with the numbers.  Directly costs the host nothing and a controller a READ for
 * each run of bytes of each copy; gathered costs the host a pass every interval and a controller a
 * few READs.
 */
#ifndef SOURCE_PLAN_H
#define SOURCE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#include "agent/base/request.h"

#define SOURCE_PLAN_REASONS_MAX 6

/*
 * READs of a queue pair that adapters answer at a time (max_rd_atomic of ConnectX, and of soft-RoCE
 * by default), and the assumed time of one until its bytes have arrived.  Both together bound a
 * controller to one READ each microsecond for each host.
 */
#define SOURCE_PLAN_READS_AT_A_TIME 16
#define SOURCE_PLAN_READ_NS 16000

/* Bytes of a READ at an MTU of 1024: see dart_endpoint__post_reads(). */
#define SOURCE_PLAN_READ_BYTES (192 << 10)

/* Parts of the interval: for the READs of the direct way, and for a CPU of the host. */
#define SOURCE_PLAN_READS_SHARE 0.1
#define SOURCE_PLAN_CPU_SHARE 0.01

struct source_plan {
	/* Set by the caller. */
	uint32_t interval_ms;
	uint32_t objects;	/* 1 or more, as the one that was looked at */

	/* The direct way.  If it is impossible, a sentence says why and its other members are unused. */
	const char *why_not_direct;	/* without a full stop; or NULL */
	uint32_t windows_max;	/* objects that the region can show */
	bool is_by_page;	/* page exposure: READs fetch the bytes between the runs, too */
	uint32_t copies;	/* of an object, one for each possible CPU */
	uint32_t runs;		/* of adjacent bytes in a copy */
	uint64_t run_bytes;	/* in all runs of a copy */
	uint64_t span;		/* bytes from the first copy to the end of the last one */
	uint64_t pass_ns;	/* that adding up all copies of an object takes; 0: not measured */

	/* The gathered way. */
	uint32_t rows;		/* of the record of an object */
	uint32_t row_bytes;
	bool has_more_rows;	/* possibly: only the record tells */

	/* Set by source_plan__choose(). */
	uint64_t direct_reads, direct_bytes;	/* with page exposure an upper limit of READs */
	uint64_t gathered_reads, gathered_bytes; /* at least, with has_more_rows */
	double reads_share;	/* of the interval, that the direct READs take */
	double cpu_share;	/* of the interval, that passes take of a CPU, about */
	bool is_gathered;	/* the choice */
	uint32_t gather_ms;	/* interval to gather at; 0: direct */
	uint32_t reason_count;
	char reasons[SOURCE_PLAN_REASONS_MAX][DART_ERROR_MAX + 128];
};

/* Chooses the way, with the reasons: first the numbers, then what follows from them. */
void source_plan__choose(struct source_plan *plan);

/* Room for an interval as --gather takes it. */
#define SOURCE_PLAN_INTERVAL_MAX 16
/* Writes "100ms" or "2s". */
void source_plan__interval(char text[static SOURCE_PLAN_INTERVAL_MAX], uint32_t ms);

/* The request for a plan; its subject is the registry. */
extern const struct request_type source_plan_requests[];

#endif /* SOURCE_PLAN_H */
