// SPDX-License-Identifier: GPL-2.0-only
/* Compiled P4 programs: the tables, actions and hashes that DART needs. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/switch/reports/kind.h"
#include "tools/dartctl/switch/reports/state.h"

/* Abridged output of p4c, with ' for ". */
static const char tables[] = "{'pipelines': [{'tables': ["
			     "{'name': 'dart_share', 'key': [{'match_type': 'exact'}],"
			     " 'max_size': 1024, 'actions': ['dart_assign', 'NoAction']}]},"
			     "{'tables': ["
			     "{'name': 'dart_collector', 'key': [{'match_type': 'exact'}],"
			     " 'max_size': 64, 'actions': ['NoAction', 'dart_send_to']},"
			     "{'name': 'dart_reporter', 'key': [], 'max_size': 1024,"
			     " 'actions': ['dart_report_from', 'NoAction']},"
			     "{'name': 'dart_connection', 'key': [{'match_type': 'exact'}],"
			     " 'max_size': 64, 'actions': ['dart_reliable', 'NoAction']},"
			     "{'name': 'dart_answer', 'key': [{'match_type': 'exact'}],"
			     " 'max_size': 64, 'actions': ['dart_answer_of', 'NoAction']}]}],"
			     "'register_arrays': [{'name': 'dart_psn', 'size': 64},"
			     "{'name': 'dart_state', 'size': 64},"
			     "{'name': 'dart_expected', 'size': 64},"
			     "{'name': 'dart_lost', 'size': 64},"
			     "{'name': 'dart_stops', 'size': 64}],"
			     "'actions': [{'name': 'dart_assign', 'runtime_data': ["
			     "{'bitwidth': 8}, {'bitwidth': 16}], 'primitives': []},"
			     "{'name': 'dart_send_to', 'runtime_data': ["
			     "{'bitwidth': 48}, {'bitwidth': 32}, {'bitwidth': 24},"
			     "{'bitwidth': 32}, {'bitwidth': 64}, {'bitwidth': 32},"
			     "{'bitwidth': 8}], 'primitives': []},"
			     "{'name': 'dart_report_from', 'runtime_data': ["
			     "{'bitwidth': 48}, {'bitwidth': 32}, {'bitwidth': 8},"
			     "{'bitwidth': 8}], 'primitives': []},"
			     "{'name': 'dart_reliable', 'runtime_data': [{'bitwidth': 24}],"
			     " 'primitives': []},"
			     "{'name': 'dart_answer_of', 'runtime_data': ["
			     "{'bitwidth': 8}, {'bitwidth': 16}], 'primitives': []},"
			     "{'name': 'tbl_act', 'runtime_data': [], 'primitives': [";

static const char calculations[] = "]}], 'calculations': ["
				   "{'name': 'calc', 'algo': 'crc32_custom'},"
				   "{'name': 'calc_0', 'algo': 'crc32_custom'},"
				   "{'name': 'calc_1', 'algo': 'crc32_custom'},"
				   "{'name': 'calc_2', 'algo': 'crc32_custom'},"
				   "{'name': 'calc_3', 'algo': 'crc32'}]}";

#define HASH(field, calculation) \
	"{'op': 'modify_field_with_hash_based_offset', 'parameters': [" \
	"{'type': 'field', 'value': ['scalars', '" field "']}," \
	"{'type': 'hexstr', 'value': '0x0'}," \
	"{'type': 'calculation', 'value': '" calculation "'}," \
	"{'type': 'hexstr', 'value': '0x100000000'}]}"

#define HASHES \
	HASH("userMetadata.dart.slot0", "calc") "," \
	"{'op': 'assign', 'parameters': []}," \
	HASH("write_report_slot_hash_slot1_3", "calc_0") "," \
	HASH("checksum_hash_checksum0_0", "calc_1") "," \
	HASH("share_hash_share", "calc_2") "," \
	HASH("userMetadata.cache", "calc_3")

/* Reads @tables, with @old, unless NULL, replaced by @new, and @hashes. */
static int read_program(struct switch_program *program, const char *hashes, const char *old,
			const char *new, struct dart_error *error)
{
	char text[8192];
	const char *found = old ? strstr(tables, old) : tables;
	json_t *json;
	size_t i;

	assert_non_null(found);
	snprintf(text, sizeof(text), "%.*s%s%s%s%s", (int)(found - tables), tables, old ? new : "",
		 found + (old ? strlen(old) : 0), hashes, calculations);
	for (i = 0; text[i]; i++)
		if (text[i] == '\'')
			text[i] = '"';
	json = json_loads(text, 0, NULL);
	assert_non_null(json);
	return switch_program__parse(program, &report_kind.needs, json, error);
}

static void test_good(void **state)
{
	static const struct switch_hash hashes[] = {
		{ "calc", DART_STORE_SLOT_0 },
		{ "calc_0", DART_STORE_SLOT_1 },
		{ "calc_1", DART_STORE_CHECKSUM_0 },
		{ "calc_2", DART_STORE_SHARE },
	};
	struct switch_program program;
	struct dart_error error;
	uint32_t i;

	assert_int_equal(read_program(&program, HASHES, NULL, NULL, &error), 0);
	assert_int_equal(program.hash_count, 4);
	for (i = 0; i < program.hash_count; i++) {
		assert_string_equal(program.hashes[i].name, hashes[i].name);
		assert_int_equal(program.hashes[i].polynomial, hashes[i].polynomial);
	}
	switch_program__free(&program);
}

