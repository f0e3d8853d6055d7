// SPDX-License-Identifier: GPL-2.0-only
/* Targets with equal given labels get different labels. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/discovery/equal_labels.h"

static const struct target_defaults defaults = { .interval_ns = 1000000000 };

/* A target @host:1 and the text of its labels, or NULL: before and after. */
struct labelled {
	const char *host, *given, *own;
};

/* As an array that ends with a host that is NULL, in the order of the hosts. */
static void make_list(const struct labelled *labelled, struct target_list *list)
{
	struct target_list_builder builder = { .defaults = &defaults };
	struct target_item *item;

	for (; labelled->host; labelled++) {
		assert_int_equal(target_list__add(&builder, labelled->host, 1, &item), 0);
		if (labelled->given)
			item->settings.labels = shared_text__new(labelled->given);
	}
	target_list__finish(&builder, list);
}

static void check(const struct labelled *labelled, size_t separated, const char *named)
{
	struct dart_error example = { .text = "" };
	struct target_list list;
	size_t count, i;

	make_list(labelled, &list);
	assert_int_equal(equal_labels__separate(&list, &count, &example), 0);
	assert_int_equal(count, separated);
	assert_string_equal(example.text, named);
	for (i = 0; i < list.count; i++) {
		const struct shared_text *labels = list.items[i]->settings.labels;

		assert_string_equal(list.items[i]->settings.host, labelled[i].host);
		assert_string_equal(labels ? labels->text : "none",
				    labelled[i].own ?: labelled[i].given ?: "none");
	}
	target_list__clear(&list);
}

static void test_equal(void **state)
{
	const struct labelled two[] = {
		{ "a", "{\"instance\":\"x\",\"rack\":\"1\"}",
		  "{\"instance\":\"a:1\",\"rack\":\"1\",\"target_instance\":\"x\"}" },
		{ "b", "{\"instance\":\"x\",\"rack\":\"1\"}",
		  "{\"instance\":\"b:1\",\"rack\":\"1\",\"target_instance\":\"x\"}" },
		{ "c", "{\"instance\":\"y\",\"rack\":\"1\"}", NULL },
		{}
	};
	const struct labelled many[] = {
		{ "a", "{\"instance\":\"x\"}", "{\"instance\":\"a:1\",\"target_instance\":\"x\"}" },
		{ "b", "{\"instance\":\"\\u00E9\\\"\"}",
		  "{\"instance\":\"b:1\",\"target_instance\":\"\\u00E9\\\"\"}" },
		{ "c", "{\"instance\":\"x\"}", "{\"instance\":\"c:1\",\"target_instance\":\"x\"}" },
		{ "d", "{\"instance\":\"x\"}", "{\"instance\":\"d:1\",\"target_instance\":\"x\"}" },
		{ "e", "{\"instance\":\"\\u00E9\\\"\"}",
		  "{\"instance\":\"e:1\",\"target_instance\":\"\\u00E9\\\"\"}" },
		{}
	};

	check(two, 2, "a:1 and b:1");
	check(many, 5, "b:1 and e:1");
}

/*
 * The given name belongs to another target; a label without a text does not count; a name is in
 * use.
 */
static void test_equal_otherwise(void **state)
{
	const struct labelled name[] = {
		{ "a", "{\"instance\":\"b:1\"}",
		  "{\"instance\":\"a:1\",\"target_instance\":\"b:1\"}" },
		{ "b", NULL, NULL },
		{}
	};
	const struct labelled empty[] = {
		{ "a", "{\"instance\":\"x\",\"rack\":\"\"}",
		  "{\"instance\":\"a:1\",\"rack\":\"\",\"target_instance\":\"x\"}" },
		{ "b", "{\"__meta\":\"m\",\"instance\":\"x\"}",
		  "{\"__meta\":\"m\",\"instance\":\"b:1\",\"target_instance\":\"x\"}" },
		{}
	};
	const struct labelled plain[] = {
		{ "a", "{\"a.b\":\"1\",\"instance\":\"x\"}",
		  "{\"a.b\":\"1\",\"instance\":\"a:1\",\"target_instance\":\"x\"}" },
		{ "b", "{\"a_b\":\"1\",\"instance\":\"x\"}",
		  "{\"a_b\":\"1\",\"instance\":\"b:1\",\"target_instance\":\"x\"}" },
		{}
	};
	/* Receivers get this label where none was given. */
	const struct labelled job[] = {
		{ "a", "{\"instance\":\"x\",\"job\":\"dart\"}",
		  "{\"instance\":\"a:1\",\"job\":\"dart\",\"target_instance\":\"x\"}" },
		{ "b", "{\"instance\":\"x\"}", "{\"instance\":\"b:1\",\"target_instance\":\"x\"}" },
		{}
	};
	const struct labelled taken[] = {
		{ "a", "{\"instance\":\"x\",\"target_instance\":\"t\"}",
		  "{\"instance\":\"a:1\",\"target_instance\":\"t\",\"target_target_instance\":\"x\"}" },
		{ "b", "{\"instance\":\"x\",\"target_instance\":\"t\"}",
		  "{\"instance\":\"b:1\",\"target_instance\":\"t\",\"target_target_instance\":\"x\"}" },
		{}
	};

	check(name, 2, "a:1 and b:1");
	check(empty, 2, "a:1 and b:1");
	check(plain, 2, "a:1 and b:1");
	check(job, 2, "a:1 and b:1");
	check(taken, 2, "a:1 and b:1");
}

static void test_different(void **state)
{
	const struct labelled labelled[] = {
		{ "a", "{\"instance\":\"x\",\"port\":\"1\"}", NULL },
		{ "b", "{\"instance\":\"x\",\"port\":\"2\"}", NULL },
		{ "c", "{\"instance\":\"x\"}", NULL },
		{ "d", "{\"rack\":\"{\\\"instance\\\":\\\"x\\\"}\"}", NULL },
		{ "e", "{\"rack\":\"{\\\"instance\\\":\\\"x\\\"}\"}", NULL },
		{ "f", "{\"a\":\",\\\"instance\\\":\\\"\",\"instance\":\"\\\\\"}", NULL },
		{ "g", NULL, NULL },
		{}
	};

	check(labelled, 0, "");
}

/* No room is left for a further label. */
static void test_full(void **state)
{
	char given[4096] = "{\"instance\":\"x\"", own[2][4096];
	struct labelled labelled[] = { { "a", given, own[0] }, { "b", given, own[1] }, {} };
	int i;

	for (i = 0; i < 63; i++)
		sprintf(given + strlen(given), ",\"l%02d\":\"1\"", i);
	strcat(given, "}");
	for (i = 0; i < 2; i++)
		sprintf(own[i], "{\"instance\":\"%c:1\"%s", 'a' + i, given + strlen("{\"instance\":\"x\""));
	check(labelled, 2, "a:1 and b:1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("have their own names as instance, and the one that they were given beside it",
		     test_equal),
		TEST("are found whatever makes their series equal", test_equal_otherwise),
		TEST("are left as they are if another label differs", test_different),
		TEST("lose the instance that they were given if there is no room for it",
		     test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
