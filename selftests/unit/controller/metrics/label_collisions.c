// SPDX-License-Identifier: GPL-2.0-only
/* Label names of targets that collide with label names of series, or with each other. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/metrics/labels/label_collisions.h"

static const char *const of_series[] = { "cpu", "device", "target_device" };
static const struct metric_plan plan = {
	.label_names = of_series,
	.label_name_count = 3,
};

/*
 * Expects @own, in the order of strcmp() of @given, whatever the order in which they are given.
 * Both end with NULL.
 */
static void expect(enum label_names_form form, const char *const *given, const char *const *own,
		   size_t collided)
{
	static struct named_label labels[LABELS_MAX];
	size_t count = 0, turn, i, j;

	while (given[count])
		count++;
	for (turn = 0; turn < count; turn++) {
		for (i = 0; i < count; i++)
			labels[(i + turn) % count].given = given[i];
		assert_int_equal(label_names__choose(&plan, form, labels, count), collided);
		for (i = 0; i < count; i++) {
			assert_string_equal(labels[i].given, given[i]);
			assert_string_equal(labels[i].own, own[i]);
			for (j = 0; j < i; j++)
				assert_string_not_equal(labels[j].own, own[i]);
		}
	}
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_plain(void **state)
{
	expect(LABEL_NAMES_PLAIN, LIST("instance", "rack"), LIST("instance", "rack"), 0);
	expect(LABEL_NAMES_UTF8, LIST("instance", "rack"), LIST("instance", "rack"), 0);
}

static void test_taken(void **state)
{
	expect(LABEL_NAMES_PLAIN, LIST("cpu", "rack"), LIST("target_cpu", "rack"), 0);
	expect(LABEL_NAMES_UTF8, LIST("cpu", "rack"), LIST("target_cpu", "rack"), 0);
}

static void test_collided(void **state)
{
	expect(LABEL_NAMES_PLAIN, LIST("cpu", "target_cpu"),
	       LIST("target_target_cpu", "target_cpu"), 1);
	expect(LABEL_NAMES_PLAIN, LIST("cpu", "target_cpu", "target_target_cpu"),
	       LIST("target_target_target_cpu", "target_cpu", "target_target_cpu"), 1);
	/* The series carry that name, too. */
	expect(LABEL_NAMES_PLAIN, LIST("device"), LIST("target_target_device"), 1);
	expect(LABEL_NAMES_PLAIN, LIST("device", "target_device"),
	       LIST("target_target_device", "target_target_target_device"), 2);
}

static void test_utf8(void **state)
{
	expect(LABEL_NAMES_UTF8, LIST("host.name", "host_name", "\xc3\xa4", "\xc3\xb6"),
	       LIST("host.name", "host_name", "\xc3\xa4", "\xc3\xb6"), 0);
	expect(LABEL_NAMES_PLAIN, LIST("host.name", "rack"), LIST("host_name", "rack"), 0);
	/* A character becomes one underscore, whatever its bytes, and so does a first digit. */
	expect(LABEL_NAMES_PLAIN, LIST("1a", "a:b", "\xe2\x82\xac" "x"),
	       LIST("_a", "a_b", "_x"), 0);
}

static void test_utf8_collided(void **state)
{
	expect(LABEL_NAMES_PLAIN, LIST("host name", "host-name", "host.name", "host_name"),
	       LIST("target_host_name", "target_target_host_name",
		    "target_target_target_host_name", "host_name"),
	       3);
	/* The name of a series' label, and reserved names. */
	expect(LABEL_NAMES_PLAIN, LIST("..name", "c.u", "cp\xc3\xbc"),
	       LIST("target___name", "c_u", "cp_"), 1);
	expect(LABEL_NAMES_PLAIN, LIST("devic\xc3\xa9"), LIST("devic_"), 0);
}

/* The greatest number of colliding names: each gets a different name. */
static void test_many(void **state)
{
	static struct named_label labels[LABELS_MAX];
	static char names[LABELS_MAX][LABELS_NAME_MAX + 1];
	size_t i, j;

	for (i = 0; i < LABELS_MAX; i++) {
		memset(names[i], 'x', LABELS_NAME_MAX);
		names[i][i] = '.';
		labels[i].given = names[i];
	}
	/* They differ only by where the dot is; below all become the same. */
	label_names__choose(&plan, LABEL_NAMES_PLAIN, labels, LABELS_MAX);
	for (i = 0; i < LABELS_MAX; i++) {
		assert_true(*labels[i].own);
		for (j = 0; j < i; j++)
			assert_string_not_equal(labels[i].own, labels[j].own);
	}
	for (i = 0; i < LABELS_MAX; i++) {
		memset(names[i], 'x', LABELS_NAME_MAX);
		names[i][0] = '!' + i % 14;
		names[i][1] = '!' + i / 14;
		labels[i].given = names[i];
	}
	assert_true(label_names__choose(&plan, LABEL_NAMES_PLAIN, labels, LABELS_MAX) >
		    LABELS_MAX / 2);
	for (i = 0; i < LABELS_MAX; i++) {
		assert_true(*labels[i].own);
		for (j = 0; j < i; j++)
			assert_string_not_equal(labels[i].own, labels[j].own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("names that nothing else has stay", test_plain),
		TEST("a name that a label of the series has gets a prefix", test_taken),
		TEST("the prefix is repeated until the name is free, and that is counted",
		     test_collided),
		TEST("names of any UTF-8 stay, or each character becomes an underscore", test_utf8),
		TEST("names that become equal get prefixes, in the order of the names",
		     test_utf8_collided),
		TEST("of 64 labels that collide no two have one name", test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
