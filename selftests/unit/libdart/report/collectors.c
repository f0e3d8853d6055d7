// SPDX-License-Identifier: GPL-2.0-only
/* Files of collectors: valid files are read, others are refused. */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/error.h>
#include <libdart/report/collectors.h>

#include "selftests/unit/unit.h"

#define OURS	"10.0.0.2"

static const char first[] = "{\"name\": \"paths\", \"reporter\": \"" OURS "\","
	"\"mac\": \"52:54:00:00:00:01\", \"ip\": \"10.0.0.1\", \"qpn\": 17,"
	"\"rkey\": 4660, \"base\": \"0x3a5f00000000\", \"slots_log2\": 20,"
	"\"value_length\": 20, \"checksum_bits\": 32, \"redundancy\": 2,"
	"\"first_psn\": 16777215}";

/* The first entry, with members replaced or added by @changes. */
static json_t *line(const char *changes)
{
	json_t *json = json_loads(first, 0, NULL);
	json_t *changed = json_loads(changes, 0, NULL);

	assert_non_null(json);
	assert_non_null(changed);
	json_object_update(json, changed);
	json_decref(changed);
	return json;
}

static void write_file(char *path, const char *text)
{
	int file;

	strcpy(path, "/tmp/collectors.XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
}

/* Loads two files, of which the second may be NULL. */
static int load_texts(const char *text, const char *more, struct dart_collectors *collectors,
		      struct dart_error *error)
{
	char names[2][32];
	const char *paths[] = { names[0], names[1] };
	struct in_addr reporter;
	int ret;

	inet_pton(AF_INET, OURS, &reporter);
	write_file(names[0], text);
	if (more)
		write_file(names[1], more);
	ret = dart_collectors__load(paths, more ? 2 : 1, reporter, collectors, error);
	unlink(names[0]);
	if (more)
		unlink(names[1]);
	return ret;
}

/* A file whose entries are copies of the first, each with one of @changes; the caller frees it. */
static char *file_of(const char *const *changes, size_t count)
{
	json_t *list = json_array(), *file;
	char *text;
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, line(changes[i]));
	file = json_pack("{s:i, s:o}", "dart_collectors", 1, "collectors", list);
	text = json_dumps(file, 0);
	json_decref(file);
	return text;
}

static int load(const char *const *changes, size_t count,
		struct dart_collectors *collectors, struct dart_error *error)
{
	char *text = file_of(changes, count);
	int ret;

	ret = load_texts(text, NULL, collectors, error);
	if (!ret) {
		char *saved;

		/* As an editor of Windows saves it. */
		dart_collectors__free(collectors);
		assert_true(asprintf(&saved, "\xef\xbb\xbf%s\r\n", text) > 0);
		ret = load_texts(saved, NULL, collectors, error);
		free(saved);
	}
	free(text);
	return ret;
}

#define LOAD(collectors, error, ...)                                   \
	load((const char *const[]){ __VA_ARGS__ },                     \
	     sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
	     collectors, error)

static void test_entry(void **state)
{
	struct dart_collectors collectors;
	const struct dart_collector *collector;
	struct dart_error error;
	json_t *json, *given;
	int share;

	assert_int_equal(
		LOAD(&collectors, &error, "{}", "{\"reporter\": \"10.0.0.3\", \"qpn\": 18}"), 0);
	assert_int_equal(collectors.count, 1);
	collector = collectors.list;
	assert_string_equal(collector->name, "paths");
	assert_int_equal(ntohl(collector->reporter.s_addr), 0x0a000002);
	assert_int_equal(ntohl(collector->ip.s_addr), 0x0a000001);
	assert_memory_equal(collector->mac, "\x52\x54\x00\x00\x00\x01", 6);
	assert_int_equal(collector->qpn, 17);
	assert_int_equal(collector->rkey, 4660);
	assert_int_equal(collector->first_psn, 0xffffff);
	assert_true(collector->base == 0x3a5f00000000);
	assert_int_equal(collector->geometry.slots, 1 << 20);
	assert_int_equal(collector->geometry.value_length, 20);
	assert_int_equal(collector->geometry.checksum_bits, 32);
	assert_int_equal(collector->geometry.redundancy, 2);
	for (share = 0; share < DART_STORE_SHARES; share++)
		assert_int_equal(collectors.shares[share], 0);

	json = dart_collector__to_json(collector);
	given = json_loads(first, 0, NULL);
	assert_true(json_equal(json, given));
	json_decref(given);
	json_decref(json);
	dart_collectors__free(&collectors);
}

