/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for what the region has to say: what it shows has ended. */
#ifndef REGION_EVENTS_H
#define REGION_EVENTS_H

#include <systemd/sd-event.h>

#include <libdart/error.h>
#include "agent/follow/follower.h"
#include "agent/table/registry.h"

struct region_events {
	sd_event_source *events;
	struct registry *registry;
	struct followers *followers;
};

int region_events__open(struct region_events *watch, sd_event *loop,
			struct registry *registry, struct followers *followers,
			struct dart_error *error);
void region_events__close(struct region_events *watch);

#endif /* REGION_EVENTS_H */
