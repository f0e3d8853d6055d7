// SPDX-License-Identifier: GPL-2.0-only
/*
 * A limited number of targets connect at a time, in order, and none waits for targets that do not
 * answer.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "selftests/unit/unit.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/fleet/handshakes.h"

#define MAX 4
#define MANY 10000
#define PLACES 64

static uint64_t now_ns;

/* The time of this test, for all files. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	time->tv_sec = now_ns / 1000000000;
	time->tv_nsec = now_ns % 1000000000;
	return 0;
}

enum behaviour {
	HOLDS, /* until the test ends it */
	FAILS, /* at once */
};

struct subject {
	struct handshake handshake; /* first */
	enum behaviour behaviour;
	unsigned int begun;
	unsigned int number; /* as which it began last, from 1 */
};

static struct handshakes handshakes;
static struct timers *timers;
static struct subject subjects[MANY];
static unsigned int begun, most_in_a_row, in_a_row;

static void on_begin(struct handshake *handshake)
{
	struct subject *subject = (struct subject *)handshake;

	subject->begun++;
	subject->number = ++begun;
	if (++in_a_row > most_in_a_row)
		most_in_a_row = in_a_row;
	if (subject->behaviour == FAILS)
		handshakes__end(&handshakes, handshake);
}

static void open_places(unsigned int max)
{
	now_ns = 1000000000;
	begun = in_a_row = most_in_a_row = 0;
	memset(subjects, 0, sizeof(subjects));
	for (int i = 0; i < MANY; i++)
		subjects[i].handshake.begin = on_begin;
	assert_int_equal(timers__new(NULL, &timers), 0);
	handshakes__open(&handshakes, timers, max);
}

static int open_few(void **state)
{
	open_places(MAX);
	return 0;
}

static int close_places(void **state)
{
	handshakes__close(&handshakes);
	timers__free(timers);
	return 0;
}

static void ask(unsigned int index, bool again)
{
	in_a_row = 0;
	handshakes__ask(&handshakes, &subjects[index].handshake, again);
}

static void end(unsigned int index)
{
	in_a_row = 0;
	handshakes__end(&handshakes, &subjects[index].handshake);
}

/* Lets timers expire that are due within the given ns. */
static void pass(uint64_t ns)
{
	const uint64_t until_ns = now_ns + ns;
	uint64_t next_ns;

	while ((next_ns = timers__next_ns(timers)) <= until_ns) {
		if (next_ns > now_ns)
			now_ns = next_ns;
		in_a_row = 0;
		timers__run(timers, now_ns);
	}
	now_ns = until_ns;
}

static void test_order(void **state)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		ask(i, false);
	assert_int_equal(begun, MAX);
	for (i = 0; i < 20; i++) {
		assert_int_equal(subjects[i].begun, 1);
		assert_int_equal(subjects[i].number, i + 1);
		/* A target that asked twice is queued once. */
		if (i < 16)
			ask(19, false);
		end(i);
		assert_int_equal(begun, i + MAX + 1 < 20 ? i + MAX + 1 : 20);
	}
	assert_int_equal(handshakes.begun_count, 0);
}

static void test_leave(void **state)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		ask(i, false);
	end(5);
	end(6);
	for (i = 0; i < 4; i++)
		end(i);
	assert_int_equal(subjects[4].begun, 1);
	assert_int_equal(subjects[5].begun + subjects[6].begun, 0);
	assert_int_equal(subjects[7].begun, 1);
	/* The target asks again before it ended, as after a change of its address. */
	ask(7, false);
	assert_int_equal(subjects[7].begun, 2);
	assert_int_equal(handshakes.begun_count, 2);
	end(7);
	end(7);
	end(4);
	assert_int_equal(handshakes.begun_count, 0);
	pass(10 * HANDSHAKES_PLACE_NS);
	assert_int_equal(begun, 7);
}

static void test_silence(void **state)
{
	unsigned int i;

	for (i = 0; i < 3 * MAX; i++)
		ask(i, false);
	pass(HANDSHAKES_PLACE_NS - 1000000);
	assert_int_equal(begun, MAX);
	pass(2000000);
	assert_int_equal(begun, 2 * MAX);
	/* Targets that end too late do not give back a place that they lost. */
	for (i = 0; i < MAX; i++)
		end(i);
	assert_int_equal(begun, 2 * MAX);
	pass(HANDSHAKES_PLACE_NS);
	assert_int_equal(begun, 3 * MAX);
	for (i = MAX; i < 3 * MAX; i++)
		end(i);
	assert_int_equal(handshakes.begun_count, 0);
}

static void test_late_loop(void **state)
{
	for (unsigned int i = 0; i < 3 * MAX; i++)
		ask(i, false);
	/* Nothing runs for a long time: the controller cannot know whether answers came. */
	now_ns += 5 * HANDSHAKES_PLACE_NS;
	timers__run(timers, now_ns);
	assert_int_equal(begun, MAX);
	pass(HANDSHAKES_PLACE_NS - 1000000);
	assert_int_equal(begun, MAX);
	pass(2000000);
	assert_int_equal(begun, 2 * MAX);
	assert_int_equal(handshakes.late, MAX);
}

