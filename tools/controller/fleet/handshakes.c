// SPDX-License-Identifier: GPL-2.0-only
/* Lets handshakes begin as others end: see handshakes.h. */
#include "handshakes.h"

#include "tools/controller/base/schedule.h"

/* While others begin so many, the loop handles other events. */
#define PAUSE_NS 1000000ULL

/* The next handshake of a line that may get a place, or NULL. */
static struct handshake *handshakes__next(const struct handshakes *handshakes, bool again)
{
	const unsigned int max = handshakes->max;

	if (handshakes->begun_count >= max || (again && handshakes->again_count >= max - max / 4))
		return NULL;
	return TAILQ_FIRST(&handshakes->lines[again]);
}

/* The next handshake to begin, which leaves its line; or NULL. */
static struct handshake *handshakes__take(struct handshakes *handshakes)
{
	struct handshake *first = handshakes__next(handshakes, false);
	struct handshake *again = handshakes__next(handshakes, true);
	struct handshake *next = first ?: again;

	if (!next)
		return NULL;
	if (first && again && ++handshakes->passed_over == HANDSHAKES_PATIENCE)
		next = again;
	if (next->is_again)
		handshakes->passed_over = 0;
	TAILQ_REMOVE(&handshakes->lines[next->is_again], next, place);
	return next;
}

static void handshakes__begin(struct handshakes *handshakes, struct handshake *handshake)
{
	handshake->state = HANDSHAKE_BEGUN;
	handshake->begun_ns = monotonic_ns();
	TAILQ_INSERT_TAIL(&handshakes->begun, handshake, place);
	handshakes->begun_count++;
	handshakes->again_count += handshake->is_again;
	handshake->begin(handshake);
}

static void handshakes__give_up_place(struct handshakes *handshakes, struct handshake *handshake,
				      enum handshake_state state)
{
	TAILQ_REMOVE(&handshakes->begun, handshake, place);
	handshakes->begun_count--;
	handshakes->again_count -= handshake->is_again;
	handshake->state = state;
}

/* When a handshake loses its place. */
static uint64_t handshakes__end_ns(const struct handshakes *handshakes,
				   const struct handshake *handshake)
{
	const uint64_t from_ns = handshake->begun_ns > handshakes->forgiven_ns ?
					 handshake->begun_ns :
					 handshakes->forgiven_ns;

	return from_ns + HANDSHAKES_PLACE_NS;
}

static void handshakes__set_timer(struct handshakes *handshakes)
{
	const struct handshake *first = TAILQ_FIRST(&handshakes->begun);
	const bool waits = !TAILQ_EMPTY(&handshakes->lines[false]) ||
			   !TAILQ_EMPTY(&handshakes->lines[true]);

	if (!waits || !handshakes->max) {
		timer__stop(&handshakes->timer);
		return;
	}
	if (handshakes__next(handshakes, false) || handshakes__next(handshakes, true))
		handshakes->due_ns = monotonic_ns() + PAUSE_NS;
	else
		handshakes->due_ns = handshakes__end_ns(handshakes, first);
	timer__set_at(&handshakes->timer, handshakes->due_ns);
}

/* Handshakes that fail at once make room, but the loop must get to its other work as well. */
static void handshakes__go_on(struct handshakes *handshakes)
{
	struct handshake *next;

	if (handshakes->is_beginning)
		return;
	handshakes->is_beginning = true;
	for (unsigned int i = 0; i < handshakes->max; i++) {
		next = handshakes__take(handshakes);
		if (!next)
			break;
		handshakes__begin(handshakes, next);
	}
	handshakes->is_beginning = false;
	handshakes__set_timer(handshakes);
}

static void on_time(void *data)
{
	struct handshakes *handshakes = data;
	const uint64_t now_ns = monotonic_ns();
	struct handshake *first;

	if (now_ns > handshakes->due_ns + HANDSHAKES_TOLERANCE_NS)
		handshakes->forgiven_ns = now_ns;
	while ((first = TAILQ_FIRST(&handshakes->begun)) &&
	       handshakes__end_ns(handshakes, first) <= now_ns) {
		handshakes__give_up_place(handshakes, first, HANDSHAKE_LATE);
		handshakes->late++;
	}
	handshakes__go_on(handshakes);
}

void handshakes__open(struct handshakes *handshakes, struct timers *timers, unsigned int max)
{
	*handshakes = (struct handshakes){ .max = max };
	TAILQ_INIT(&handshakes->begun);
	TAILQ_INIT(&handshakes->lines[false]);
	TAILQ_INIT(&handshakes->lines[true]);
	timer__init(&handshakes->timer, timers, on_time, handshakes);
}

void handshakes__close(struct handshakes *handshakes)
{
	handshakes->max = 0;
	timer__stop(&handshakes->timer);
}

void handshakes__ask(struct handshakes *handshakes, struct handshake *handshake, bool again)
{
	switch (handshake->state) {
	case HANDSHAKE_WAITING:
		return;
	case HANDSHAKE_BEGUN:
	case HANDSHAKE_LATE:
		handshake->begin(handshake);
		return;
	case HANDSHAKE_NONE:
		break;
	}
	handshake->state = HANDSHAKE_WAITING;
	handshake->is_again = again;
	TAILQ_INSERT_TAIL(&handshakes->lines[again], handshake, place);
	handshakes__go_on(handshakes);
}

void handshakes__end(struct handshakes *handshakes, struct handshake *handshake)
{
	switch (handshake->state) {
	case HANDSHAKE_NONE:
		return;
	case HANDSHAKE_WAITING:
		TAILQ_REMOVE(&handshakes->lines[handshake->is_again], handshake, place);
		break;
	case HANDSHAKE_BEGUN:
		handshakes__give_up_place(handshakes, handshake, HANDSHAKE_NONE);
		break;
	case HANDSHAKE_LATE:
		break;
	}
	handshake->state = HANDSHAKE_NONE;
	handshakes__go_on(handshakes);
}
