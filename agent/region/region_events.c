// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "agent/base/log.h"
#include "region_events.h"

#define EVENTS 64

/* Takes one lot of events; false if there was none. */
static bool region_events__take(struct region_events *watch, int *ret)
{
	struct dart_zero_event events[EVENTS];
	bool have_namespaces_changed = false;
	int i, count;

	count = region__read_events(watch->registry->region, events, EVENTS);
	for (i = 0; i < count; i++) {
		if (events[i].type == DART_ZERO_EVENT_EXTENT_GONE ||
		    events[i].type == DART_ZERO_EVENT_SLICE_GONE)
			registry__extent_is_gone(watch->registry, events[i].id);
		else if (events[i].type == DART_ZERO_EVENT_NAMESPACES)
			have_namespaces_changed = true;
	}
	if (have_namespaces_changed)
		followers__namespaces_have_changed(watch->followers);
	*ret = count < 0 ? count : 0;
	return count == EVENTS;
}

static int on_event(sd_event_source *source, int fd, uint32_t revents,
		    void *userdata)
{
	struct region_events *watch = userdata;
	struct dart_error error;
	int ret;

	registry__begin(watch->registry);
	while (region_events__take(watch, &ret))
		;
	if (registry__end(watch->registry, &error))
		log__error("controllers are not told yet what is gone: %s",
			   error.text);
	if (ret) {
		log__error("cannot read what the region says: %s",
			   strerror(-ret));
		return sd_event_exit(sd_event_source_get_event(source),
				     EXIT_FAILURE);
	}
	return 0;
}

int region_events__open(struct region_events *watch, sd_event *loop,
			struct registry *registry, struct followers *followers,
			struct dart_error *error)
{
	int ret;

	*watch = (struct region_events){
		.registry = registry,
		.followers = followers,
	};
	ret = sd_event_add_io(loop, &watch->events, registry->region->fd,
			      EPOLLIN, on_event, watch);
	if (ret < 0)
		return dart_error__set(error, -ret,
				       "cannot wait for the region: %s",
				       strerror(-ret));
	return 0;
}

void region_events__close(struct region_events *watch)
{
	sd_event_source_disable_unref(watch->events);
}
