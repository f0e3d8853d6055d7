// SPDX-License-Identifier: GPL-2.0-only
/* The timing wheel of the controller, compared with a plain list of times. */
#include <stdlib.h>

#include "selftests/unit/unit.h"
#include "tools/controller/base/wheel.h"

#define TIMERS 500
#define TICK (1ULL << WHEEL_TICK_SHIFT)
#define SECOND 1000000000ULL

static int count_expired(struct wheel *wheel)
{
	int count = 0;

	while (wheel__take(wheel))
		count++;
	return count;
}

/* A timer expires neither early nor more than a tick late, whatever the distance. */
static void test_distances(void **state)
{
	static const uint64_t now[] = { 0, 1, TICK - 1, 12345678901234567 };
	struct wheel_timer timer = {};
	struct wheel wheel;
	uint64_t due, distance;

	for (size_t i = 0; i < sizeof(now) / sizeof(*now); i++) {
		for (distance = 1; distance < UINT64_MAX / 4; distance *= 3) {
			wheel__init(&wheel, now[i]);
			assert_true(wheel__is_empty(&wheel));
			due = now[i] + distance;
			wheel__set(&wheel, &timer, due);
			assert_false(wheel__is_empty(&wheel));
			wheel__advance(&wheel, due - 1);
			if (due % TICK != 0)
				assert_null(wheel__take(&wheel));
			wheel__advance(&wheel, due + TICK);
			assert_false(wheel__is_empty(&wheel));
			assert_ptr_equal(wheel__take(&wheel), &timer);
			assert_true(wheel__is_empty(&wheel));
			assert_null(wheel__take(&wheel));
			assert_int_equal(wheel__next_ns(&wheel), UINT64_MAX);
		}
	}
}

static void test_past(void **state)
{
	struct wheel_timer timer = {}, last = {};
	struct wheel wheel;

	wheel__init(&wheel, 5 * SECOND);
	wheel__set(&wheel, &timer, SECOND);
	assert_true(wheel__next_ns(&wheel) <= 5 * SECOND);
	assert_ptr_equal(wheel__take(&wheel), &timer);
	wheel__set(&wheel, &last, UINT64_MAX);
	wheel__set(&wheel, &timer, 6 * SECOND);
	/* The clock seems to go back. */
	wheel__advance(&wheel, 4 * SECOND);
	assert_null(wheel__take(&wheel));
	wheel__advance(&wheel, 7 * SECOND);
	assert_ptr_equal(wheel__take(&wheel), &timer);
	assert_null(wheel__take(&wheel));
	wheel__cancel(&wheel, &last);
	assert_int_equal(wheel__next_ns(&wheel), UINT64_MAX);
}

/* An expired timer that is not taken yet can be cancelled or set again. */
static void test_cancel_expired(void **state)
{
	struct wheel_timer a = {}, b = {}, c = {};
	struct wheel wheel;

	wheel__init(&wheel, 0);
	wheel__set(&wheel, &a, SECOND);
	wheel__set(&wheel, &b, SECOND);
	wheel__set(&wheel, &c, SECOND);
	wheel__advance(&wheel, 2 * SECOND);
	assert_ptr_equal(wheel__take(&wheel), &a);
	wheel__cancel(&wheel, &b);
	wheel__set(&wheel, &c, 3 * SECOND);
	wheel__cancel(&wheel, &a);
	assert_null(wheel__take(&wheel));
	wheel__advance(&wheel, 4 * SECOND);
	assert_ptr_equal(wheel__take(&wheel), &c);
	assert_null(wheel__take(&wheel));
}

struct model {
	struct wheel wheel;
	struct wheel_timer timers[TIMERS];
	uint64_t due[TIMERS]; /* 0: not set */
	uint64_t now, random;
};

static void model__change(struct model *model)
{
	uint32_t i = random__below(&model->random, TIMERS);
	uint64_t distance;

	if (random__below(&model->random, 4) == 0) {
		wheel__cancel(&model->wheel, &model->timers[i]);
		model->due[i] = 0;
		return;
	}
	/* From nothing to minutes. */
	distance = random__below(&model->random, 1 << 20);
	distance <<= random__below(&model->random, 18);
	wheel__set(&model->wheel, &model->timers[i], model->now + distance);
	model->due[i] = model->now + distance;
}

static void model__advance(struct model *model, uint64_t now)
{
	struct wheel_timer *timer;
	uint64_t due;

	model->now = now;
	wheel__advance(&model->wheel, now);
	while ((timer = wheel__take(&model->wheel))) {
		due = model->due[timer - model->timers];
		assert_true(due && due <= now);
		model->due[timer - model->timers] = 0;
	}
	for (int i = 0; i < TIMERS; i++)
		assert_true(!model->due[i] || model->due[i] + TICK > now);
}

