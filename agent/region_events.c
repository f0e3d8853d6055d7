// SPDX-License-Identifier: GPL-2.0-only
/* Reads the events of the region when its descriptor is readable. */
#include <stdlib.h>
#include <string.h>

#include "agent/base/log.h"
#include "agent/follow/namespaces.h"
#include "region_events.h"

#define EVENTS 64
/* In one turn of the loop. */
#define READS 16

static void region_events__count_quarantine(struct region_events *events)
{
	struct dart_zero_quarantine quarantine;
	int ret = region__quarantine(events->region, &quarantine);

	if (ret) {
		log__warning(
			"quarantined memory is not counted: %s (load the module dart_zero of this release)",
			strerror(-ret));
		return;
	}
	count__set(&events->counts->extents, quarantine.extents);
	count__set(&events->counts->bytes, quarantine.pages * events->region->page_size);
}

/* Reads up to EVENTS; returns how many, or -errno. */
static int region_events__read(struct region_events *events)
{
	struct dart_zero_event read[EVENTS];
	bool have_namespaces_changed = false;
	int i, count;

	count = region__read_events(events->region, read, EVENTS);
	for (i = 0; i < count; i++) {
		if (read[i].type == DART_ZERO_EVENT_EXTENT_GONE ||
		    read[i].type == DART_ZERO_EVENT_SLICE_GONE ||
		    read[i].type == DART_ZERO_EVENT_RECORD_GONE)
			registry__extent_ended(events->followers->registry, read[i].id);
		if (read[i].type == DART_ZERO_EVENT_RECORD_GONE)
			followers__record_gone(events->followers);
		else if (read[i].type == DART_ZERO_EVENT_NAMESPACES)
			have_namespaces_changed = true;
		else if (read[i].type == DART_ZERO_EVENT_QUARANTINE)
			region_events__count_quarantine(events);
	}
	if (have_namespaces_changed)
		namespaces__changed(events->followers);
	return count;
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct region_events *events = userdata;
	struct registry *registry = events->followers->registry;
	int ret = 0, i;

	registry__begin(registry);
	/* While more are pending the loop calls again, after others had their turns. */
	for (i = 0; i < READS && (!i || ret == EVENTS); i++)
		ret = region_events__read(events);
	registry__end_or_log(registry);
	if (ret >= 0)
		return 0;
	log__error("cannot read the events of the region: %s", strerror(-ret));
	return sd_event_exit(sd_event_source_get_event(source), EXIT_FAILURE);
}

int region_events__open(struct region_events *events, sd_event *loop, const struct region *region,
			struct followers *followers, struct quarantine_counts *counts,
			struct dart_error *error)
{
	int ret;

	*events = (struct region_events){
		.region = region,
		.followers = followers,
		.counts = counts,
	};
	ret = sd_event_add_io(loop, &events->events, region->fd, EPOLLIN, on_event, events);
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot wait for region events");
	region_events__count_quarantine(events);
	return 0;
}

void region_events__close(struct region_events *events)
{
	sd_event_source_disable_unref(events->events);
}
