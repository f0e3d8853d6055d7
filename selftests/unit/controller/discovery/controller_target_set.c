// SPDX-License-Identifier: GPL-2.0-only
/* The set of running targets, compared with the wanted ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/discovery/target_set.h"

#define NAMES 40
#define ROUNDS 3000

/* Stands for a target that runs. */
struct target {
	const struct target_settings *settings;
	uint64_t standby_ns;
	bool is_ending;
};

struct world {
	struct target_set *set;
	struct target *at[SETTINGS_TARGETS_MAX]; /* by index */
	unsigned int running, starts, ends, changes;
	int error; /* of the next start */
};

static int start(void *data, const struct target_settings *settings, struct target **target)
{
	struct world *world = data;
	size_t i;

	if (world->error)
		return world->error;
	assert_true(settings->index < SETTINGS_TARGETS_MAX);
	assert_null(world->at[settings->index]);
	for (i = 0; i < SETTINGS_TARGETS_MAX && world->running; i++) {
		if (world->at[i])
			assert_string_not_equal(world->at[i]->settings->name, settings->name);
	}
	*target = calloc(1, sizeof(**target));
	assert_non_null(*target);
	(*target)->settings = settings;
	(*target)->standby_ns = settings->standby_ns;
	world->at[settings->index] = *target;
	world->running++;
	world->starts++;
	return 0;
}

static void end(void *data, struct target *target)
{
	struct world *world = data;

	assert_false(target->is_ending);
	target->is_ending = true;
	world->ends++;
}

static void change(void *data, struct target *target, uint64_t standby_ns)
{
	struct world *world = data;

	assert_false(target->is_ending);
	assert_int_not_equal(target->standby_ns, standby_ns);
	target->standby_ns = standby_ns;
	world->changes++;
}

static void world__open(struct world *world)
{
	static const struct target_set_operations operations = {
		.start = start,
		.end = end,
		.change = change,
	};

	*world = (struct world){};
	world->set = target_set__new(&operations, world);
	assert_non_null(world->set);
}

static void world__free_at(struct world *world, size_t index)
{
	free(world->at[index]);
	world->at[index] = NULL;
	world->running--;
}

static void world__close(struct world *world)
{
	size_t i;

	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		if (world->at[i])
			world__free_at(world, i);
	}
	target_set__free(world->set);
}

/* Ends some of the ending targets, or all of them. */
static void world__let_end(struct world *world, uint64_t *random)
{
	size_t i;

	for (i = 0; i < target_set__end_index(world->set); i++) {
		if (!world->at[i] || !world->at[i]->is_ending)
			continue;
		assert_true(target_set__is_ending(world->set, i));
		if (random && random__below(random, 2))
			continue;
		world__free_at(world, i);
		target_set__ended(world->set, i);
	}
}

static void world__settle(struct world *world)
{
	while (!target_set__is_settled(world->set)) {
		assert_true(target_set__work(world->set, 3) >= 0);
		world__let_end(world, NULL);
	}
	assert_int_equal(target_set__running(world->set), world->running);
}

/* Host @number with an interval that tells versions apart. */
static void add_on_standby(struct target_list_builder *builder, unsigned int number,
			   uint64_t version, uint64_t standby_ns)
{
	struct target_item *item;
	char host[16];

	snprintf(host, sizeof(host), "h%u", number);
	assert_int_equal(target_list__add(builder, host, 1, &item), 0);
	item->settings.interval_ns = version;
	item->settings.standby_ns = standby_ns;
}

static void add(struct target_list_builder *builder, unsigned int number, uint64_t version)
{
	add_on_standby(builder, number, version, 0);
}

static void want(struct world *world, struct target_list_builder *builder)
{
	struct target_list list;

	target_list__finish(builder, &list);
	assert_int_equal(target_set__want(world->set, &list), 0);
	target_list__clear(&list);
}

static void test_undisturbed(void **state)
{
	static const struct target_defaults defaults = { .class = 1 };
	struct target_list_builder builder = { .defaults = &defaults };
	struct target *kept;
	struct world world;

	world__open(&world);
	add(&builder, 1, 1);
	add(&builder, 2, 1);
	add(&builder, 3, 1);
	want(&world, &builder);
	world__settle(&world);
	assert_int_equal(world.starts, 3);
	kept = world.at[0];
	assert_string_equal(kept->settings->name, "h1:1");

	/* 1 as before, 2 otherwise, not 3, but 4. */
	add(&builder, 1, 1);
	add(&builder, 2, 2);
	add(&builder, 4, 1);
	want(&world, &builder);
	assert_int_equal(target_set__work(world.set, 100), 0);
	assert_int_equal(world.ends, 2);
	assert_int_equal(world.starts, 4); /* 2 waits for its end */
	assert_false(target_set__is_settled(world.set));
	world__settle(&world);
	assert_int_equal(world.starts, 5);
	assert_int_equal(world.running, 3);
	assert_ptr_equal(world.at[0], kept);
	assert_int_equal(world.ends, 2);

	/* The same again is nothing to do. */
	add(&builder, 1, 1);
	add(&builder, 2, 2);
	add(&builder, 4, 1);
	want(&world, &builder);
	assert_true(target_set__is_settled(world.set));
	want(&world, &builder);
	world__settle(&world);
	assert_int_equal(world.running, 0);
	world__close(&world);
}

