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

void switch_steps__join_equal(struct switch_steps *steps, enum switch_verb verb, uint32_t object,
			      const struct switch_entry *wanted, uint32_t number)
{
	const bool joins = verb == SWITCH_REMOVE ||
			   (number && switch_entry__equal(&wanted[number - 1], &wanted[number]));

	switch_steps__join(steps, verb, object, number, joins);
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