/* Files of older agents lack both. */
static void test_epoch(void **state)
{
	struct dart_collectors collectors;
	struct dart_error error;
	json_t *json;

	assert_int_equal(LOAD(&collectors, &error, "{}", "{\"qpn\": 18, \"epoch\": 1795339800, \"dscp\": 46}"),
			 0);
	assert_int_equal(collectors.list[0].epoch, 0);
	assert_int_equal(collectors.list[1].epoch, 1795339800);
	json = dart_collector__to_json(&collectors.list[1]);
	assert_int_equal(json_integer_value(json_object_get(json, "epoch")), 1795339800);
	assert_int_equal(collectors.list[0].dscp, 0);
	assert_int_equal(collectors.list[1].dscp, 46);
	assert_int_equal(json_integer_value(json_object_get(json, "dscp")), 46);
	json_decref(json);
	dart_collectors__free(&collectors);
}

static void test_transport(void **state)
{
	struct dart_collectors collectors;
	struct dart_error error;
	json_t *json;

	assert_int_equal(LOAD(&collectors, &error, "{\"transport\": \"uc\"}",
			      "{\"qpn\": 18, \"transport\": \"rc\"}", "{\"qpn\": 19}"), 0);
	assert_false(collectors.list[0].is_reliable);
	assert_true(collectors.list[1].is_reliable);
	assert_false(collectors.list[2].is_reliable);
	json = dart_collector__to_json(&collectors.list[1]);
	assert_string_equal(json_string_value(json_object_get(json, "transport")), "rc");
	json_decref(json);
	json = dart_collector__to_json(&collectors.list[2]);
	assert_null(json_object_get(json, "transport"));
	json_decref(json);
	dart_collectors__free(&collectors);
	assert_int_equal(LOAD(&collectors, &error, "{\"transport\": \"ud\"}"), -EINVAL);
	assert_non_null(strstr(error.text, "transport 'ud' is neither uc nor rc"));
	assert_int_equal(LOAD(&collectors, &error, "{\"transport\": 1}"), -EINVAL);
}

static void test_redundancy_max(void **state)
{
	struct dart_collectors collectors;
	struct dart_error error;
	json_t *json;

	assert_int_equal(LOAD(&collectors, &error, "{}", "{\"qpn\": 18, \"redundancy_max\": 8}"), 0);
	assert_int_equal(dart_collector__redundancy_max(&collectors.list[0]), 2);
	assert_int_equal(collectors.list[1].geometry.redundancy, 2);
	assert_int_equal(dart_collector__redundancy_max(&collectors.list[1]), 8);
	json = dart_collector__to_json(&collectors.list[1]);
	assert_int_equal(json_integer_value(json_object_get(json, "redundancy_max")), 8);
	json_decref(json);
	dart_collectors__free(&collectors);
	assert_int_equal(LOAD(&collectors, &error, "{\"redundancy_max\": 1}"), -EINVAL);
	assert_int_equal(LOAD(&collectors, &error, "{\"redundancy_max\": 9}"), -EINVAL);
}