static void test_lines(void **state)
{
	unsigned int i, index, before = 0;

	for (i = 0; i < MAX; i++)
		ask(i, false);
	for (i = 0; i < 10; i++)
		ask(100 + i, true);
	for (i = 0; i < 20; i++)
		ask(200 + i, false);
	/* Always ends the target that began first. */
	while (handshakes.begun_count) {
		index = (struct subject *)TAILQ_FIRST(&handshakes.begun) - subjects;
		end(index);
	}
	assert_int_equal(begun, MAX + 30);
	for (i = 0; i < 20; i++)
		before += subjects[200 + i].number < subjects[100].number;
	assert_int_equal(before, HANDSHAKES_PATIENCE - 1);
	/* All but two of the second line began when the first was empty. */
	assert_int_equal(subjects[102].number, MAX + 23);
}

/* Neither the stack nor the loop is blocked by all of them. */
static void test_failures(void **state)
{
	for (unsigned int i = 0; i < MAX; i++)
		ask(i, false);
	for (unsigned int i = MAX; i < MANY; i++) {
		subjects[i].behaviour = FAILS;
		ask(i, false);
	}
	most_in_a_row = 0;
	end(0);
	pass(10 * HANDSHAKES_PLACE_NS);
	assert_int_equal(begun, MANY);
	assert_in_range(most_in_a_row, 1, MAX);
}

/*
 * A tenth of the targets does not answer, and asks again after 10 s and 2; the others take
 * 20 ms.  A target that is lost meanwhile is back at once.
 */
#define STEP_NS 20000000ULL
#define IS_DEAD(index) ((index) % 10 == 3)

static uint64_t retry_ns[MANY], begun_ns[MANY];
static bool is_up[MANY];

/* A step of time. */
static void step(void)
{
	unsigned int i;

	pass(STEP_NS);
	for (i = 0; i < MANY; i++) {
		struct subject *subject = &subjects[i];

		if (subject->begun && !begun_ns[i])
			begun_ns[i] = now_ns;
		if (!IS_DEAD(i) && begun_ns[i] && subject->handshake.state != HANDSHAKE_NONE) {
			is_up[i] = true;
			end(i);
		} else if (IS_DEAD(i) && begun_ns[i] && !retry_ns[i] &&
			   now_ns - begun_ns[i] >= 10000000000ULL) {
			end(i);
			retry_ns[i] = now_ns + 2000000000ULL;
		} else if (retry_ns[i] && now_ns >= retry_ns[i]) {
			retry_ns[i] = begun_ns[i] = 0;
			subject->begun = 0;
			ask(i, true);
		}
	}
	assert_in_range(handshakes.begun_count, 0, PLACES);
}

static void test_fleet(void **state)
{
	unsigned int i, up = 0, steps;

	open_places(PLACES);
	memset(retry_ns, 0, sizeof(retry_ns));
	memset(begun_ns, 0, sizeof(begun_ns));
	memset(is_up, 0, sizeof(is_up));
	for (i = 0; i < MANY; i++)
		ask(i, false);
	/*
	 * 1,000 targets keep a place for a second each, 64 at a time, and others come in between.
	 */
	for (steps = 0; up < MANY - MANY / 10; steps++) {
		step();
		up = 0;
		for (i = 0; i < MANY; i++)
			up += is_up[i];
		assert_in_range(steps, 0, 22000000000ULL / STEP_NS);
	}
	for (steps = 1; steps <= 1000; steps++) {
		step();
		/* The last targets to begin may keep their places for a second. */
		if (steps % 100)
			continue;
		i = steps / 10 * 10;
		subjects[i].begun = begun_ns[i] = 0;
		is_up[i] = false;
		ask(i, false);
		for (unsigned int k = 0; k < 10 && !is_up[i]; k++)
			step();
		assert_true(is_up[i]);
	}
	close_places(NULL);
}

#define PLACES_TEST(sentence, function) \
	TEST_FIXTURE(sentence, function, open_few, close_places)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACES_TEST("no more than so many begin, in order of arrival, each once",
			    test_order),
		PLACES_TEST("one that is not wanted any more leaves the line, and one that has begun may begin again",
			    test_leave),
		PLACES_TEST("one without an answer keeps its place for a second",
			    test_silence),
		PLACES_TEST("none loses its place because the loop is late",
			    test_late_loop),
		PLACES_TEST("those that failed wait for the others, but do not starve",
			    test_lines),
		PLACES_TEST("ten thousand that fail at once begin a few at a time",
			    test_failures),
		TEST("of 10,000 targets 9,000 are up in 22 s though 1,000 never answer, and one that is lost comes back at once",
		     test_fleet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
