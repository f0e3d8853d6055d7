/* SPDX-License-Identifier: GPL-2.0-only */
/* The packets to report: of generated flows, or of a capture. */
#ifndef REPORT_FEED_H
#define REPORT_FEED_H

#include <pcap/pcap.h>

#include <libdart/error.h>

#include "int_packet.h"
#include "options.h"

struct feed {
	const char *path;	/* of the capture; NULL: generated flows */
	pcap_t *capture;
	struct dart_flows *flows;
	uint16_t int_port;
	uint64_t packets;	/* of the flows */
	uint64_t done;
	uint64_t others;	/* of the capture, without INT-MD */
	uint64_t tagged;	/* of the capture, with more than two tags of VLANs */
	uint64_t malformed;	/* of the capture, with unusable INT-MD */
};

/* Returns 0, or -errno with a sentence in @error. */
int feed__open(const struct options *options, struct feed **feed, struct dart_error *error);
void feed__close(struct feed *feed);

/*
 * Returns 1 and the next packet, 0 at the end, or -EIO with a sentence in
 * @error.
 */
int feed__next(struct feed *feed, struct int_packet *packet, struct dart_error *error);

#endif /* REPORT_FEED_H */