static void test_equal_shares(void **state)
{
	uint32_t shares[3] = { 0 }, share;
	struct dart_collectors collectors;
	struct dart_error error;

	assert_int_equal(LOAD(&collectors, &error, "{}", "{\"qpn\": 18}",
			      "{\"ip\": \"10.0.0.9\", \"slots_log2\": 3}"),
			 0);
	assert_int_equal(collectors.count, 3);
	for (share = 0; share < DART_STORE_SHARES; share++) {
		shares[collectors.shares[share]]++;
		if (share)
			assert_true(collectors.shares[share] >= collectors.shares[share - 1]);
	}
	for (share = 0; share < 3; share++)
		assert_in_range(shares[share], 341, 342);
	dart_collectors__free(&collectors);
}

static void test_given_shares(void **state)
{
	struct dart_collectors collectors;
	struct dart_error error;

	assert_int_equal(LOAD(&collectors, &error, "{\"shares\": \"0-511,600\"}",
			      "{\"qpn\": 18, \"shares\": \"1023\"}"),
			 0);
	assert_int_equal(collectors.shares[0], 0);
	assert_int_equal(collectors.shares[511], 0);
	assert_int_equal(collectors.shares[512], DART_COLLECTOR_NONE);
	assert_int_equal(collectors.shares[600], 0);
	assert_int_equal(collectors.shares[1022], DART_COLLECTOR_NONE);
	assert_int_equal(collectors.shares[1023], 1);
	dart_collectors__free(&collectors);
}

static void test_several_files(void **state)
{
	struct dart_collectors collectors;
	struct dart_error error;
	char text[2][1024];
	int i;

	for (i = 0; i < 2; i++) {
		json_t *json = line(i ? "{\"qpn\": 18}" : "{}");
		char *one = json_dumps(json, 0);

		snprintf(text[i], sizeof(text[i]), "{\"dart_collectors\": 1, \"collectors\": [%s]}",
			 one);
		free(one);
		json_decref(json);
	}
	assert_int_equal(load_texts(text[0], text[1], &collectors, &error), 0);
	assert_int_equal(collectors.count, 2);
	assert_int_equal(collectors.shares[0], 0);
	assert_int_equal(collectors.shares[1023], 1);
	dart_collectors__free(&collectors);
	assert_int_equal(load_texts(text[0], text[0], &collectors, &error), -EINVAL);
	assert_non_null(strstr(error.text, "twice"));
}

/* INADDR_ANY stands for the only reporter in the file. */
static void test_any_reporter(void **state)
{
	const struct in_addr any = { INADDR_ANY };
	struct dart_collectors collectors;
	struct dart_error error;
	json_t *file;

	file = json_pack("{s:i, s:[o, o]}", "dart_collectors", 1, "collectors",
			 line("{\"reporter\": \"10.0.0.7\"}"),
			 line("{\"reporter\": \"10.0.0.7\", \"qpn\": 18}"));
	assert_int_equal(dart_collectors__take(file, "it", any, &collectors, &error), 0);
	assert_int_equal(collectors.count, 2);
	dart_collectors__free(&collectors);
	json_array_append_new(json_object_get(file, "collectors"), line("{}"));
	assert_int_equal(dart_collectors__take(file, "it", any, &collectors, &error), -EINVAL);
	assert_non_null(strstr(error.text, "it: collectors[2]: another reporter"));
	json_array_clear(json_object_get(file, "collectors"));
	assert_int_equal(dart_collectors__take(file, "it", any, &collectors, &error), -ENOENT);
	json_decref(file);
}

