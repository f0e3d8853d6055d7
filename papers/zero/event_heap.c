// SPDX-License-Identifier: GPL-2.0-only
/* A binary heap of events. */
#include "event_heap.h"

#include <err.h>
#include <stdlib.h>

static bool is_earlier(const struct event *a, const struct event *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->number < b->number);
}

void event_heap__add(struct event_heap *heap, const struct event *event)
{
	struct event added = *event;
	size_t i, above;

	if (heap->count == heap->room) {
		heap->room = heap->room * 2 ?: 1024;
		heap->events = reallocarray(heap->events, heap->room, sizeof(*heap->events));
		if (!heap->events)
			err(1, "simulation");
	}
	added.number = heap->number++;
	for (i = heap->count++; i; i = above) {
		above = (i - 1) / 2;
		if (!is_earlier(&added, &heap->events[above]))
			break;
		heap->events[i] = heap->events[above];
	}
	heap->events[i] = added;
}

bool event_heap__take(struct event_heap *heap, struct event *event)
{
	struct event last;
	size_t i, below;

	if (!heap->count)
		return false;
	*event = heap->events[0];
	last = heap->events[--heap->count];
	for (i = 0; (below = 2 * i + 1) < heap->count; i = below) {
		if (below + 1 < heap->count &&
		    is_earlier(&heap->events[below + 1], &heap->events[below]))
			below++;
		if (!is_earlier(&heap->events[below], &last))
			break;
		heap->events[i] = heap->events[below];
	}
	heap->events[i] = last;
	return true;
}

void event_heap__free(struct event_heap *heap)
{
	free(heap->events);
}
