/* SPDX-License-Identifier: GPL-2.0-only */
/* A report, parsed from a frame that libdart or an XDP program built. */
#ifndef DART_TEST_ROCE_FRAME_PARSE_H
#define DART_TEST_ROCE_FRAME_PARSE_H

#include <libdart/report/roce_frame.h>

struct roce_report {
	uint8_t source_mac[ETH_ALEN];
	uint8_t mac[ETH_ALEN];
	struct in_addr reporter;
	struct in_addr ip;
	uint32_t share;
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint64_t address;	/* of the slot */
	const uint8_t *slot;	/* in the frame */
	size_t slot_length;
};

/*
 * Parses a report.  Returns 0, or -EBADMSG if any bit of the frame violates
 * <dart/store.h>.
 */
int roce_frame__parse(const uint8_t *frame, size_t length, struct roce_report *report);

#endif /* DART_TEST_ROCE_FRAME_PARSE_H */
