// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers of a journal whose WRITEs get lost, come twice, late and in another order, while the
 * reader looks at it: each entry is found once, in order, or its batch is missing with a reason.
 */
#include <libdart/journal/journal_reader.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"

#define PENDING_MAX 64

static const struct dart_journal_geometry geometry = { 2, 1, 4, 6, 8 };
#define CAPACITY 6
#define RING 16
#define LIST 1

/* Memory, appenders that number their entries, WRITEs on their way, and a reader's expectations. */
struct world {
	uint64_t random;
	uint8_t *memory;
	struct dart_journal_reader *reader;
	struct dart_journal_appender *appenders[2];
	uint64_t starts[2], appended[2]; /* entries since the start */
	struct {
		uint64_t offset;
		uint8_t bytes[64];
	} pending[PENDING_MAX];
	uint32_t pending_count;
	/* What the reader said: the batch that its next event must be about. */
	struct dart_journal_position next[2];
	uint64_t found, lost, lapped, damaged, restarted, set_back;
};

static void restart(struct world *world, uint32_t appender)
{
	dart_journal_appender__free(world->appenders[appender]);
	world->starts[appender] += 1 + random__below(&world->random, 1000);
	world->appended[appender] = 0;
	assert_int_equal(dart_journal_appender__new(&geometry, world->starts[appender],
						    &world->appenders[appender]),
			 0);
}

static void open_world(struct world *world, uint64_t seed)
{
	*world = (struct world){ .random = seed };
	world->memory = calloc(1, dart_journal_geometry__length(&geometry));
	assert_non_null(world->memory);
	restart(world, 0);
	restart(world, 1);
	assert_int_equal(dart_journal_reader__map(&geometry, world->memory, &world->reader), 0);
	assert_int_equal(dart_journal_reader__begin(world->reader, LIST, false, NULL), 0);
	world->next[0].sequence = world->next[1].sequence = 1;
}

static void close_world(struct world *world)
{
	dart_journal_reader__close(world->reader);
	dart_journal_appender__free(world->appenders[0]);
	dart_journal_appender__free(world->appenders[1]);
	free(world->memory);
}

/* ---- the network */

static void land(struct world *world, uint32_t index)
{
	memcpy(world->memory + world->pending[index].offset, world->pending[index].bytes, 64);
	world->pending[index] = world->pending[--world->pending_count];
}

/* In the order of sending, unless @is_late. */
static void send(struct world *world, uint32_t appender, const struct dart_journal_write *write,
		 bool is_late)
{
	const uint64_t offset = appender * dart_journal_geometry__part(&geometry) + write->offset;

	assert_int_equal(write->length, 64);
	if (!is_late) {
		memcpy(world->memory + offset, write->bytes, 64);
		return;
	}
	if (world->pending_count == PENDING_MAX)
		land(world, random__below(&world->random, PENDING_MAX));
	world->pending[world->pending_count].offset = offset;
	memcpy(world->pending[world->pending_count++].bytes, write->bytes, 64);
}

struct faults {
	uint32_t lost, twice, late, flushed, restarted, torn; /* of 1000 */
};

static bool happens(struct world *world, uint32_t of_1000)
{
	return random__below(&world->random, 1000) < of_1000;
}

static void pass_through(struct world *world, uint32_t appender,
			 const struct dart_journal_write *write, const struct faults *faults)
{
	if (happens(world, faults->lost))
		return;
	send(world, appender, write, happens(world, faults->late));
	if (happens(world, faults->twice))
		send(world, appender, write, happens(world, faults->late));
}

static void append(struct world *world, const struct faults *faults)
{
	const uint32_t appender = random__below(&world->random, 2);
	struct dart_journal_write write;
	uint64_t entry;

	if (happens(world, faults->restarted))
		restart(world, appender);
	entry = world->starts[appender] << 32 | ++world->appended[appender];
	if (dart_journal_appender__append(world->appenders[appender], LIST, &entry, &write) ||
	    (happens(world, faults->flushed) &&
	     dart_journal_appender__flush(world->appenders[appender], LIST, &write)))
		pass_through(world, appender, &write, faults);
}

