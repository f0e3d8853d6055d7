// SPDX-License-Identifier: GPL-2.0-only
/* A host whose table changes all the time harms no other. */
#define ROOM (4 << 20)
#include "controller_changing.h"

/* A table with @count entries of the same value. */
static void host__fill(struct changing *own, uint32_t count)
{
	struct dart_memory_region region = {
		.address = (uintptr_t)&own->value,
		.length = sizeof(own->value),
		.rkey = own->host.values.rkey,
	};
	struct dart_range range = {
		.address = region.address,
		.copies = 1,
		.length = sizeof(own->value),
	};
	struct dart_entry *all = calloc(count, sizeof(*all));
	char (*names)[32] = calloc(count, sizeof(*names));
	struct dart_table table = {
		.generation = ++own->generation,
		.instance = own - hosts + 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 4,
		.page_size = 4096,
		.node_name = "host",
		.entries = all,
		.entry_count = count,
		.memory_regions = &region,
		.memory_region_count = 1,
	};
	uint32_t i;

	assert_true(all && names);
	for (i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "entry_%u", i);
		all[i] = (struct dart_entry){
			.name = names[i],
			.schema = own->schema,
			.kind = DART_CONTROL_ENTRY_SLICE,
			.lifetime = DART_CONTROL_LIFETIME_SERVERLESS,
			.copies_are = DART_CONTROL_COPIES_ROW,
			.copies = 1,
			.ranges = &range,
			.range_count = 1,
		};
	}
	assert_true(dart_table_writer__rewrite(own->writer, &table) > 0);
	free(all);
	free(names);
}

/* Runs the loop for @ns; returns the CPU time that it took. */
static uint64_t run_for(uint64_t ns)
{
	const uint64_t before_ns = dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t end_ns = monotonic_ns() + ns;

	while (monotonic_ns() < end_ns)
		assert_true(sd_event_run(bed.context.event, 1000) >= 0);
	return dart_clock__ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
}

/* Its agent says that memory stays readable for no time, so it may be asked again at once. */
static void begin_restless(uint32_t entries)
{
	hosts__open();
	host__fill(&hosts[0], entries);
	hosts[0].is_restless = true;
	bed__open(0, 10000000);
	bed__add(0);
	bed__add(1);
	bed__await(1, 1);
}

static void test_loop(void **state)
{
	const uint64_t span_ns = 3000000000;
	const struct summary *summary;
	uint64_t taken_ns, scrapes;

	/* A table is one READ then. */
	flow = SETTINGS_FLOW_NONE;
	begin_restless(20000);
	/* Until the first table was taken. */
	while (!bed.targets[0]->io.ring)
		assert_true(sd_event_run(bed.context.event, 1000) >= 0);
	summary = target__summary(bed.targets[1]);
	scrapes = count__of(&summary->scrapes);
	taken_ns = run_for(span_ns);
	print_message("# the loop took %.2f of its time\n", (double)taken_ns / span_ns);
	assert_in_range(taken_ns, 0, span_ns * 2 / 5);
	assert_true(count__of(&summary->scrapes) > scrapes);
	end();
	flow = SETTINGS_FLOW_UNSET;
}

static size_t count_said(const char *words)
{
	char text[1 << 20];
	const ssize_t length = pread(bed.said, text, sizeof(text) - 1, 0);
	const char *at = text;
	size_t count = 0;

	assert_true(length >= 0);
	text[length] = '\0';
	while ((at = strstr(at, words))) {
		at += strlen(words);
		count++;
	}
	return count;
}

static void flush_log(void)
{
	output__end(bed.context.log);
	while (!output__has_ended(bed.context.log)) {
		struct pollfd ended = { output__event_fd(bed.context.log), POLLIN, 0 };

		poll(&ended, 1, -1);
	}
}

static void test_said(void **state)
{
	enum { CHANGES = 100 };
	unsigned int changes = 0;
	const void *ring;

	begin_restless(1);
	while (changes < CHANGES) {
		ring = bed.targets[0]->io.ring;
		assert_true(sd_event_run(bed.context.event, 1000) >= 0);
		changes += ring && ring != bed.targets[0]->io.ring;
	}
	flush_log();
	assert_in_range(count_said("10.0.0.0: table changed"), 1, TARGET_TABLE_MESSAGES);
	assert_int_equal(count_said("10.0.0.1: connected"), 1);
	end();
}

/* An agent that refuses for another reason each time. */
static void test_reasons(void **state)
{
	struct target *target;
	unsigned int i;

	hosts__open();
	bed__open(0, 10000000);
	bed__add(0);
	bed__add(1);
	target = bed.targets[0];
	for (i = 0; i < 1000; i++)
		target__lose(target, "reason %u", i);
	bed__await(1, 1);
	/* After the period the log says how many it lacks. */
	target->said.until_ns = 0;
	target__lose(target, "the last reason");
	flush_log();
	assert_int_equal(count_said("10.0.0.0: cannot be scraped"), TARGET_MESSAGES + 1);
	assert_int_equal(count_said("the last reason; retrying (980 messages about it left out)"),
			 1);
	/* The host can be lost once more until its target is closed. */
	bed__close();
	hosts__close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a table that changes before each READ takes the control loop a part of its time",
		     test_loop),
		TEST("a few changes of a table are said in an hour", test_said),
		TEST("a few losses of a host are said in ten minutes, and how many were not",
		     test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
