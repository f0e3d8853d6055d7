/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers by which the next dartd recognizes memory that reporters WRITE, and each reporter: the
 * "kept" of their registrations.
 */
#ifndef REPORT_KEPT_H
#define REPORT_KEPT_H

#include <jansson.h>

#include "report_qp.h"

/*
 * Returns the epoch of numbers that are made now, see dart_collectors(5): s of CLOCK_REALTIME, but
 * higher than @old, so that a clock that was set back repeats none.
 */
uint64_t report_epoch__next(uint64_t old);

/* New references, NULL if out of memory. */
json_t *report_kept__object(uint64_t epoch, uint64_t read_base);
/* Of a reporter or the like; @base: of its view. */
json_t *report_kept__reporter(uint32_t first_psn, uint64_t base);

/*
 * Take the numbers in @kept, which may be hostile or NULL.  They log an impossible number, with the
 * noun of the object or the peer, and choose a new one in its place.
 */
void report_kept__read_object(const json_t *kept, const char *noun, const char *name,
			      struct remote_origin *origin);
void report_kept__read_reporter(const json_t *kept, const char *peer, const char *address,
				struct report_qp_origin *origin);

#endif /* REPORT_KEPT_H */