static void test_refused_entries(void **state)
{
	static const char *const changes[] = {
		"{\"name\": \"\"}", "{\"name\": 5}",
		"{\"name\": \"0123456789012345678901234567890123456789012345678901234567890123\"}",
		"{\"reporter\": \"10.0.0\"}", "{\"reporter\": \"0.0.0.0\"}",
		"{\"ip\": \"::1\"}", "{\"ip\": \"224.0.0.1\"}",
		"{\"ip\": \"255.255.255.255\"}",
		"{\"mac\": \"52:54:00:00:00\"}",
		"{\"mac\": \"52:54:00:00:00:0g\"}",
		"{\"mac\": \"52:54:00:00:00:0\"}",
		"{\"mac\": \"52:54:00:00:00::1\"}",
		"{\"mac\": \"53:54:00:00:00:01\"}",
		"{\"qpn\": 1}", "{\"qpn\": 16777216}", "{\"qpn\": -17}",
		"{\"qpn\": 17.0}", "{\"qpn\": \"17\"}", "{\"qpn\": null}",
		"{\"rkey\": -1}", "{\"rkey\": 4294967296}",
		"{\"base\": 5}", "{\"base\": \"17\"}", "{\"base\": \"0x\"}",
		"{\"base\": \"0x-1\"}", "{\"base\": \"0x 1\"}",
		"{\"base\": \"0x12345678901234567\"}",
		"{\"base\": \"0xfffffffffffffff0\"}",
		"{\"slots_log2\": -1}", "{\"slots_log2\": 33}",
		"{\"slots_log2\": 64}",
		"{\"value_length\": 3}", "{\"value_length\": 65}",
		"{\"value_length\": 4294967316}",
		"{\"checksum_bits\": 0}", "{\"checksum_bits\": 24}",
		"{\"checksum_bits\": 4294967328}",
		"{\"redundancy\": 0}", "{\"redundancy\": 9}",
		"{\"redundancy\": 4294967298}",
		"{\"first_psn\": -1}", "{\"first_psn\": 16777216}",
		"{\"epoch\": -1}", "{\"epoch\": 9007199254740993}",
		"{\"epoch\": \"1\"}", "{\"dscp\": 64}", "{\"dscp\": -1}",
		"{\"shares\": \"\"}", "{\"shares\": \"1024\"}",
		"{\"shares\": \"5-3\"}", "{\"shares\": \"1-\"}",
		"{\"shares\": \"-1\"}", "{\"shares\": \"1,\"}",
		"{\"shares\": \",1\"}", "{\"shares\": \"1 2\"}",
		"{\"shares\": \"99999999999999999999\"}",
		"{\"shares\": \"0-5,5\"}", "{\"shares\": 5}",
		"{\"unknown\": 5}",
	};
	struct dart_collectors collectors;
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		if (load(&changes[i], 1, &collectors, &error) != -EINVAL)
			fail_msg("not refused: %s", changes[i]);
		assert_non_null(strstr(error.text, "collectors[0]: "));
		assert_null(collectors.list);
	}
	assert_int_equal(LOAD(&collectors, &error, "{\"reporter\": \"10.0.0.3\"}"), -ENOENT);
	assert_non_null(strstr(error.text, OURS));
}

static void test_refused_together(void **state)
{
	static const char *const changes[][3] = {
		{ "{}", "{}", "occurs twice" },
		{ "{}", "{\"qpn\": 18, \"value_length\": 8}", "value_length" },
		{ "{}", "{\"qpn\": 18, \"checksum_bits\": 64}", "checksum_bits" },
		{ "{\"shares\": \"5\"}", "{\"qpn\": 18}", "or none" },
		{ "{}", "{\"qpn\": 18, \"shares\": \"5\"}", "or none" },
		{ "{\"shares\": \"5-10\"}", "{\"qpn\": 18, \"shares\": \"0-5\"}", "share 5 has" },
	};
	struct dart_collectors collectors;
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		assert_int_equal(load(changes[i], 2, &collectors, &error), -EINVAL);
		assert_non_null(strstr(error.text, changes[i][2]));
	}
}

static void test_refused_files(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "5",
		"{\"dart_collectors\": 2, \"collectors\": []}",
		"{\"dart_collectors\": 1, \"collectors\": {}}",
		"{\"dart_collectors\": 1, \"collectors\": [5]}",
		"{\"dart_collectors\": 1, \"collectors\": [{}]}",
		"{\"dart_collectors\": 1, \"dart_collectors\": 1, \"collectors\": []}",
		"{\"dart_collectors\": 1, \"collectors\": [], \"more\": 1}",
	};
	struct dart_collectors collectors;
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(load_texts(texts[i], NULL, &collectors, &error), -EINVAL);
	assert_int_equal(dart_collectors__load((const char *const[]){ "/nonexistent/file" }, 1,
					       (struct in_addr){ 1 }, &collectors, &error),
			 -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent/file"));
}

