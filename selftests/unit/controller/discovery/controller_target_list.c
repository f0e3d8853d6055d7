// SPDX-License-Identifier: GPL-2.0-only
/* Sorted lists of targets, and putting several together. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/discovery/target_list.h"

static const struct target_defaults defaults = {
	.interval_ns = 1000000000,
	.class = 1,
};

/* Hosts are single letters; the source is the letters as well. */
static void make_list(const char *hosts, struct target_list *list)
{
	struct target_list_builder builder = {
		.defaults = &defaults,
		.source = shared_text__new(hosts),
	};
	char host[2] = "";

	assert_non_null(builder.source);
	for (; *hosts; hosts++) {
		host[0] = *hosts;
		assert_int_equal(target_list__add(&builder, host, 1, NULL), 0);
	}
	target_list__finish(&builder, list);
	shared_text__release(builder.source);
}

/* The names of a list, each followed by the first letter of its source. */
static const char *letters_of(const struct target_list *list)
{
	static char letters[100];
	size_t i;

	assert_true(2 * list->count < sizeof(letters));
	for (i = 0; i < list->count; i++) {
		letters[2 * i] = list->items[i]->settings.name[0];
		letters[2 * i + 1] = list->items[i]->settings.source->text[0];
	}
	letters[2 * i] = '\0';
	return letters;
}

static void test_order(void **state)
{
	struct target_list list;

	make_list("dbacb", &list);
	assert_string_equal(letters_of(&list), "adbdcddd");
	target_list__clear(&list);
	assert_int_equal(list.count, 0);
	make_list("", &list);
	assert_int_equal(list.count, 0);
	target_list__clear(&list);
}

static void test_first_counts(void **state)
{
	struct target_list_builder builder = { .defaults = &defaults };
	struct target_list list;
	struct target_item *item;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		assert_int_equal(target_list__add(&builder, i % 2 ? "x" : "y", 1, &item), 0);
		item->settings.class = i < 2 ? 3 : 0;
	}
	target_list__finish(&builder, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[0]->settings.class, 3);
	assert_int_equal(list.items[1]->settings.class, 3);
	target_list__clear(&list);
}

static void test_union(void **state)
{
	struct target_list one, two, three, all;
	const struct target_list *lists[] = { &one, &two, &three };

	make_list("bdf", &one);
	make_list("", &two);
	make_list("gcba", &three);
	assert_int_equal(target_list__unite(lists, 3, &all), 0);
	assert_string_equal(letters_of(&all), "agbbcgdbfbgg");
	/* Items are shared: they outlive the lists that they came from. */
	target_list__clear(&one);
	target_list__clear(&three);
	assert_string_equal(letters_of(&all), "agbbcgdbfbgg");
	target_list__clear(&all);
	assert_int_equal(target_list__unite(lists, 3, &all), 0);
	assert_int_equal(all.count, 0);
	target_list__clear(&all);
	target_list__clear(&two);
}

/* @count targets from h00000 with the number @first on. */
static void make_numbers(unsigned int first, unsigned int count, struct target_list *list)
{
	struct target_list_builder builder = { .defaults = &defaults };
	char host[16];

	while (count--) {
		snprintf(host, sizeof(host), "h%05u", first + count);
		assert_int_equal(target_list__add(&builder, host, 1, NULL), 0);
	}
	target_list__finish(&builder, list);
}

/* The greatest number of lists in a configuration, each of the greatest length. */
static void test_largest(void **state)
{
	struct target_list named[2], all;
	const struct target_list *lists[SETTINGS_SOURCES_MAX + 1];
	size_t i;

	make_numbers(0, SETTINGS_TARGETS_MAX, &named[0]);
	make_numbers(1, SETTINGS_TARGETS_MAX - 1, &named[1]);
	for (i = 0; i <= SETTINGS_SOURCES_MAX; i++)
		lists[i] = &named[i % 2];
	assert_int_equal(target_list__unite(lists, SETTINGS_SOURCES_MAX + 1, &all), 0);
	assert_int_equal(all.count, SETTINGS_TARGETS_MAX);
	for (i = 0; i < all.count; i++)
		assert_ptr_equal(all.items[i], named[0].items[i]);
	target_list__clear(&all);

	/* One more than can be. */
	target_list__clear(&named[1]);
	make_numbers(SETTINGS_TARGETS_MAX, 1, &named[1]);
	assert_int_equal(target_list__unite(lists, 2, &all), -E2BIG);
	assert_int_equal(all.count, 0);
	assert_int_equal(atomic_load(&named[0].items[0]->holders), 1);
	target_list__clear(&named[0]);
	target_list__clear(&named[1]);
}