static void test_missing(void **state)
{
	static const char *const changes[][3] = {
		{ "'dart_share'", "'share'", "table dart_share" },
		{ "exact", "lpm", "table dart_share" },
		{ "'max_size': 1024", "'max_size': 1023", "table dart_share" },
		{ "'max_size': 64", "'max_size': 63", "table dart_collector" },
		{ "'key': []", "'key': [{'match_type': 'exact'}]",
		  "table dart_reporter" },
		{ "'dart_assign', 'NoAction'", "'NoAction'",
		  "action dart_assign" },
		{ "{'bitwidth': 24}", "{'bitwidth': 32}",
		  "action dart_send_to" },
		{ "{'bitwidth': 8}]", "{'bitwidth': 8}, {'bitwidth': 8}]",
		  "action dart_send_to" },
		{ "'dart_connection'", "'connection'", "table dart_connection" },
		{ "'dart_answer_of'", "'answer_of'", "action dart_answer_of" },
		{ "'dart_lost'", "'lost'", "register dart_lost" },
		{ "'dart_psn'", "'psn'", "register dart_psn" },
		{ "'size': 64", "'size': 63", "register dart_psn" },
		{ "'pipelines'", "'others'",
		  "dart_share, table dart_collector, table dart_reporter" },
		{ "'pipelines': [", "'pipelines': [5, [], {'tables': 5}], 'x': [",
		  "table dart_reporter" },
	};
	struct switch_program program;
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		if (read_program(&program, HASHES, changes[i][0], changes[i][1], &error) != -EINVAL)
			fail_msg("not refused: %s", changes[i][1]);
		if (!strstr(error.text, changes[i][2]))
			fail_msg("%s: %s", changes[i][1], error.text);
	}
}

static void test_hashes(void **state)
{
	static const char *const unknown[] = {
		HASH("timeslot0", "calc"), HASH("slot", "calc"),   HASH("slot_0", "calc"),
		HASH("slot00", "calc"),	   HASH("slot0x", "calc"), HASH("slot0_x", "calc"),
		HASH("slot8", "calc"),	   HASH("shares", "calc"),
	};
	struct switch_program program;
	struct dart_error error;
	size_t i;

	assert_int_equal(read_program(&program, HASH("slot0", "calc"), NULL,
				      NULL, &error), -EINVAL);
	assert_non_null(strstr(error.text, "share"));
	assert_int_equal(read_program(&program, HASHES ","
				      HASH("slot2", "calc"), NULL, NULL,
				      &error), -EINVAL);
	assert_non_null(strstr(error.text, "two purposes"));
	/* One purpose twice, and other hashes, which do not count. */
	assert_int_equal(read_program(&program, HASHES ","
				      HASH("slot0_7", "calc") ","
				      HASH("slot3", "calc_3") ","
				      HASH("slot3", "absent"), NULL, NULL,
				      &error), 0);
	assert_int_equal(program.hash_count, 4);
	switch_program__free(&program);
	for (i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		assert_int_equal(read_program(&program, unknown[i], NULL, NULL, &error), -EINVAL);
		assert_non_null(strstr(error.text, "unknown purpose"));
	}
}

static void test_calculations(void **state)
{
	struct switch_program program;
	json_t *json, *list;
	struct dart_error error;
	size_t i;

	assert_int_equal(read_program(&program, HASHES, NULL, NULL, &error), 0);
	json = program.json;
	list = json_object_get(json, "calculations");
	for (i = 0; i < 1024; i++)
		json_array_append_new(list, json_null());
	assert_int_equal(switch_program__parse(&program, &report_kind.needs, json,
					      &error), -EINVAL);
	assert_non_null(strstr(error.text, "more than 1024 calculations"));
}

static void test_wishes(void **state)
{
	static const struct {
		uint32_t redundancy, checksum_bits;
		const char *message;	/* NULL: accepted */
	} wishes[] = {
		{ 1, 8, NULL },
		{ 2, 32, NULL },
		{ 3, 32, "slot2" },
		{ 2, 64, "checksum1" },
	};
	struct dart_collector list[2] = { };
	struct report_wish wish = {
		.collectors = { .list = list, .count = 2 },
	};
	struct switch_program program;
	struct dart_error error;
	size_t i;
	int ret;

	assert_int_equal(read_program(&program, HASHES, NULL, NULL, &error), 0);
	for (i = 0; i < sizeof(wishes) / sizeof(*wishes); i++) {
		list[0].geometry.checksum_bits = wishes[i].checksum_bits;
		list[1].geometry.checksum_bits = wishes[i].checksum_bits;
		list[1].geometry.redundancy = wishes[i].redundancy;
		ret = report_kind.check(&program, &wish, &error);
		assert_int_equal(!!ret, !!wishes[i].message);
		if (ret)
			assert_non_null(strstr(error.text, wishes[i].message));
	}
	switch_program__free(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("hash functions of a suitable program are found with their purposes",
		     test_good),
		TEST("a program without a table, action or register that DART needs is refused with its name",
		     test_missing),
		TEST("hashes that are missing, ambiguous or of unknown purpose are refused, and hashes of others ignored",
		     test_hashes),
		TEST("a program with more than 1024 calculations is refused", test_calculations),
		TEST("a store that needs more hash functions than the program has is refused with the missing one",
		     test_wishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