/* ---- the reader */

static void check_entries(struct world *world, const struct dart_journal_event *event)
{
	struct dart_journal_position *next = &world->next[event->appender];
	uint64_t entry;
	uint32_t i;

	assert_int_equal(event->first, next->count);
	assert_in_range(event->count, 1, CAPACITY - event->first);
	for (i = 0; i < event->count; i++) {
		memcpy(&entry, event->entries + i * sizeof(entry), sizeof(entry));
		assert_true(entry == (event->start << 32 |
				      ((event->sequence - 1) * CAPACITY + event->first + i + 1)));
	}
	world->found += event->count;
	next->count += event->count;
	if (next->count == CAPACITY) {
		next->count = 0;
		next->sequence++;
	}
}

/* Each event is about the batch that follows the last event. */
static void on_event(void *context, const struct dart_journal_event *event)
{
	struct world *world = context;
	struct dart_journal_position *next = &world->next[event->appender];

	if (event->outcome == DART_JOURNAL_RESTARTED) {
		assert_true(event->start > next->start);
		*next = (struct dart_journal_position){ event->start, 1, 0 };
		world->restarted++;
		return;
	}
	/* Late WRITEs of an earlier start look like that, too. */
	if (event->outcome == DART_JOURNAL_SET_BACK) {
		assert_true(event->start < next->start);
		world->set_back++;
		return;
	}
	/* The first batch decides about the first start and, for a new reader, sequence. */
	if (!next->start)
		next->start = event->start;
	if (!next->sequence)
		next->sequence = event->sequence;
	assert_true(event->start == next->start);
	assert_true(event->sequence == next->sequence);
	switch (event->outcome) {
	case DART_JOURNAL_ENTRIES_FOUND:
		check_entries(world, event);
		return;
	case DART_JOURNAL_LAPPED:
		world->lapped += event->batches;
		break;
	case DART_JOURNAL_DAMAGED:
		world->damaged += event->batches;
		break;
	default:
		world->lost += event->batches;
	}
	assert_true(event->batches > 0);
	next->sequence += event->batches;
	next->count = 0;
}

static void poll_until_idle(struct world *world)
{
	uint32_t rounds, idle;

	for (rounds = idle = 0; idle < 2; rounds++) {
		int more = dart_journal_reader__poll(world->reader, on_event, world, NULL);

		assert_in_range(more, 0, 1);
		idle = more ? 0 : idle + 1;
		assert_true(rounds < 1000);
	}
}

/* Runs; the reader looks after every @period appended entries on average. */
static void run(struct world *world, const struct faults *faults, uint32_t entries, uint32_t period)
{
	while (entries--) {
		append(world, faults);
		if (happens(world, faults->torn))
			world->memory[random__below(&world->random,
						    dart_journal_geometry__length(&geometry))] ^= 1;
		if (world->pending_count && happens(world, 300))
			land(world, random__below(&world->random, world->pending_count));
		if (!random__below(&world->random, period))
			dart_journal_reader__poll(world->reader, on_event, world, NULL);
	}
	while (world->pending_count)
		land(world, 0);
}

/* Everything that was appended is accounted for: found, or in a batch that is missing. */
static void check_all(struct world *world)
{
	uint32_t appender;

	for (appender = 0; appender < 2; appender++) {
		const struct dart_journal_position *next = &world->next[appender];

		assert_true(next->start == world->starts[appender]);
		assert_true((next->sequence - 1) * CAPACITY + next->count ==
			    world->appended[appender]);
	}
}

static void flush_all(struct world *world)
{
	struct dart_journal_write write;
	uint32_t appender;

	for (appender = 0; appender < 2; appender++)
		if (dart_journal_appender__flush(world->appenders[appender], LIST, &write))
			send(world, appender, &write, false);
}

static void test_whole(void **state)
{
	const struct faults none = { .flushed = 100 };
	struct world world;

	open_world(&world, 1);
	run(&world, &none, 20000, 10);
	flush_all(&world);
	poll_until_idle(&world);
	check_all(&world);
	assert_int_equal(world.found, 20000);
	assert_int_equal(world.lost + world.lapped + world.damaged + world.restarted, 0);
	close_world(&world);
}

