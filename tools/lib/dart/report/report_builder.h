/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reporter: which frames tell the collectors of a key's value. */
#ifndef DART_REPORT_BUILDER_H
#define DART_REPORT_BUILDER_H

#include "roce_frame.h"

#define DART_REPORT_ANY_COPY UINT32_MAX

struct dart_report_builder;

/*
 * Counts PSNs for @collectors, which stay the caller's and outlive the
 * reporter, and sends from @mac.  @seed: of the choice of copies.  Returns 0,
 * -EINVAL (collectors that differ in what dart_collectors__load() wants to be
 * equal), -ENOMEM.
 */
int dart_report_builder__new(const struct dart_collectors *collectors,
			     const uint8_t mac[ETH_ALEN], uint64_t seed,
			     struct dart_report_builder **builder);
void dart_report_builder__free(struct dart_report_builder *builder);

/*
 * Finds the @place of a key of @length bytes, 1 to DART_STORE_KEY_MAX.  Returns
 * whose it is, or NULL if nobody has the share.
 */
const struct dart_collector *
dart_report_builder__find(const struct dart_report_builder *builder,
			  const void *key, size_t length,
			  struct dart_store_place *place);

/*
 * Builds the next report to the collector that has @place: copy @copy of it,
 * below the collector's redundancy, or DART_REPORT_ANY_COPY.  Returns the
 * bytes of the frame.
 */
size_t dart_report_builder__report(struct dart_report_builder *builder,
				   const struct dart_store_place *place,
				   uint32_t copy, const void *value,
				   uint8_t frame[DART_ROCE_FRAME_MAX]);

/* The reports to collector @index so far. */
uint64_t dart_report_builder__reports(const struct dart_report_builder *builder,
				      uint32_t index);

#endif /* DART_REPORT_BUILDER_H */