/* Each of these differences makes it another target, except the source. */
static void change(struct target_settings *settings, unsigned int which)
{
	char *names[] = { "x" };

	if (which == 0)
		settings->interval_ns++;
	else if (which == 1)
		settings->class += 1;
	else if (which == 2)
		settings->labels = shared_text__new("{\"a\":\"b\"}");
	else if (which == 3)
		settings->entries = entry_names__new(names, 1);
	else if (which == 4)
		settings->transport = SETTINGS_TRANSPORT_TCP;
	else
		settings->host[0] = 'z';
}

static void test_equal(void **state)
{
	struct target_list one, other;
	unsigned int which;

	for (which = 0; which < 6; which++) {
		make_list("ab", &one);
		make_list("ab", &other);
		assert_true(target_list__equal(&one, &other));
		assert_true(target_item__equal(one.items[0], other.items[0]));
		change(&other.items[0]->settings, which);
		assert_false(target_item__equal(one.items[0], other.items[0]));
		assert_false(target_list__equal(&one, &other));
		target_list__clear(&one);
		target_list__clear(&other);
	}
	make_list("ab", &one);
	make_list("abb", &other);
	assert_true(target_item__equal(one.items[0], other.items[0]));
	assert_false(target_list__equal(&one, &other)); /* of another source */
	target_list__clear(&other);
	make_list("abc", &other);
	assert_false(target_list__equal(&one, &other));
	target_list__clear(&one);
	target_list__clear(&other);
}

static void test_refused(void **state)
{
	struct target_list_builder builder = { .defaults = &defaults };
	char host[300], many[16];
	unsigned int i;

	memset(host, 'h', sizeof(host));
	host[254] = '\0';
	assert_int_equal(target_list__add(&builder, host, 1, NULL), -EINVAL);
	host[253] = '\0';
	assert_int_equal(target_list__add(&builder, host, 1, NULL), 0);
	assert_int_equal(target_list__add(&builder, "", 1, NULL), -EINVAL);
	assert_int_equal(target_list__add(&builder, "h", 0, NULL), -EINVAL);
	assert_int_equal(target_list__add(&builder, "h h", 1, NULL), -EINVAL);
	assert_int_equal(target_list__add(&builder, "h\n", 1, NULL), -EINVAL);
	assert_int_equal(target_list__add(&builder, "h\x7f", 1, NULL), -EINVAL);
	assert_int_equal(target_list__add(&builder, "\xc3\xa4", 1, NULL), -EINVAL);
	for (i = 1; i < SETTINGS_TARGETS_MAX; i++) {
		snprintf(many, sizeof(many), "h%u", i);
		assert_int_equal(target_list__add(&builder, many, 1, NULL), 0);
	}
	assert_int_equal(target_list__add(&builder, "h", 1, NULL), -E2BIG);
	assert_int_equal(builder.list.count, SETTINGS_TARGETS_MAX);
	target_list__clear(&builder.list);
}

static void test_of_settings(void **state)
{
	struct settings settings = { .interval_ns = 5000000 };
	struct target_list list;

	assert_int_equal(settings__add_entry(&settings, "cpustat"), 0);
	assert_int_equal(settings__add_target(&settings, "b", 1, 0), 0);
	assert_int_equal(settings__add_target(&settings, "a", 1, 7000000), 0);
	settings.targets[1].class = 0;
	assert_int_equal(target_list__of_settings(&settings, &list), 0);
	settings__clear(&settings);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[0]->settings.name, "a:1");
	assert_int_equal(list.items[0]->settings.interval_ns, 7000000);
	assert_int_equal(list.items[0]->settings.class, 0);
	assert_string_equal(list.items[0]->settings.entries->names[0], "cpustat");
	assert_int_equal(list.items[1]->settings.interval_ns, 5000000);
	target_list__clear(&list);
	assert_int_equal(target_list__of_settings(&settings, &list), 0);
	assert_int_equal(list.count, 0);
	target_list__clear(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a list is in the order of names, each once", test_order),
		TEST("of targets that a source names several times the first one counts",
		     test_first_counts),
		TEST("of several lists with one name the first list counts, and items outlive their lists",
		     test_union),
		TEST("of lists as many and as long as can be one is made, but not of one target more",
		     test_largest),
		TEST("targets differ by interval, class, labels, entries, transport and host, and lists by their sources too",
		     test_equal),
		TEST("hosts that are no names, and more than 10,000 targets, are refused",
		     test_refused),
		TEST("agents of a configuration get the interval and the entries of all unless they have their own",
		     test_of_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