static void test_lapped(void **state)
{
	const struct faults none = {};
	struct world world;

	open_world(&world, 2);
	run(&world, &none, 20000, 600);
	flush_all(&world);
	poll_until_idle(&world);
	check_all(&world);
	assert_true(world.lapped > 100);
	assert_int_equal(world.lost + world.damaged, 0);
	assert_true(world.found + world.lapped * CAPACITY == 20000);
	close_world(&world);
}

static void test_lost(void **state)
{
	const struct faults faults = { .lost = 50 };
	struct world world;

	open_world(&world, 3);
	run(&world, &faults, 60000, 10);
	/* The last batch of an appender is known to be lost after the next one. */
	run(&world, &(struct faults){}, 2 * 2 * CAPACITY * 4, 10);
	flush_all(&world);
	poll_until_idle(&world);
	check_all(&world);
	assert_in_range(world.lost, 350, 650);
	assert_int_equal(world.lapped + world.damaged, 0);
	assert_true(world.found + world.lost * CAPACITY == 60000 + 96);
	close_world(&world);
}

/* More batches in a row than the window: the reader looks farther. */
static void test_gap(void **state)
{
	uint32_t lost;

	for (lost = 1; lost < RING; lost++) {
		struct dart_journal_write write;
		struct world world;
		uint64_t entry;

		open_world(&world, lost);
		run(&world, &(struct faults){}, 200, 10);
		flush_all(&world);
		poll_until_idle(&world);
		/* Appender 0 loses @lost full batches and begins one more. */
		do {
			entry = world.starts[0] << 32 | ++world.appended[0];
			dart_journal_appender__append(world.appenders[0], LIST, &entry, &write);
		} while (world.appended[0] / CAPACITY < world.next[0].sequence - 1 + lost ||
			 !(world.appended[0] % CAPACITY));
		flush_all(&world);
		poll_until_idle(&world);
		check_all(&world);
		assert_int_equal(world.lost, lost);
		assert_int_equal(world.lapped, 0);
		close_world(&world);
	}
}

static void test_everything(void **state)
{
	const struct faults faults = {
		.lost = 20,
		.twice = 20,
		.late = 60,
		.flushed = 100,
		.restarted = 2,
		.torn = 5,
	};
	uint64_t seed, lost = 0, lapped = 0, damaged = 0, restarted = 0;

	for (seed = 0; seed < 60; seed++) {
		struct world world;

		open_world(&world, seed);
		run(&world, &faults, 4000, 5 + seed * 4);
		run(&world, &(struct faults){}, 400, 5);
		flush_all(&world);
		poll_until_idle(&world);
		check_all(&world);
		lost += world.lost;
		lapped += world.lapped;
		damaged += world.damaged;
		restarted += world.restarted;
		close_world(&world);
	}
	assert_true(lost && lapped && damaged && restarted);
}

/* What a new reader finds: the old batches first, and nothing that comes later. */
static void test_drain(void **state)
{
	const struct faults none = { .flushed = 100 };
	struct world world;
	uint64_t found, old;
	uint32_t i;

	open_world(&world, 5);
	run(&world, &none, 150, 1000000);
	restart(&world, 0);
	restart(&world, 1);
	run(&world, &none, 30, 1000000);
	flush_all(&world);
	assert_int_equal(dart_journal_reader__begin(world.reader, LIST, false, NULL), 0);
	memset(world.next, 0, sizeof(world.next));
	old = world.appended[0] + world.appended[1];
	run(&world, &none, 6, 1000000);
	assert_int_equal(dart_journal_reader__drain(world.reader, on_event, &world, NULL), 0);
	assert_int_equal(world.restarted, 2);
	/* A batch that was not full then may have grown. */
	assert_in_range(world.found, old + 1, 150 + old + 6);
	for (i = 0; i < 2; i++)
		assert_true(world.next[i].start == world.starts[i]);
	found = world.found;
	assert_int_equal(dart_journal_reader__begin(world.reader, LIST, true, NULL), 0);
	assert_int_equal(dart_journal_reader__poll(world.reader, on_event, &world, NULL), 0);
	assert_int_equal(world.found, found);
	close_world(&world);
}

