/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches maps that clients register: reports a map when only the region still holds it, so that
 * nothing can write to it any more.
 */
#ifndef MAP_OWNER_WATCH_H
#define MAP_OWNER_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "agent/base/background_close.h"

struct map_owner_watch {
	struct map_owner_watch_bpf *programs;	/* NULL without a watch */
	bool has_tried;	/* to load them */
	sd_event *loop;
	struct ring_buffer *let_go;
	sd_event_source *events;
	void (*gone)(void *userdata, uint32_t map_id);
	void *userdata;
};

/*
 * Calls @gone when a map has lost its owners, perhaps more than once.  The first __add() loads the
 * programs: they run whenever any process of the host lets go of a map.  If that fails, it logs
 * the reason once, and dartd works without the watch.
 */
void map_owner_watch__open(struct map_owner_watch *watch, sd_event *loop,
			   void (*gone)(void *userdata, uint32_t map_id), void *userdata);
/* Call this before map_owner_watch__close(), which otherwise waits for eBPF programs. */
void map_owner_watch__close_in_background(const struct map_owner_watch *watch,
					  struct background_close *closing);
void map_owner_watch__close(struct map_owner_watch *watch);

/* Call this while another holder than the region keeps the map. */
void map_owner_watch__add(struct map_owner_watch *watch, uint32_t map_id);
void map_owner_watch__remove(struct map_owner_watch *watch, uint32_t map_id);

#endif /* MAP_OWNER_WATCH_H */
