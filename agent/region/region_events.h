/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for what the region has to say: what it shows has ended. */
#ifndef REGION_EVENTS_H
#define REGION_EVENTS_H

#include <systemd/sd-event.h>

#include "agent/base/why.h"
#include "agent/follow/follower.h"
#include "agent/table/registry.h"

struct region_watch {
	sd_event_source *events;
	struct registry *registry;
	struct follows *follows;
};

int region_watch__open(struct region_watch *watch, sd_event *loop,
		       struct registry *registry, struct follows *follows,
		       struct why *why);
void region_watch__close(struct region_watch *watch);

#endif /* REGION_EVENTS_H */
