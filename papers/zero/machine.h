/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine whose memory is read, in virtual time: hosts, which may be virtual, share its adapter
 * and its link.  Packets wait in one queue before the link, first in, first out.  Packets
 * of services share the class with READs: PFC stops them, too.
 */
#ifndef PAPERS_MACHINE_H
#define PAPERS_MACHINE_H

#include <stdbool.h>

#include "adapter.h"

#define MACHINE_SERVICE UINT32_MAX /* instead of a host: the packet of a service */

struct machine_packet {
	uint32_t host, epoch; /* see struct event */
	uint64_t queued_ns;
};

struct machine {
	struct adapter adapter;
	struct machine_packet *packets; /* a ring */
	uint32_t first, count, room;
	bool is_sending; /* an event will take the next packet */
};

/* @machine is zeroed but for its adapter.  Exits the program if out of memory. */
void machine__queue(struct machine *machine, const struct machine_packet *packet);
/* Takes the packet that waited for longest, or returns false. */
bool machine__take(struct machine *machine, struct machine_packet *packet);
void machine__free(struct machine *machine);

#endif /* PAPERS_MACHINE_H */
