// SPDX-License-Identifier: GPL-2.0-only
/* Places timers in the slots of a timing wheel, and moves them as time passes. */
#include "wheel.h"

#include <libdart/prefetch.h>

#define TICK_NS (1ULL << WHEEL_TICK_SHIFT)
#define TICK_MAX (UINT64_MAX >> WHEEL_TICK_SHIFT)

static unsigned int digit(uint64_t tick, unsigned int level)
{
	return tick >> (level * WHEEL_DIGIT_BITS) & (WHEEL_SLOTS - 1);
}

/* The number of the slot of expired timers; the slots of the first level follow, and so on. */
#define EXPIRED 1

static struct wheel_slot *wheel__slot(struct wheel *wheel, unsigned int number)
{
	if (number == EXPIRED)
		return &wheel->expired;
	number -= EXPIRED + 1;
	return &wheel->slots[number / WHEEL_SLOTS][number % WHEEL_SLOTS];
}

/* No timer that is placed later names itself to it. */
static void wheel__forget(struct wheel *wheel, const struct wheel_timer *timer)
{
	struct wheel_timer **lately = &wheel->lately[timer->turn % WHEEL_AHEAD];

	if (*lately == timer)
		*lately = NULL;
}

/* Names @timer to the one that was placed WHEEL_AHEAD timers earlier. */
static void wheel__remember(struct wheel *wheel, struct wheel_timer *timer)
{
	struct wheel_timer **lately = &wheel->lately[wheel->turn % WHEEL_AHEAD];

	if (*lately)
		(*lately)->later = timer;
	*lately = timer;
	timer->later = NULL;
	timer->turn = wheel->turn++;
}

static void wheel__place(struct wheel *wheel, struct wheel_timer *timer)
{
	unsigned int level, index;

	wheel__forget(wheel, timer);
	wheel__remember(wheel, timer);
	timer->slot = EXPIRED;
	if (timer->tick > wheel->tick) {
		level = (63 - __builtin_clzll(timer->tick ^ wheel->tick)) / WHEEL_DIGIT_BITS;
		index = digit(timer->tick, level);
		timer->slot += 1 + level * WHEEL_SLOTS + index;
		wheel->used[level] |= 1ULL << index;
	}
	TAILQ_INSERT_TAIL(wheel__slot(wheel, timer->slot), timer, place);
}

void wheel__init(struct wheel *wheel, uint64_t now_ns)
{
	*wheel = (struct wheel){ .tick = now_ns >> WHEEL_TICK_SHIFT };
	for (int level = 0; level < WHEEL_LEVELS; level++) {
		for (int i = 0; i < WHEEL_SLOTS; i++)
			TAILQ_INIT(&wheel->slots[level][i]);
	}
	TAILQ_INIT(&wheel->expired);
}

void wheel__set(struct wheel *wheel, struct wheel_timer *timer, uint64_t due_ns)
{
	wheel__cancel(wheel, timer);
	/* Rounded up: a timer never expires too early. */
	timer->tick = due_ns >> WHEEL_TICK_SHIFT;
	if (due_ns % TICK_NS && timer->tick < TICK_MAX)
		timer->tick++;
	wheel__place(wheel, timer);
}

void wheel__cancel(struct wheel *wheel, struct wheel_timer *timer)
{
	const unsigned int number = timer->slot;
	struct wheel_slot *slot;
	unsigned int index;

	if (!number)
		return;
	slot = wheel__slot(wheel, number);
	TAILQ_REMOVE(slot, timer, place);
	timer->slot = 0;
	wheel__forget(wheel, timer);
	if (number == EXPIRED || !TAILQ_EMPTY(slot))
		return;
	index = number - EXPIRED - 1;
	wheel->used[index / WHEEL_SLOTS] &= ~(1ULL << index % WHEEL_SLOTS);
}

/*
 * Slots of @level that time reaches or passes from wheel->tick to @tick.  All timers of a level
 * agree with wheel->tick in all higher digits.
 */
static uint64_t wheel__reached(const struct wheel *wheel, unsigned int level, uint64_t tick)
{
	const unsigned int higher = (level + 1) * WHEEL_DIGIT_BITS;

	if (level < WHEEL_LEVELS - 1 && wheel->tick >> higher != tick >> higher)
		return wheel->used[level];
	return wheel->used[level] & (UINT64_MAX >> (WHEEL_SLOTS - 1 - digit(tick, level)));
}

void wheel__advance(struct wheel *wheel, uint64_t now_ns)
{
	const uint64_t tick = now_ns >> WHEEL_TICK_SHIFT;
	struct wheel_slot moved = TAILQ_HEAD_INITIALIZER(moved);
	struct wheel_timer *timer;
	unsigned int level;
	uint64_t reached;

	if (tick <= wheel->tick)
		return;
	for (level = 0; level < WHEEL_LEVELS; level++) {
		reached = wheel__reached(wheel, level, tick);
		wheel->used[level] &= ~reached;
		for (; reached; reached &= reached - 1)
			TAILQ_CONCAT(&moved, &wheel->slots[level][__builtin_ctzll(reached)], place);
	}
	wheel->tick = tick;
	while ((timer = TAILQ_FIRST(&moved))) {
		dart_prefetch(timer->later, sizeof(*timer));
		TAILQ_REMOVE(&moved, timer, place);
		wheel__place(wheel, timer);
	}
}

bool wheel__is_empty(const struct wheel *wheel)
{
	unsigned int level;

	for (level = 0; level < WHEEL_LEVELS; level++) {
		if (wheel->used[level])
			return false;
	}
	return TAILQ_EMPTY(&wheel->expired);
}

struct wheel_timer *wheel__take(struct wheel *wheel)
{
	struct wheel_timer *timer = TAILQ_FIRST(&wheel->expired);

	if (timer)
		wheel__cancel(wheel, timer);
	return timer;
}

unsigned int wheel__expired(const struct wheel *wheel, struct wheel_timer *timers[],
			    unsigned int max)
{
	struct wheel_timer *timer;
	unsigned int count = 0;

	TAILQ_FOREACH(timer, &wheel->expired, place) {
		if (count == max)
			break;
		timers[count++] = timer;
	}
	return count;
}

uint64_t wheel__next_ns(const struct wheel *wheel)
{
	unsigned int level, shift;
	uint64_t tick;

	if (!TAILQ_EMPTY(&wheel->expired))
		return wheel->tick << WHEEL_TICK_SHIFT;
	for (level = 0; level < WHEEL_LEVELS; level++) {
		if (!wheel->used[level])
			continue;
		/* The beginning of the first slot; all lower digits are 0. */
		shift = level * WHEEL_DIGIT_BITS;
		tick = wheel->tick >> shift & ~(uint64_t)(WHEEL_SLOTS - 1);
		tick |= __builtin_ctzll(wheel->used[level]);
		return tick << shift << WHEEL_TICK_SHIFT;
	}
	return UINT64_MAX;
}
