// SPDX-License-Identifier: GPL-2.0-only
/* The data about a table that the next dartd gets: its name in the fd store, its epoch. */
#include <string.h>

#include <dart/tea.h>
#include <dart/tea_access.h>

#include "agent/tea/table_kept.h"
#include "selftests/unit/unit.h"

static void test_names(void **state)
{
	struct table_parameters parameters = {
		.geometry = {
			.rows_log2 = 17,
			.cells = 8,
			.key_length = 13,
			.value_length = 7,
			.packet_length = 1514,
		},
		.last_share = 1023,
	};
	char name[FD_STORE_NAME_MAX], longest[DART_TEA_NAME_MAX];

	table_kept__name("nat", &parameters, name);
	assert_string_equal(name, "table-nat,17,8,13,7,0-1023");
	/* The same memory fits all packets. */
	parameters.geometry.packet_length = 64;
	table_kept__name("nat", &parameters, name);
	assert_string_equal(name, "table-nat,17,8,13,7,0-1023");
	memset(longest, 'n', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	parameters = (struct table_parameters){
		.geometry = {
			.rows_log2 = DART_TEA_ROWS_LOG2_MAX,
			.cells = DART_TEA_CELLS_MAX,
			.key_length = DART_TEA_KEY_MAX,
			.value_length = DART_TEA_VALUE_MAX,
		},
		.first_share = 1023,
		.last_share = 1023,
	};
	table_kept__name(longest, &parameters, name);
	assert_string_equal(strchr(name, ','), ",28,8,64,64,1023-1023");
}

static uint32_t read_epoch(const char *text)
{
	json_t *kept = json_loads(text, 0, NULL);
	uint32_t epoch;

	assert_non_null(kept);
	epoch = table_kept__read_epoch(kept, "nat");
	json_decref(kept);
	return epoch;
}

static void test_epochs(void **state)
{
	static const char *const wrong[] = {
		"{}", "{\"epoch\": 0}", "{\"epoch\": -1}",
		"{\"epoch\": 16777216}", "{\"epoch\": 4294967297}",
		"{\"epoch\": \"1\"}", "{\"epoch\": 1.5}", "[]", "[1]",
	};
	json_t *kept = table_kept__table(DART_TEA_EPOCH_MAX);
	size_t i;

	assert_int_equal(table_kept__read_epoch(kept, "nat"), DART_TEA_EPOCH_MAX);
	json_decref(kept);
	assert_int_equal(table_kept__read_epoch(NULL, "nat"), 0);
	assert_int_equal(read_epoch("{\"epoch\": 1}"), 1);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (read_epoch(wrong[i]))
			fail_msg("taken: %s", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the name of a table's memory has its geometry and its shares, and fits",
		     test_names),
		TEST("an epoch is kept, and an impossible one is not used", test_epochs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
