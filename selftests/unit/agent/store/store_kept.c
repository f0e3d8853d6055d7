// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of stores from a file: valid numbers are used, others replaced. */
#include <stdio.h>

#include "agent/base/rdma_base.h"
#include "agent/rdma/kept_memory.h"
#include "agent/rdma/report_kept.h"
#include "agent/store/store_kept.h"
#include "selftests/unit/unit.h"

#define BASE	"0x2000000000200000"
#define OTHER	"0x2fffffffffe00000"

static struct remote_origin read_store(const char *text)
{
	struct remote_origin origin = { .fd = -1 };
	json_t *kept = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(kept);
	report_kept__read_object(kept, STORE_NOUN, "paths", &origin);
	json_decref(kept);
	return origin;
}

static void test_numbers_are_used(void **state)
{
	struct remote_origin origin =
		read_store("{\"epoch\": 1795339800, \"read_base\": \"" OTHER "\"}");

	assert_true(origin.epoch == 1795339800);
	assert_true(origin.read_base == UINT64_C(0x2fffffffffe00000));
}

static void test_numbers_are_printed(void **state)
{
	uint64_t base;
	struct remote_origin origin = { .fd = -1 };
	struct dart_error error;
	json_t *kept;
	int i;

	for (i = 0; i < 1000; i++) {
		assert_int_equal(rdma_base__choose(&base, &error), 0);
		kept = report_kept__object(17, base);
		report_kept__read_object(kept, STORE_NOUN, "paths", &origin);
		json_decref(kept);
		assert_true(origin.epoch == 17 && origin.read_base == base);
	}
}

static const char *const wrong_bases[] = {
	"0x2000000000200001", "0x1fffffffffe00000", "0x3000000000000000",
	"0xffffffffffe00000", "2000000000200000", BASE "0", BASE " ", "", "0x",
};
#define WRONG_BASES (sizeof(wrong_bases) / sizeof(wrong_bases[0]))

static void test_wrong_addresses(void **state)
{
	struct remote_origin origin;
	char text[256];
	size_t i;

	for (i = 0; i < WRONG_BASES; i++) {
		snprintf(text, sizeof(text), "{\"epoch\": 5, \"read_base\": \"%s\"}",
			 wrong_bases[i]);
		origin = read_store(text);
		if (origin.read_base)
			fail_msg("used: %s", text);
		assert_true(origin.epoch == 5);
	}
}

static void test_wrong_members(void **state)
{
	static const char *const texts[] = {
		"{}", "[]", "5", "null", "{\"epoch\": 5}",
		"{\"epoch\": 0, \"read_base\": \"" OTHER "\"}",
		"{\"epoch\": -1, \"read_base\": \"" OTHER "\"}",
		"{\"epoch\": 9007199254740993, \"read_base\": \"" OTHER "\"}",
		"{\"epoch\": \"5\", \"read_base\": \"" OTHER "\"}",
		"{\"epoch\": 5, \"read_base\": 5}",
	};
	struct remote_origin origin;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		origin = read_store(texts[i]);
		if (origin.read_base || origin.epoch)
			fail_msg("used: %s", texts[i]);
	}
}

static struct report_qp_origin read_reporter(const char *text)
{
	struct report_qp_origin origin;
	json_t *kept = text ? json_loads(text, 0, NULL) : NULL;

	report_kept__read_reporter(kept, "reporter", "10.0.0.2", &origin);
	json_decref(kept);
	return origin;
}

static void test_first_psn(void **state)
{
	static const char *const wrong[] = {
		"{\"first_psn\": 16777216}", "{\"first_psn\": -1}",
		"{\"first_psn\": 4294967296}", "{}", NULL,
	};
	size_t i;

	assert_int_equal(read_reporter("{\"first_psn\": 0}").first_psn, 0);
	assert_int_equal(read_reporter("{\"first_psn\": 16777215}").first_psn, 0xffffff);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(read_reporter(wrong[i]).first_psn, REPORT_QP_PSN_ANY);
}

static void test_reporter_address(void **state)
{
	struct report_qp report_qp = { .first_psn = 5 };
	struct report_qp_origin origin;
	struct dart_error error;
	char text[128];
	json_t *kept;
	size_t i;

	assert_int_equal(rdma_base__choose(&report_qp.view.base, &error), 0);
	kept = report_kept__reporter(report_qp.first_psn, report_qp.view.base);
	report_kept__read_reporter(kept, "reporter", "10.0.0.2", &origin);
	json_decref(kept);
	assert_int_equal(origin.first_psn, 5);
	assert_true(origin.base == report_qp.view.base);

	assert_true(!read_reporter("{\"first_psn\": 5}").base);
	for (i = 0; i < WRONG_BASES; i++) {
		snprintf(text, sizeof(text), "{\"first_psn\": 5, \"base\": \"%s\"}",
			 wrong_bases[i]);
		origin = read_reporter(text);
		if (origin.base || origin.first_psn != 5)
			fail_msg("used: %s", text);
	}
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
	kept_memory__prefix(STORE_NOUN, "path", prefix);
	assert_int_not_equal(strncmp(name, prefix, strlen(prefix)), 0);
	kept_memory__prefix(STORE_NOUN, "paths", prefix);
	assert_int_equal(strncmp(name, prefix, strlen(prefix)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the addresses and the epoch of a restored store are those that were kept",
		     test_numbers_are_used),
		TEST("all addresses that a store may have are kept", test_numbers_are_printed),
		TEST("addresses that are out of range or not aligned are replaced",
		     test_wrong_addresses),
		TEST("numbers of which one is missing, out of range or no number are replaced",
		     test_wrong_members),
		TEST("a first PSN is used if it has 24 bits", test_first_psn),
		TEST("the address at which a reporter writes is kept, and an impossible one is replaced",
		     test_reporter_address),
		TEST("the name of a store's memory has its geometry, and a shorter name is another store",
		     test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