/* An event in a few letters: "F4.0+6" is 6 entries of sequence 4 from number 0 on. */
static void note_event(void *context, const struct dart_journal_event *event)
{
	static const char letters[] = "FLODRB";
	char *text = context, *end = text + strlen(text);

	if (event->appender)
		return;
	end += sprintf(end, "%c%u", letters[event->outcome], event->sequence);
	if (event->outcome == DART_JOURNAL_ENTRIES_FOUND)
		end += sprintf(end, ".%u+%u", event->first, event->count);
	else if (event->batches > 1)
		end += sprintf(end, "x%u", (unsigned int)event->batches);
	strcpy(end, " ");
}

/* Fills @count batches of appender 0 in a row, and WRITEs those that @which has a bit for. */
static void fill(struct world *world, uint32_t count, uint64_t which)
{
	struct dart_journal_write write;
	uint64_t entry = 0;

	for (; count; count--, which >>= 1) {
		while (!dart_journal_appender__append(world->appenders[0], LIST, &entry, &write))
			;
		if (which & 1)
			send(world, 0, &write, false);
	}
}

/* Old batches stay where WRITEs of the next start were lost, and after its last batch. */
static void test_islands(void **state)
{
	static const char expected[] =
		"F4.0+6 O5 F6.0+6 F7.0+6 F8.0+6 F9.0+6 F10.0+6 F11.0+6 F12.0+6 F13.0+6 F14.0+6 "
		"F15.0+6 F16.0+6 R1 F1.0+6 F2.0+6 F3.0+6 L4 F5.0+6 ";
	char drained[1024] = "", polled[1024] = "";
	struct world world;

	open_world(&world, 8);
	fill(&world, 16, UINT64_MAX);
	restart(&world, 0);
	fill(&world, 5, 0x17);
	assert_int_equal(dart_journal_reader__begin(world.reader, LIST, false, NULL), 0);
	assert_int_equal(dart_journal_reader__drain(world.reader, note_event, drained, NULL), 0);
	assert_string_equal(drained, expected);
	assert_int_equal(dart_journal_reader__begin(world.reader, LIST, false, NULL), 0);
	while (dart_journal_reader__poll(world.reader, note_event, polled, NULL))
		;
	assert_string_equal(polled, expected);
	close_world(&world);
}

/* ---- a clock that was set back */

static void restart_at(struct world *world, uint64_t start)
{
	dart_journal_appender__free(world->appenders[0]);
	world->starts[0] = start;
	assert_int_equal(dart_journal_appender__new(&geometry, start, &world->appenders[0]), 0);
}

static void poll(struct world *world, char *text)
{
	int i;

	for (*text = i = 0; i < 4; i++)
		while (dart_journal_reader__poll(world->reader, note_event, text, NULL))
			;
}

/* A reader that followed the start of a clock that was fast. */
static void test_set_back(void **state)
{
	struct world world;
	char text[1024];

	open_world(&world, 9);
	restart_at(&world, 5000);
	fill(&world, 3, UINT64_MAX);
	poll(&world, text);
	assert_string_equal(text, "F1.0+6 F2.0+6 F3.0+6 ");
	restart_at(&world, 1000);
	fill(&world, 1, UINT64_MAX);
	poll(&world, text);
	assert_string_equal(text, "B1 ");
	fill(&world, 20, UINT64_MAX);
	poll(&world, text);
	assert_string_equal(text, "");
	restart_at(&world, 1001);
	fill(&world, 1, UINT64_MAX);
	poll(&world, text);
	assert_string_equal(text, "B1 ");
	restart_at(&world, 5001);
	fill(&world, 1, UINT64_MAX);
	poll(&world, text);
	assert_string_equal(text, "R1 F1.0+6 ");
	close_world(&world);
}

