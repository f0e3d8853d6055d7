// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers of work requests, and small numbers of groups: see slots_internal.h. */
#include "slots_internal.h"

#include <errno.h>
#include <stdlib.h>

#include <libdart/prefetch.h>

static uint32_t slot_of(uint64_t number)
{
	return number % DART_SLOTS_MAX;
}

int dart_slots__open(struct dart_slots *slots, uint32_t count)
{
	uint32_t i;

	*slots = (struct dart_slots){ .count = count };
	slots->slots = calloc(count, sizeof(*slots->slots));
	slots->users = calloc(count, sizeof(*slots->users));
	if (!slots->slots || !slots->users)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		slots->slots[i].next_free = i + 1;
	return 0;
}

void dart_slots__close(struct dart_slots *slots)
{
	free(slots->slots);
	free(slots->users);
	*slots = (struct dart_slots){};
}

uint64_t dart_slots__take(struct dart_slots *slots)
{
	const uint32_t slot = slots->first_free;

	if (slot == slots->count)
		return DART_SLOTS_NONE;
	slots->first_free = slots->slots[slot].next_free;
	return ++slots->slots[slot].epoch * DART_SLOTS_MAX + slot;
}

void dart_slots__give_back(struct dart_slots *slots, uint64_t number)
{
	const uint32_t slot = slot_of(number);

	slots->slots[slot].next_free = slots->first_free;
	slots->first_free = slot;
}

void dart_slots__enter(struct dart_slots *slots, uint64_t number, void *user)
{
	slots->users[slot_of(number)] = (struct dart_slot_user){
		.number = number,
		.user = user,
	};
}

void dart_slots__leave(struct dart_slots *slots, uint64_t number)
{
	slots->users[slot_of(number)].user = NULL;
}

void *dart_slots__find(const struct dart_slots *slots, uint64_t number)
{
	const uint32_t slot = slot_of(number);

	if (slot >= slots->count || slots->users[slot].number != number)
		return NULL;
	return slots->users[slot].user;
}

void dart_slots__prefetch(const struct dart_slots *slots, uint64_t number)
{
	dart_prefetch(&slots->users[slot_of(number)], sizeof(*slots->users));
}

int dart_numbers__take(struct dart_numbers *numbers, uint32_t *number)
{
	uint32_t *back;

	if (numbers->back_count) {
		*number = numbers->back[--numbers->back_count];
		return 0;
	}
	/* Now, so that giving back cannot fail. */
	back = reallocarray(numbers->back, (size_t)numbers->next + 1, sizeof(*back));
	if (!back)
		return -ENOMEM;
	numbers->back = back;
	*number = numbers->next++;
	return 0;
}

void dart_numbers__give_back(struct dart_numbers *numbers, uint32_t number)
{
	numbers->back[numbers->back_count++] = number;
}

void dart_numbers__close(struct dart_numbers *numbers)
{
	free(numbers->back);
	*numbers = (struct dart_numbers){};
}
