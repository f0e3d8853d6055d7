/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for the events of the region and passes them on in batches. */
#ifndef REGION_EVENTS_H
#define REGION_EVENTS_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "region.h"

struct region_events_handlers {
	void (*begin)(void *userdata);
	/* The object behind an extent or slice no longer exists. */
	void (*extent_ended)(void *userdata, uint32_t id);
	void (*namespaces_changed)(void *userdata);
	void (*end)(void *userdata);
};

struct region_events {
	const struct region *region;
	const struct region_events_handlers *handlers;
	void *userdata;
	sd_event_source *events;
};

int region_events__open(struct region_events *events, sd_event *loop,
			const struct region *region,
			const struct region_events_handlers *handlers,
			void *userdata, struct dart_error *error);
void region_events__close(struct region_events *events);

#endif /* REGION_EVENTS_H */
