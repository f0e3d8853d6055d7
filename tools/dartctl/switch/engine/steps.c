// SPDX-License-Identifier: GPL-2.0-only
/* A list of steps, see steps.h. */
#include <errno.h>
#include <stdlib.h>

#include "steps.h"

void switch_steps__begin(struct switch_steps *steps)
{
	steps->count = 0;
	steps->is_out_of_memory = false;
}

void switch_steps__add(struct switch_steps *steps, enum switch_verb verb, uint32_t object,
		       uint32_t number)
{
	const size_t room = steps->room ? 2 * steps->room : 64;
	struct switch_step *list;

	if (steps->count == steps->room) {
		list = reallocarray(steps->list, room, sizeof(*list));
		if (!list) {
			steps->is_out_of_memory = true;
			return;
		}
		steps->list = list;
		steps->room = room;
	}
	steps->list[steps->count++] = (struct switch_step){ verb, object, number, number };
}

void switch_steps__join(struct switch_steps *steps, enum switch_verb verb, uint32_t object,
			uint32_t number, bool joins)
{
	struct switch_step *last = steps->count ? &steps->list[steps->count - 1] : NULL;

	if (joins && last && last->object == object && last->verb == verb &&
	    last->last + 1 == number)
		last->last = number;
	else
		switch_steps__add(steps, verb, object, number);
}

void switch_steps__vacate(struct switch_steps *steps, uint32_t object, const bool *leaves,
			  uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (leaves[i])
			switch_steps__join(steps, SWITCH_REMOVE, object, i, true);
}

void switch_steps__fill(struct switch_steps *steps, uint32_t object, const struct switch_entry *now,
			const struct switch_entry *wanted, const bool *leaves, uint32_t count)
{
	bool is_new;
	uint32_t i;

	for (i = 0; i < count; i++) {
		is_new = !now[i].there || leaves[i];
		if (!wanted[i].there || (!is_new && switch_entry__equal(&now[i], &wanted[i])))
			continue;
		switch_steps__join(steps, is_new ? SWITCH_ADD : SWITCH_CHANGE, object, i,
				   i && switch_entry__equal(&wanted[i - 1], &wanted[i]));
	}
}

void switch_steps__update(struct switch_steps *steps, uint32_t object,
			  const struct switch_entry *now, const struct switch_entry *wanted,
			  uint32_t number)
{
	if (wanted->there && !switch_entry__equal(now, wanted))
		switch_steps__add(steps, now->there ? SWITCH_CHANGE : SWITCH_ADD, object, number);
}

int switch_steps__end(const struct switch_steps *steps)
{
	return steps->is_out_of_memory ? -ENOMEM : 0;
}

void switch_steps__free(struct switch_steps *steps)
{
	free(steps->list);
	*steps = (struct switch_steps){ .list = NULL };
}