/* The next call that the wheel asks for is never later than a timer allows. */
static void model__check_next(const struct model *model)
{
	uint64_t next = wheel__next_ns(&model->wheel);
	uint64_t first = UINT64_MAX;

	for (int i = 0; i < TIMERS; i++) {
		if (model->due[i] && model->due[i] < first)
			first = model->due[i];
	}
	if (first == UINT64_MAX)
		assert_int_equal(next, UINT64_MAX);
	else
		assert_true(next < first + TICK);
}

static void test_random(void **state)
{
	struct model *model = calloc(1, sizeof(*model));
	uint64_t next;

	assert_non_null(model);
	model->now = 987654321987654321;
	model->random = 7;
	wheel__init(&model->wheel, model->now);
	for (int step = 0; step < 20000; step++) {
		for (int i = random__below(&model->random, 8); i; i--)
			model__change(model);
		model__check_next(model);
		next = wheel__next_ns(&model->wheel);
		if (random__below(&model->random, 3) && next != UINT64_MAX && next > model->now)
			model__advance(model, next);
		else
			model__advance(model, model->now + random__below(&model->random, 1 << 30));
	}
	free(model);
}

/* Each timer has its own memory, which is freed as soon as the timer is not set any more. */
static void test_freed(void **state)
{
	struct wheel_timer *timers[64] = {}, *timer;
	uint64_t now = SECOND, random = 11;
	struct wheel wheel;
	int taken = 0;

	wheel__init(&wheel, now);
	for (int step = 0; step < 20000; step++) {
		struct wheel_timer **place = &timers[random__below(&random, 64)];

		if (!*place) {
			*place = calloc(1, sizeof(**place));
			assert_non_null(*place);
		} else if (random__below(&random, 2)) {
			wheel__cancel(&wheel, *place);
			free(*place);
			*place = NULL;
		}
		if (*place)
			wheel__set(&wheel, *place, now + random__below(&random, 1 << 26));
		now += random__below(&random, 1 << 20);
		wheel__advance(&wheel, now);
		while ((timer = wheel__take(&wheel))) {
			for (int i = 0; i < 64; i++) {
				if (timers[i] == timer)
					timers[i] = NULL;
			}
			free(timer);
			taken++;
		}
	}
	assert_true(taken > 1000);
	for (int i = 0; i < 64; i++) {
		if (timers[i])
			wheel__cancel(&wheel, timers[i]);
		free(timers[i]);
	}
	assert_true(wheel__is_empty(&wheel));
}

static void test_expired(void **state)
{
	struct wheel_timer timers[3] = {}, *next[3];
	struct wheel wheel;

	wheel__init(&wheel, SECOND);
	assert_int_equal(wheel__expired(&wheel, next, 3), 0);
	for (int i = 0; i < 3; i++)
		wheel__set(&wheel, &timers[i], SECOND + i * 2 * TICK);
	wheel__advance(&wheel, SECOND + 3 * TICK);
	assert_int_equal(wheel__expired(&wheel, next, 1), 1);
	assert_int_equal(wheel__expired(&wheel, next, 3), 2);
	for (int i = 0; i < 2; i++)
		assert_ptr_equal(wheel__take(&wheel), next[i]);
	assert_null(wheel__take(&wheel));
	wheel__cancel(&wheel, &timers[2]);
}

/* A caller that sleeps until wheel__next_ns() wakes up once for each level at most. */
static void test_wakes(void **state)
{
	struct wheel_timer timer = {};
	struct wheel wheel;
	uint64_t now = 3 * SECOND + 12345;
	int wakes = 0;

	wheel__init(&wheel, now);
	wheel__set(&wheel, &timer, now + 86400 * SECOND);
	while (!count_expired(&wheel)) {
		now = wheel__next_ns(&wheel);
		wheel__advance(&wheel, now);
		assert_true(++wakes <= WHEEL_LEVELS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a timer expires within a tick after it is due, from 1 ns to 146 years ahead",
		     test_distances),
		TEST("a timer in the past expires at once, and no timer because a clock goes back",
		     test_past),
		TEST("a timer that has expired can be cancelled or set before it is taken",
		     test_cancel_expired),
		TEST("timers that are set and cancelled at random expire when they are due, none early, none lost",
		     test_random),
		TEST("timers that are not set any more can be freed at once", test_freed),
		TEST("the timers that are taken next can be asked for, and stay", test_expired),
		TEST("a timer of a day costs a wake-up for each level at most", test_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
