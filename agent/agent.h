/* SPDX-License-Identifier: GPL-2.0-only */
/* All of dartd. */
#ifndef AGENT_H
#define AGENT_H

#include <systemd/sd-event.h>

#include "device.h"
#include "exposure.h"
#include "follow.h"
#include "lease.h"
#include "listener.h"
#include "options.h"
#include "probe.h"
#include "publication.h"
#include "region.h"
#include "region_watch.h"
#include "registry.h"
#include "socket.h"
#include "stores.h"
#include "watch.h"
#include "why.h"

struct agent {
	struct options options;
	struct region region;
	struct device device;
	struct leases leases;
	struct watches watches;
	struct exposure exposure;
	struct publication publication;
	struct map_watch map_watch;
	struct slab slab;
	struct registry registry;
	struct follows follows;
	struct region_watch region_watch;
	struct probes probes;
	struct stores stores;
	struct socket socket;
	struct listener listener;
};

/* Opens everything in the order of struct agent, or nothing. */
int agent__open(struct agent *agent, const struct options *options,
		sd_event *loop, struct why *why);
void agent__close(struct agent *agent);

#endif /* AGENT_H */
