/* SPDX-License-Identifier: GPL-2.0-only */
/* The packets to report: of generated flows, or of a capture. */
#ifndef REPORT_FEED_H
#define REPORT_FEED_H

#include <libdart/error.h>

#include "int_packet.h"
#include "options.h"

struct feed;

/* Returns 0, or -errno with a sentence in @error. */
int feed__open(const struct options *options, struct feed **feed,
	       struct dart_error *error);
void feed__close(struct feed *feed);

/*
 * Returns 1 and the next packet, 0 at the end, or -EIO with a sentence in
 * @error.
 */
int feed__next(struct feed *feed, struct int_packet *packet,
	       struct dart_error *error);

/* Packets of the capture without INT-MD, and with unusable INT-MD. */
uint64_t feed__others(const struct feed *feed);
uint64_t feed__malformed(const struct feed *feed);

#endif /* REPORT_FEED_H */
