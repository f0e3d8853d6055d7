/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for the events of the region and handles them in batches. */
#ifndef REGION_EVENTS_H
#define REGION_EVENTS_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/base/counts.h"
#include "agent/follow/follower.h"
#include "agent/region/region.h"

struct region_events {
	const struct region *region;
	struct followers *followers;	/* and their registry */
	struct quarantine_counts *counts;
	sd_event_source *events;
};

int region_events__open(struct region_events *events, sd_event *loop, const struct region *region,
			struct followers *followers, struct quarantine_counts *counts,
			struct dart_error *error);
void region_events__close(struct region_events *events);

#endif /* REGION_EVENTS_H */
