/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of a simulation, taken in the order of their times. */
#ifndef PAPERS_EVENT_HEAP_H
#define PAPERS_EVENT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	uint64_t time_ns;
	uint64_t number; /* set by the heap: orders events at one time */
	uint32_t kind;
	uint32_t host;
	uint32_t epoch; /* of the host's connection */
};

/* Zeroed before use. */
struct event_heap {
	struct event *events;
	size_t count, room;
	uint64_t number;
};

/* Exits the program if out of memory. */
void event_heap__add(struct event_heap *heap, const struct event *event);
/* Takes the earliest, or returns false. */
bool event_heap__take(struct event_heap *heap, struct event *event);
void event_heap__free(struct event_heap *heap);

#endif /* PAPERS_EVENT_HEAP_H */
