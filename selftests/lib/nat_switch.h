/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A switch with NAT, as p4/functions/nat.p4: it looks each packet up in a table of dartd by READ,
 * rewrites it by its entry, and hands packets without an entry, and SYN, FIN and RST of tracked
 * connections, to dart-flows at the other end of an interface.  It answers questions about entries
 * in use (<dart/tea_use.h>).
 *
 * Ends are in host byte order, times in nanoseconds of any clock that begins when the switch does.
 */
#ifndef DART_TEST_NAT_SWITCH_H
#define DART_TEST_NAT_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAT_SWITCH_BATCH 16 /* packets that may wait for their rows at a time */
/* Flags of TCP. */
#define NAT_FIN 0x01
#define NAT_SYN 0x02
#define NAT_ACK 0x10

struct nat_end {
	uint32_t address;
	uint16_t port;
};

struct nat_packet {
	struct nat_end source, destination;
	uint8_t protocol; /* 6 or 17 */
	uint8_t flags; /* of TCP */
	uint64_t mark; /* the payload, by which its receiver knows it */
};

struct nat_switch_counts {
	uint64_t found, absent, changing; /* lookups */
	uint64_t handed; /* packets to dart-flows; tracked ones, too */
	uint64_t tracked;
	uint64_t returned; /* packets that dart-flows sent on */
	uint64_t damaged; /* wrong checksums among these */
	uint64_t questions; /* frames */
};

struct nat_switch;

/*
 * Opens @table of the agent of @host, and @interface.  @arrived is called for each packet that
 * leaves, when it does; @is_inside: to a host inside.  Prints why and exits if that is not possible.
 */
struct nat_switch *nat_switch__open(const char *host, const char *table, const char *interface,
				    void (*arrived)(const struct nat_packet *packet, bool is_inside,
						    uint64_t now_ns));
void nat_switch__close(struct nat_switch *self);
/* Up to NAT_SWITCH_BATCH packets from hosts. */
void nat_switch__forward(struct nat_switch *self, const struct nat_packet *packets, size_t count,
			 uint64_t now_ns);
/* Waits up to @timeout_ms for a frame of dart-flows, and takes all frames that are there. */
void nat_switch__poll(struct nat_switch *self, int timeout_ms, uint64_t now_ns);
const struct nat_switch_counts *nat_switch__counts(const struct nat_switch *self);

#endif /* DART_TEST_NAT_SWITCH_H */
