// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of stores that come from a file: valid ones are used, others replaced. */
#include <stdio.h>

#include "agent/base/rdma_base.h"
#include "agent/store/store_kept.h"
#include "unit.h"

#define BASE	"0x2000000000200000"
#define OTHER	"0x2fffffffffe00000"

static struct store_origin read_store(const char *text)
{
	struct store_origin origin = { .fd = -1 };
	json_t *kept = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(kept);
	store_kept__read_store(kept, "paths", &origin);
	json_decref(kept);
	return origin;
}

static void test_numbers_are_used(void **state)
{
	struct store_origin origin = read_store(
		"{\"epoch\": 1795339800, \"base\": \"" BASE
		"\", \"read_base\": \"" OTHER "\"}");

	assert_true(origin.epoch == 1795339800);
	assert_true(origin.base == UINT64_C(0x2000000000200000));
	assert_true(origin.read_base == UINT64_C(0x2fffffffffe00000));
}

static void test_numbers_are_printed(void **state)
{
	struct store store = { .epoch = 17 };
	struct store_origin origin = { .fd = -1 };
	struct dart_error error;
	json_t *kept;
	int i;

	for (i = 0; i < 1000; i++) {
		assert_int_equal(rdma_base__choose(&store.written.base,
						    &error), 0);
		assert_int_equal(rdma_base__choose(&store.read.base, &error),
				 0);
		kept = store_kept__store(&store);
		store_kept__read_store(kept, "paths", &origin);
		json_decref(kept);
		assert_true(origin.epoch == 17 &&
			    origin.base == store.written.base &&
			    origin.read_base == store.read.base);
	}
}

static void test_wrong_addresses(void **state)
{
	static const char *const pairs[][2] = {
		{ BASE, BASE },
		{ BASE, "0x2000000000200001" },
		{ "0x1fffffffffe00000", OTHER },
		{ "0x3000000000000000", OTHER },
		{ "0xffffffffffe00000", OTHER },
		{ "2000000000200000", OTHER },
		{ BASE "0", OTHER },
		{ BASE " ", OTHER },
		{ "", OTHER },
		{ "0x", OTHER },
	};
	struct store_origin origin;
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		snprintf(text, sizeof(text),
			 "{\"epoch\": 5, \"base\": \"%s\", \"read_base\": \"%s\"}",
			 pairs[i][0], pairs[i][1]);
		origin = read_store(text);
		if (origin.base || origin.read_base)
			fail_msg("used: %s", text);
		assert_true(origin.epoch == 5);
	}
}

static void test_wrong_members(void **state)
{
	static const char *const texts[] = {
		"{}", "[]", "5", "null", "{\"epoch\": 5}",
		"{\"epoch\": 0, \"base\": \"" BASE "\", \"read_base\": \"" OTHER "\"}",
		"{\"epoch\": -1, \"base\": \"" BASE "\", \"read_base\": \"" OTHER "\"}",
		"{\"epoch\": 9007199254740993, \"base\": \"" BASE
		"\", \"read_base\": \"" OTHER "\"}",
		"{\"epoch\": \"5\", \"base\": \"" BASE "\", \"read_base\": \"" OTHER "\"}",
		"{\"epoch\": 5, \"base\": 5, \"read_base\": \"" OTHER "\"}",
	};
	struct store_origin origin;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		origin = read_store(texts[i]);
		if (origin.base || origin.read_base || origin.epoch)
			fail_msg("used: %s", texts[i]);
	}
}

static int32_t read_reporter(const char *text)
{
	json_t *kept = json_loads(text, 0, NULL);
	int32_t first_psn = store_kept__read_reporter(kept, "10.0.0.2");

	json_decref(kept);
	return first_psn;
}

static void test_first_psn(void **state)
{
	assert_int_equal(read_reporter("{\"first_psn\": 0}"), 0);
	assert_int_equal(read_reporter("{\"first_psn\": 16777215}"), 0xffffff);
	assert_int_equal(read_reporter("{\"first_psn\": 16777216}"),
			 REPORT_QP_PSN_ANY);
	assert_int_equal(read_reporter("{\"first_psn\": -1}"),
			 REPORT_QP_PSN_ANY);
	assert_int_equal(read_reporter("{\"first_psn\": 4294967296}"),
			 REPORT_QP_PSN_ANY);
	assert_int_equal(read_reporter("{}"), REPORT_QP_PSN_ANY);
	assert_int_equal(store_kept__read_reporter(NULL, "10.0.0.2"),
			 REPORT_QP_PSN_ANY);
}

static void test_names(void **state)
{
	const struct dart_store_geometry geometry = {
		.slots = UINT64_C(1) << 20,
		.value_length = 20,
		.checksum_bits = 32,
		.redundancy = 2,
	};
	char name[FD_STORE_NAME_MAX], prefix[FD_STORE_NAME_MAX];

	store_kept__name("paths", &geometry, name);
	assert_string_equal(name, "store-paths,20,20,32,2");
	store_kept__prefix("path", prefix);
	assert_int_not_equal(strncmp(name, prefix, strlen(prefix)), 0);
	store_kept__prefix("paths", prefix);
	assert_int_equal(strncmp(name, prefix, strlen(prefix)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the addresses and the epoch of a restored store are those that were kept",
		     test_numbers_are_used),
		TEST("all addresses that a store may have are kept",
		     test_numbers_are_printed),
		TEST("addresses that are equal, out of range or not aligned are replaced",
		     test_wrong_addresses),
		TEST("numbers of which one is missing, out of range or no number are replaced",
		     test_wrong_members),
		TEST("a first PSN is used if it has 24 bits", test_first_psn),
		TEST("the name of a store's memory has its geometry, and a shorter name is another store",
		     test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