/* A file of shares beside two collectors without shares of their own. */
static void test_history(void **state)
{
#define SHARES_OF(store, moves) \
	"{\"dart_shares\": 1, \"store\": \"" store "\", \"moves\": [" moves "]}"
#define MOVE(shares, collector, since) \
	"{\"shares\": \"" shares "\", \"collector\": \"" collector "\", \"since_ms\": " since "}"
	static const char *const refused[][2] = {
		{ SHARES_OF("paths", MOVE("7", "10.0.0.3", "1")), "share 7 is with collector 10.0.0.3" },
		{ SHARES_OF("drops", MOVE("7", "10.0.0.1", "1")), "store 'drops'" },
		{ SHARES_OF("paths", "1"), "moves[0]" },
	};
	static const char *const two[] = { "{}", "{\"ip\": \"10.0.0.3\", \"qpn\": 18}" };
	static const char *const same[] = { "{}", "{\"qpn\": 18}" };
	static const char *const own[] = { "{\"shares\": \"7\"}" };
	struct dart_collectors collectors;
	struct dart_error error;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		text = file_of(two, i ? 2 : 1);
		assert_int_equal(load_texts(text, refused[i][0], &collectors, &error), -EINVAL);
		assert_non_null(strstr(error.text, refused[i][1]));
		free(text);
	}
	/* Which of two stores of an address has the share is unknown. */
	text = file_of(same, 2);
	assert_int_equal(load_texts(text, SHARES_OF("paths", MOVE("7", "10.0.0.1", "1")),
				    &collectors, &error), -EINVAL);
	free(text);
	text = file_of(own, 1);
	assert_int_equal(load_texts(text, SHARES_OF("paths", MOVE("7", "10.0.0.1", "1")),
				    &collectors, &error), -EINVAL);
	assert_non_null(strstr(error.text, "in their own files"));
	free(text);

	text = file_of(two, 2);
	assert_int_equal(load_texts(SHARES_OF("paths", MOVE("0-9", "10.0.0.1", "1") ","
						       MOVE("5", "10.0.0.3", "2")),
				    text, &collectors, &error), 0);
	free(text);
	assert_int_equal(collectors.count, 2);
	for (i = 0; i < DART_STORE_SHARES; i++)
		assert_int_equal(collectors.shares[i], i == 5 ? 1 : i < 10 ? 0 :
							   DART_COLLECTOR_NONE);
	dart_collectors__free(&collectors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an entry is read back whole, and entries of other reporters are left out",
		     test_entry),
		TEST("epoch and DSCP of a collector are read and printed, and may be missing",
		     test_epoch),
		TEST("the transport is uc, rc, or not given, which means uc", test_transport),
		TEST("redundancy_max is optional, and not below the redundancy", test_redundancy_max),
		TEST("collectors without shares get equal, contiguous ones", test_equal_shares),
		TEST("shares that the file gives are kept, and all others have no collector",
		     test_given_shares),
		TEST("a file of shares says which collector has which, and must fit the collectors",
		     test_history),
		TEST("collectors of two files add up, and the same one in both is refused",
		     test_several_files),
		TEST("without an address, the only reporter in the file is taken, and two are refused",
		     test_any_reporter),
		TEST("an entry with a wrong, out-of-range or unknown member is refused, named by its index",
		     test_refused_entries),
		TEST("collectors that contradict each other are refused, with the member that differs",
		     test_refused_together),
		TEST("a file that does not exist, is not JSON or has another layout is refused",
		     test_refused_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
