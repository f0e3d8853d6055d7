// SPDX-License-Identifier: GPL-2.0-only
/* The request for a source plan, over a module that the test plays: the windows that it opens. */
#include <bpf/btf.h>

#include "agent/table/source_plan.h"
#include "registry_module.h"

#define ROOM 16384

/* Types of a kernel with the one variable. */
static struct btf *types(void)
{
	struct btf *btf = btf__new_empty();
	int number;

	assert_non_null(btf);
	number = btf__add_int(btf, "unsigned int", 4, 0);
	assert_true(btf__add_struct(btf, WINDOW_TYPE, WINDOW_LENGTH) > 0);
	assert_int_equal(btf__add_field(btf, "processed", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "time_squeeze", number, 64, 0), 0);
	return btf;
}

static int open_of(enum dart_control_exposure mode)
{
	open_registry(mode, ROOM);
	registry.schemas.types = types();
	return 0;
}

static int open_exact(void **state)
{
	return open_of(DART_CONTROL_EXPOSURE_EXACT);
}

static int open_page(void **state)
{
	return open_of(DART_CONTROL_EXPOSURE_PAGE);
}

static int close_all(void **state)
{
	close_registry();
	return 0;
}

/* The plan of @source every @interval, a new reference; NULL: *@error says why there is none. */
static json_t *ask(const char *source, const char *interval, int *ret, struct dart_error *error)
{
	struct request request = {
		.subject = &registry,
		.members = json_pack("{s:s, s:s}", "source", source, "interval", interval),
		.fd = -1,
	};

	*ret = source_plan_requests[0].handle(&request);
	*error = request.error;
	json_decref(request.members);
	return request.result;
}

/* Asks, and checks that neither the table nor the region have changed. */
static json_t *plan(const char *source, const char *interval)
{
	const uint64_t generation = control_region.generation;
	const uint32_t entries = published_count(), window = module.window;
	struct dart_error error;
	json_t *reply;
	int ret;

	reply = ask(source, interval, &ret, &error);
	if (ret)
		fail_msg("%s", error.text);
	assert_non_null(reply);
	assert_int_equal(control_region.generation, generation);
	assert_int_equal(published_count(), entries);
	assert_int_equal(module.window, window);
	return reply;
}

/* The number @path, such as "direct.reads", of a plan. */
static json_int_t number(const json_t *reply, const char *way, const char *member)
{
	const json_t *value = json_object_get(json_object_get(reply, way), member);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

/* Two runs of 4 bytes on each CPU, and a row of 64 bytes for each. */
static void assert_of_the_window(json_t *reply)
{
	const json_int_t copies = number(reply, "direct", "copies");

	assert_int_equal(copies, region.cpus);
	assert_int_equal(number(reply, "direct", "runs"), 2);
	assert_int_equal(number(reply, "direct", "reads"), 2 * copies);
	assert_int_equal(number(reply, "direct", "bytes"), 8 * copies);
	assert_null(json_object_get(json_object_get(reply, "direct"), "at_most"));
	assert_in_range(number(reply, "gathered", "rows"), 1, region.cpus);
	assert_int_equal(number(reply, "gathered", "row_bytes"), 64);
	assert_int_equal(number(reply, "gathered", "reads"), 1);
	assert_true(number(reply, "gathered", "pass_ns") > 0);
	json_decref(reply);
}

static void test_new(void **state)
{
	assert_of_the_window(plan("softnet", "1s"));
	assert_of_the_window(plan("softnet", "1ms"));
	assert_int_equal(module.windows, 2);
	assert_int_equal(module.window, 0);
}

static void test_known(void **state)
{
	struct selector_choice choice = { .fd = -1 };
	struct selector selector;
	struct dart_error error;
	struct entry *entry;

	assert_int_equal(selector__choose(&selector, source__find("softnet"), &choice, &error), 0);
	assert_int_equal(registry__add_source(&registry, &selector, NULL, &entry, &error), 0);
	selector__close(&selector);
	assert_of_the_window(plan("softnet", "1s"));
	assert_int_equal(registry__remove(&registry, entry, &error), 0);
	/* The entry is on lease. */
	assert_of_the_window(plan("softnet", "1s"));
	assert_int_equal(module.windows, 1);
	end_leases();
	assert_of_the_window(plan("softnet", "1s"));
	assert_int_equal(module.windows, 2);
}

static const char *first_reason(const json_t *reply)
{
	return json_string_value(json_array_get(json_object_get(reply, "reasoning"), 0));
}

static void assert_only_gathered(json_t *reply, const char *gather, const char *why)
{
	assert_null(json_object_get(reply, "direct"));
	assert_string_equal(json_string_value(json_object_get(reply, "way")), "gathered");
	assert_string_equal(json_string_value(json_object_get(reply, "gather")), gather);
	assert_null(json_object_get(json_object_get(reply, "gathered"), "pass_ns"));
	assert_non_null(strstr(first_reason(reply), why));
	json_decref(reply);
}

static void test_forbidden(void **state)
{
	module.window_error = EACCES;
	assert_only_gathered(plan("softnet", "1s"), "1s",
			     "impossible: dart_zero was loaded with windows=0");
	module.window_error = ENOSPC;
	assert_only_gathered(plan("softnet", "1ms"), "10ms", "impossible: the region is full");
}

static void test_sample(void **state)
{
	assert_only_gathered(plan("memory", "100ms"), "100ms", "does not keep the values of memory");
	assert_int_equal(module.windows, 0);
}

/* The host has no such counters at all. */
static void test_absent(void **state)
{
	struct dart_error error;
	int ret;

	module.window_error = EOPNOTSUPP;
	assert_null(ask("softnet", "1s", &ret, &error));
	assert_int_equal(ret, -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "does not have these counters"));
}

/* The region has the counters, and no entry that could tell. */
static void test_leaving(void **state)
{
	struct dart_error error;
	int ret;

	module.window = UINT32_MAX;
	assert_null(ask("softnet", "1s", &ret, &error));
	assert_int_equal(ret, -EBUSY);
	assert_non_null(strstr(error.text, "about to leave"));
}

static void test_page(void **state)
{
	json_t *reply = plan("softnet", "1s");

	assert_true(json_is_true(json_object_get(json_object_get(reply, "direct"), "at_most")));
	assert_int_equal(number(reply, "direct", "reads"), 1);
	assert_int_equal(number(reply, "direct", "bytes"),
			 (region.cpus - 1) * STRIDE + WINDOW_LENGTH);
	json_decref(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a plan opens a window for a moment only", test_new, open_exact, close_all),
		TEST_FIXTURE("a plan looks at counters that are registered or on lease", test_known,
			  open_exact, close_all),
		TEST_FIXTURE("windows that are forbidden, or have no room, are the reason to gather",
			  test_forbidden, open_exact, close_all),
		TEST_FIXTURE("a plan for a sample opens no window", test_sample, open_exact, close_all),
		TEST_FIXTURE("counters that the kernel lacks have no plan", test_absent, open_exact,
			  close_all),
		TEST_FIXTURE("counters of an entry that is about to leave have no plan yet",
			  test_leaving, open_exact, close_all),
		TEST_FIXTURE("with page exposure the window is one READ", test_page, open_page,
			  close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
