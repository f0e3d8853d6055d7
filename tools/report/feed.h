/* SPDX-License-Identifier: GPL-2.0-only */
/* The packets to report: of generated flows, or of a capture. */
#ifndef REPORT_FEED_H
#define REPORT_FEED_H

#include <pcap/pcap.h>

#include <libdart/error.h>
#include <libdart/report/translator.h>

#include "int_packet.h"
#include "options.h"

struct feed {
	const char *path;	/* of the capture; NULL: generated flows */
	pcap_t *capture;
	int pipe;		/* of the capture, which may have pauses; -1: it is a file */
	struct dart_flows *flows;
	uint16_t int_port;
	uint16_t postcard_port;	/* 0: packets with INT-MD are taken */
	uint64_t packets;	/* of the flows */
	uint64_t done;
	uint64_t others;	/* of the capture, without INT-MD, or no postcards */
	uint64_t tagged;	/* of the capture, with more than two tags of VLANs */
	uint64_t malformed;	/* of the capture, with unusable INT-MD, or unusable postcards */
};

/* Returns 0, or -errno with a sentence in @error. */
int feed__open(const struct options *options, struct feed **feed, struct dart_error *error);
void feed__close(struct feed *feed);

/*
 * Waits for the next packet of a pipe, but not beyond @until of CLOCK_MONOTONIC.  Returns false if
 * none has come: feed__next() would wait for it.
 */
bool feed__await(const struct feed *feed, uint64_t until);
/*
 * Returns 1 and the next packet, 0 at the end, or -EIO with a sentence in
 * @error.
 */
int feed__next(struct feed *feed, struct int_packet *packet, struct dart_error *error);
/* Likewise the next postcard of the capture, and the time of its packet, in ns since 1970. */
int feed__next_postcard(struct feed *feed, struct dart_postcard *postcard, uint64_t *ns,
			struct dart_error *error);

#endif /* REPORT_FEED_H */