static void test_random(void **state)
{
	static const struct target_defaults defaults = { .class = 1 };
	struct target_list_builder builder = { .defaults = &defaults };
	uint64_t random = 1, versions[NAMES], before[NAMES] = {}, standby[NAMES];
	unsigned int round, i, number, expected = 0, changed = 0;
	struct world world;

	world__open(&world);
	for (round = 0; round < ROUNDS; round++) {
		unsigned int most = random__below(&random, NAMES + 1);

		for (i = 0; i < NAMES; i++) {
			versions[i] = random__below(&random, NAMES) < most ?
					      1 + random__below(&random, 8) / 7 :
					      0;
			standby[i] = random__below(&random, 3);
			if (versions[i])
				add_on_standby(&builder, i, versions[i], standby[i]);
		}
		want(&world, &builder);
		for (i = random__below(&random, 8); i; i--) {
			assert_true(target_set__work(world.set, random__below(&random, 9)) >= 0);
			world__let_end(&world, &random);
		}
		if (random__below(&random, 4))
			continue;
		world__settle(&world);
		for (i = 0, expected = 0; i < NAMES; i++) {
			expected += !!versions[i];
			changed += versions[i] && versions[i] == before[i];
			before[i] = versions[i];
		}
		assert_int_equal(world.running, expected);
		for (i = 0; i < target_set__end_index(world.set); i++) {
			if (!world.at[i])
				continue;
			assert_ptr_equal(target_set__target(world.set, i), world.at[i]);
			assert_int_equal(sscanf(world.at[i]->settings->host, "h%u", &number), 1);
			assert_int_equal(world.at[i]->settings->interval_ns, versions[number]);
			assert_int_equal(world.at[i]->standby_ns, standby[number]);
		}
	}
	/* The test saw targets that stay, and indices are reused. */
	assert_true(changed > ROUNDS);
	assert_true(world.changes > ROUNDS);
	assert_true(target_set__end_index(world.set) <= 2 * NAMES);
	world__close(&world);
}

/* The target of a takeover, and of its end, is the same one. */
static void test_standby(void **state)
{
	static const struct target_defaults defaults = { .class = 1 };
	struct target_list_builder builder = { .defaults = &defaults };
	static const uint64_t standby[] = { 60, 0, 60, 30, 0 };
	struct target *kept = NULL;
	struct world world;
	unsigned int i;

	world__open(&world);
	for (i = 0; i < sizeof(standby) / sizeof(*standby); i++) {
		add_on_standby(&builder, 1, 1, standby[i]);
		add(&builder, 2, 1);
		want(&world, &builder);
		world__settle(&world);
		kept = kept ?: world.at[0];
		assert_ptr_equal(world.at[0], kept);
		assert_int_equal(kept->standby_ns, standby[i]);
		assert_int_equal(world.changes, i);
	}
	assert_int_equal(world.starts, 2);
	assert_int_equal(world.ends, 0);
	world__close(&world);
}

static void test_source(void **state)
{
	static const struct target_defaults defaults = { .class = 1 };
	struct target_list_builder builder = { .defaults = &defaults };
	struct world world;

	world__open(&world);
	add(&builder, 1, 1);
	want(&world, &builder);
	world__settle(&world);
	assert_null(target_set__source(world.set, 0));
	builder.source = shared_text__new("file");
	assert_non_null(builder.source);
	add(&builder, 1, 1);
	want(&world, &builder);
	shared_text__release(builder.source);
	world__settle(&world);
	assert_int_equal(world.starts, 1);
	assert_string_equal(target_set__source(world.set, 0), "file");
	world__close(&world);
}

static void test_full(void **state)
{
	static const struct target_defaults defaults = { .class = 1 };
	struct target_list_builder builder = { .defaults = &defaults };
	struct world world;
	unsigned int i;

	world__open(&world);
	for (i = 0; i < SETTINGS_TARGETS_MAX; i++)
		add(&builder, i, 1);
	want(&world, &builder);
	/* The model looks through all at each start. */
	while (target_set__work(world.set, 1000) > 0)
		;
	assert_int_equal(world.running, SETTINGS_TARGETS_MAX);
	/* One target goes, another must wait for its place. */
	for (i = 1; i <= SETTINGS_TARGETS_MAX; i++)
		add(&builder, i, 1);
	want(&world, &builder);
	assert_int_equal(target_set__work(world.set, 10), 0);
	assert_int_equal(world.starts, SETTINGS_TARGETS_MAX);
	world__settle(&world);
	assert_int_equal(world.starts, SETTINGS_TARGETS_MAX + 1);
	assert_int_equal(world.running, SETTINGS_TARGETS_MAX);
	world__close(&world);
}

static void test_error(void **state)
{
	static const struct target_defaults defaults = { .class = 1 };
	struct target_list_builder builder = { .defaults = &defaults };
	struct world world;

	world__open(&world);
	add(&builder, 1, 1);
	want(&world, &builder);
	world.error = -ENOMEM;
	assert_int_equal(target_set__work(world.set, 1), -ENOMEM);
	assert_int_equal(world.running, 0);
	world__close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("targets that are wanted as they are go on; others end, and start again when they have ended",
		     test_undisturbed),
		TEST("whatever is wanted in whatever order, in the end just that runs, each name and index once",
		     test_random),
		TEST("a target that is to be scraped instead of standing by, or back, goes on",
		     test_standby),
		TEST("a target that another source names from now on goes on", test_source),
		TEST("with 10,000 targets, one more waits until another one has ended", test_full),
		TEST("a target that cannot start is an error", test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
