/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the frames that report the value of a key to its collector. */
#ifndef DART_REPORT_BUILDER_H
#define DART_REPORT_BUILDER_H

#include "report_progress.h"
#include "roce_frame.h"

#define DART_REPORT_ANY_COPY UINT32_MAX

struct dart_report_builder;

/*
 * Creates a builder of reports from @mac to @collectors, which the caller owns and which outlive
 * it; @seed chooses the copies.  Returns 0, -EINVAL if the collectors differ in numbers that
 * dart_collectors__load() requires to be equal, or -ENOMEM.
 */
int dart_report_builder__new(const struct dart_collectors *collectors, const uint8_t mac[ETH_ALEN],
			     uint64_t seed, struct dart_report_builder **builder);
void dart_report_builder__free(struct dart_report_builder *builder);

/*
 * Goes on with @collectors, which outlive the builder: the same stores with other numbers or shares.
 * PSNs of queue pairs that stay, as at a rotation of a store, go on.  Returns 0, or -EINVAL if they
 * are other stores; then nothing changes.
 */
int dart_report_builder__replace(struct dart_report_builder *builder,
				 const struct dart_collectors *collectors);

/*
 * Finds the @place of a key of @length bytes, 1 to DART_STORE_KEY_MAX. Returns its collector, or
 * NULL if the share lies on none.
 */
const struct dart_collector *dart_report_builder__find(const struct dart_report_builder *builder,
						       const void *key, size_t length,
						       struct dart_store_place *place);

/*
 * Builds the next report to the collector of @place, with the next PSN: @copy
 * is below the collector's redundancy, or DART_REPORT_ANY_COPY for a random
 * one.  Returns the bytes of the frame.
 */
size_t dart_report_builder__report(struct dart_report_builder *builder,
				   const struct dart_store_place *place, uint32_t copy,
				   const void *value, uint8_t frame[DART_ROCE_FRAME_MAX]);

/* The number of reports to collector @index. */
uint64_t dart_report_builder__reports(const struct dart_report_builder *builder, uint32_t index);

/* ---- reliable connections, see "Transports" in <dart/store.h> */

struct dart_report_progress dart_report_builder__progress(const struct dart_report_builder *builder,
							  uint32_t index);

/*
 * Builds the probe to collector @index that is due at @now, CLOCK_MONOTONIC in ns.  Returns the
 * bytes of the frame, 0 if none is due.
 */
size_t dart_report_builder__probe(struct dart_report_builder *builder, uint32_t index, uint64_t now,
				  uint8_t frame[DART_ROCE_FRAME_MAX]);
/* When dart_report_builder__probe() has to be called for @index next; UINT64_MAX: not now. */
uint64_t dart_report_builder__due(const struct dart_report_builder *builder, uint32_t index);
/* Takes a frame that arrived at @now, which may be hostile, or no answer to a report. */
void dart_report_builder__take(struct dart_report_builder *builder, const uint8_t *frame,
			       size_t length, uint64_t now);

#endif /* DART_REPORT_BUILDER_H */
