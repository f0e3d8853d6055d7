// SPDX-License-Identifier: GPL-2.0-only
/* Plans looks at all processes: see looks.h. */
#include "looks.h"

void looks__init(struct looks *looks)
{
	*looks = (struct looks){ .delay = LOOK_US };
}

/*
 * Looks after it, where they go on, come soon again: a process may be about to execute its program.
 */
void looks__ask_at_once(struct looks *looks)
{
	looks->are_due = true;
	looks->delay = LOOK_FIRST_US;
}

/*
 * One of many events that ask for the same look: only the first one sets its time.  After a time
 * without looks the delays begin anew.
 */
void looks__ask_soon(struct looks *looks, uint64_t now)
{
	if (looks->last + 2 * LOOK_US < now)
		looks->delay = LOOK_FIRST_US;
	if (!looks->come_soon && looks->due > now + looks->delay)
		looks->due = now + looks->delay;
	looks->come_soon = true;
}

uint64_t looks__delay(const struct looks *looks, bool are_needed, uint64_t now)
{
	uint64_t at;

	/* No event of the kernel is missing. */
	if (!looks->are_due && !looks->come_soon && !are_needed)
		return UINT64_MAX;
	at = looks->are_due ? now : looks->due;
	if (at < looks->rest_until)
		at = looks->rest_until;
	return at > now ? at - now : 0;
}

void looks__begin(struct looks *looks, uint64_t now)
{
	looks->are_due = looks->come_soon = looks->take_all = false;
	looks->last = now;
	looks->due = now + looks->delay;
	looks->delay *= 2;
	if (looks->delay > LOOK_US)
		looks->delay = LOOK_US;
}

/* Bounded, so that one slow look does not keep programs unknown for minutes. */
void looks__end(struct looks *looks, uint64_t now)
{
	const uint64_t rest = LOOK_RESTS * (now - looks->last);

	looks->rest_until = now + (rest < LOOK_US ? rest : LOOK_US);
}
