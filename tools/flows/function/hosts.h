/* SPDX-License-Identifier: GPL-2.0-only */
/* Hosts that have flows, by their address, for limits of each host. */
#ifndef FLOWS_HOSTS_H
#define FLOWS_HOSTS_H

#include "index.h"
#include "tools/flows/packet/address.h"

struct host {
	struct index_link link;
	address_t address;
	uint32_t flows;
};

struct hosts {
	struct index index;
	uint64_t count;
};

#define HOST_OF(link) ((struct host *)((char *)(link)-offsetof(struct host, link)))

/* For about @most hosts; the memory is zero before.  Returns 0 or -1. */
static inline int hosts__open(struct hosts *hosts, uint64_t most)
{
	return index__open(&hosts->index, most);
}

/* After all hosts are released. */
static inline void hosts__close(struct hosts *hosts)
{
	index__close(&hosts->index);
}

/* NULL: it has no flows. */
static inline struct host *hosts__find(const struct hosts *hosts, address_t address)
{
	const uint64_t hash = index__hash(&hosts->index, &address, sizeof(address));
	struct index_link *link = index__chain(&hosts->index, hash);

	while (link && HOST_OF(link)->address != address)
		link = link->next;
	return link ? HOST_OF(link) : NULL;
}

/* The number of its flows. */
static inline uint32_t hosts__flows(const struct hosts *hosts, address_t address)
{
	const struct host *host = hosts__find(hosts, address);

	return host ? host->flows : 0;
}

/* Counts a flow of the host; NULL: out of memory. */
static inline struct host *hosts__hold(struct hosts *hosts, address_t address)
{
	struct host *host = hosts__find(hosts, address);

	if (!host) {
		host = calloc(1, sizeof(*host));
		if (!host)
			return NULL;
		host->address = address;
		index__add(&hosts->index, &host->link,
			   index__hash(&hosts->index, &address, sizeof(address)));
		hosts->count++;
	}
	host->flows++;
	return host;
}

static inline void hosts__release(struct hosts *hosts, struct host *host)
{
	if (--host->flows)
		return;
	index__remove(&hosts->index, &host->link);
	hosts->count--;
	free(host);
}

#endif /* FLOWS_HOSTS_H */