/* Readers that begin afterwards, with the oldest batch or after the newest one. */
static void test_set_back_before(void **state)
{
	struct world world;
	char text[1024] = "";

	open_world(&world, 10);
	restart_at(&world, 5000);
	fill(&world, 9, UINT64_MAX);
	restart_at(&world, 1000);
	fill(&world, 6, UINT64_MAX);
	assert_int_equal(dart_journal_reader__begin(world.reader, LIST, false, NULL), 0);
	poll(&world, text);
	assert_string_equal(text, "F1.0+6 F2.0+6 F3.0+6 F4.0+6 F5.0+6 F6.0+6 "
				  "R1 L1 L2 L3 L4 L5 L6 F7.0+6 F8.0+6 F9.0+6 ");
	fill(&world, 1, UINT64_MAX);
	poll(&world, text);
	assert_string_equal(text, "B7 ");
	assert_int_equal(dart_journal_reader__begin(world.reader, LIST, true, NULL), 0);
	poll(&world, text);
	assert_string_equal(text, "");
	fill(&world, 1, UINT64_MAX);
	poll(&world, text);
	assert_string_equal(text, "B8 ");
	close_world(&world);
}

/* ---- a ring whose bytes lie */

static void count_event(void *context, const struct dart_journal_event *event)
{
	uint64_t *sum = context;
	uint32_t i;

	*sum += event->batches + 1;
	if (event->outcome != DART_JOURNAL_ENTRIES_FOUND)
		return;
	assert_in_range(event->count, 1, CAPACITY);
	for (i = 0; i < event->count * geometry.entry_length; i++)
		*sum += event->entries[i];
}

/* Whole batches with any sequence and start, and others, that change all the time. */
static void lie(struct world *world)
{
	struct dart_journal_geometry other = geometry;
	struct dart_journal_appender *appender;
	struct dart_journal_write write;
	uint64_t start = random__below(&world->random, 3) + UINT64_C(0xfffffffffff0);
	uint32_t count, i;

	other.batches_log2 = 1;
	assert_int_equal(dart_journal_appender__new(&other, start, &appender), 0);
	for (count = random__below(&world->random, 40); count; count--) {
		uint8_t *place = world->memory + 64 * random__below(&world->random, 64);
		uint8_t entry[8] = { count };

		if (!dart_journal_appender__append(appender, 0, entry, &write))
			dart_journal_appender__flush(appender, 0, &write);
		memcpy(place, write.bytes, 64);
		if (random__below(&world->random, 4))
			continue;
		for (i = 0; i < 64; i++)
			place[i] = random__below(&world->random, 256);
	}
	dart_journal_appender__free(appender);
}

static void test_hostile(void **state)
{
	struct world world;
	uint64_t sum = 0;
	uint32_t i;

	open_world(&world, 7);
	for (i = 0; i < 20000; i++) {
		lie(&world);
		if (!random__below(&world.random, 50))
			dart_journal_reader__begin(world.reader, LIST,
						   random__below(&world.random, 2), NULL);
		if (random__below(&world.random, 10))
			dart_journal_reader__poll(world.reader, count_event, &sum, NULL);
		else
			dart_journal_reader__drain(world.reader, count_event, &sum, NULL);
	}
	assert_true(sum > 0);
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("without faults a reader that keeps up finds each entry once, in order",
		     test_whole),
		TEST("a slow reader learns how many batches were overwritten", test_lapped),
		TEST("each lost WRITE is one lost batch, and all other entries are found",
		     test_lost),
		TEST("lost batches in a row, up to a whole ring, hide no newer batch", test_gap),
		TEST("loss, delay, duplicates, flushes, restarts and damage: nothing is lost in silence, nothing is found twice",
		     test_everything),
		TEST("a new reader finds batches of earlier starts first, or nothing that is old",
		     test_drain),
		TEST("a reader finds old batches between those of a newer start", test_islands),
		TEST("a reader tells once that batches come whose start a clock that was set back lowered",
		     test_set_back),
		TEST("so does a reader that begins afterwards", test_set_back_before),
		TEST("memory whose bytes lie harms no reader", test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
