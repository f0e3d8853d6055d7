// SPDX-License-Identifier: GPL-2.0-only
/* Remembers when series ended, in a table of open addressing: see ended.h. */
#include "ended.h"

#include <stdlib.h>

#define CAPACITY_MIN 64

void ended__open(struct ended *ended)
{
	pthread_mutex_init(&ended->lock, NULL);
}

void ended__close(struct ended *ended)
{
	free(ended->slots);
	pthread_mutex_destroy(&ended->lock);
}

/* The slot of @key, or the free slot where it belongs; at least one slot is free. */
static struct ended_slot *slot_of(struct ended_slot *slots, size_t capacity, uint64_t key)
{
	size_t at = key & (capacity - 1);

	while (slots[at].key && slots[at].key != key)
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static int64_t later(int64_t one, int64_t other)
{
	return one > other ? one : other;
}

/* From now on the latest end counts for all series. */
static void ended__merge(struct ended *ended)
{
	size_t i;

	for (i = 0; i < ended->capacity; i++)
		if (ended->slots[i].key)
			ended->all_ns = later(ended->all_ns, ended->slots[i].time_ns);
	free(ended->slots);
	ended->slots = NULL;
	ended->capacity = 0;
	ended->count = 0;
}

static size_t ended__count_since(const struct ended *ended, int64_t past_ns)
{
	size_t count = 0, i;

	for (i = 0; i < ended->capacity; i++)
		count += ended->slots[i].key && ended->slots[i].time_ns >= past_ns;
	return count;
}

/* Makes room: forgets series that ended before @past_ns, and doubles the room of the others. */
static void ended__make_room(struct ended *ended, int64_t past_ns)
{
	const size_t count = ended__count_since(ended, past_ns);
	size_t capacity = CAPACITY_MIN, i;
	struct ended_slot *slots = NULL;

	while (capacity < 4 * (count + 1))
		capacity *= 2;
	if (capacity <= ENDED_MAX)
		slots = calloc(capacity, sizeof(*slots));
	if (!slots) {
		ended__merge(ended);
		return;
	}
	for (i = 0; i < ended->capacity; i++)
		if (ended->slots[i].key && ended->slots[i].time_ns >= past_ns)
			*slot_of(slots, capacity, ended->slots[i].key) = ended->slots[i];
	free(ended->slots);
	ended->slots = slots;
	ended->capacity = capacity;
	ended->count = count;
}

void ended__add(struct ended *ended, uint64_t key, int64_t time_ns, int64_t past_ns)
{
	struct ended_slot *slot;

	key = key ?: 1;
	pthread_mutex_lock(&ended->lock);
	if (ended->count >= ended->capacity / 2)
		ended__make_room(ended, past_ns);
	if (ended->capacity) {
		slot = slot_of(ended->slots, ended->capacity, key);
		ended->count += !slot->key;
		slot->key = key;
		slot->time_ns = later(slot->time_ns, time_ns);
	} else {
		ended->all_ns = later(ended->all_ns, time_ns);
	}
	pthread_mutex_unlock(&ended->lock);
}

int64_t ended__find(struct ended *ended, uint64_t key)
{
	int64_t time_ns;

	key = key ?: 1;
	pthread_mutex_lock(&ended->lock);
	time_ns = ended->all_ns;
	if (ended->count)
		time_ns = later(time_ns, slot_of(ended->slots, ended->capacity, key)->time_ns);
	pthread_mutex_unlock(&ended->lock);
	return time_ns;
}
