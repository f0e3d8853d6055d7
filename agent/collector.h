/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The collector: an eBPF program of our own that counts the host's TCP traffic
 * into an array map, which is registered as the entry "tcp" like anybody's.
 */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#include "registry.h"
#include "why.h"

struct collector {
	struct tcp_traffic_bpf *tcp;	/* NULL if it does not run */
};

int collector__open(struct collector *collector, uint32_t cpus,
		    struct registry *registry, struct why *why);
void collector__close(struct collector *collector);

#endif /* COLLECTOR_H */
