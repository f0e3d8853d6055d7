// SPDX-License-Identifier: GPL-2.0-only
/* Registrations as a configuration file: the printed file loads again. */
#include "configuration_files.h"

#define ROUNDS 500

static uint64_t seed = 1;

/* Prints @registrations to f.yaml and loads it. */
static int print_and_load(const json_t *registrations)
{
	FILE *file = fopen("f.yaml", "w");
	int ret;

	assert_non_null(file);
	ret = dart_configuration__print(file, registrations, &error);
	fclose(file);
	if (ret < 0)
		return ret;
	dart_configuration__close(&configuration);
	if (dart_configuration__load(&configuration, "f.yaml", &error))
		fail_msg("%s", error.text);
	return ret;
}

/* As the items were registrations. */
static json_t *registrations_of_items(void)
{
	const struct dart_configuration_item *item;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < configuration.item_count; i++) {
		item = &configuration.items[i];
		json_array_append_new(list, json_pack("{s:O, s:s*, s:i, s:s}", "request",
						      item->request, "path", item->path, "owner", 0,
						      "origin", "command"));
	}
	return list;
}

/* A name that occurs once, often with characters that YAML gives a meaning. */
static const char *name_of(char *name, const char *start, int index)
{
	static const char *const parts[] = {
		"a",  "B7", "-",  "_",	".",  ":",    "/x",	"@",
		"+",  "=",  "%",  "~",	" ",  "#",    ": ",	" #",
		"'",  "\"", "\\", "{}", "[]", ",",    "\xc3\xa9",
		"\xf0\x9f\x98\x80", "2^",   "null", "true", "*",	"&",
		"!",  "|",  ">",
	};
	int i;

	strcpy(name, start);
	for (i = random__below(&seed, 6); i > 0; i--)
		strcat(name, parts[random__below(&seed, sizeof(parts) / sizeof(parts[0]))]);
	sprintf(name + strlen(name), "%d", index);
	return name;
}

/* A label, and its path or another path. */
static void set_object(json_t *registration, const char *member, const char *directory, int index)
{
	json_t *request = json_object_get(registration, "request");
	char label[256], path[512];

	name_of(label, strcmp(member, "cgroup") ? "" : "/", index);
	if (random__below(&seed, 2))
		snprintf(path, sizeof(path), "%s/%s", directory, label);
	else
		name_of(path, "/", index);
	json_object_set_new(request, member, json_string(label));
	json_object_set_new(registration, "path", json_string(path));
}

static json_t *new_source(int index)
{
	char name[256];
	json_t *registration = json_pack("{s:{s:s, s:s}}", "request", "request", "register-source",
					 "source", name_of(name, "", index));
	json_t *request = json_object_get(registration, "request");

	switch (random__below(&seed, 6)) {
	case 0:
		json_object_set_new(request, "request", json_string("follow-source"));
		if (random__below(&seed, 2))
			set_object(registration, "cgroup", "/sys/fs/cgroup", index);
		break;
	case 1:
		set_object(registration, "disk", "/dev", index);
		break;
	case 2:
		set_object(registration, "cgroup", "/sys/fs/cgroup", index);
		break;
	case 3:
		set_object(registration, "netns", "/run/netns", index);
		if (random__below(&seed, 2))
			break;
		/* fallthrough */
	case 4:
		json_object_set_new(request, "netdev", json_string(name_of(name, "", index)));
		break;
	}
	return registration;
}

static json_t *new_map(int index)
{
	char path[256], name[256];

	return json_pack("{s:{s:s, s:s*}, s:s}", "request", "request", "register-map", "name",
			 random__below(&seed, 2) ? name_of(name, "", index) : NULL, "path",
			 name_of(path, "/", index));
}

static json_t *new_counters(int index)
{
	json_t *names = json_array();
	char name[256];
	int i;

	for (i = random__below(&seed, 4); i > 0; i--)
		json_array_append_new(names, json_string(name_of(name, "", i)));
	if (!json_array_size(names)) {
		json_decref(names);
		names = NULL;
	}
	return json_pack("{s:{s:s, s:s, s:o*}}", "request", "request", "register-counters", "name",
			 name_of(name, "", index), "counters", names);
}

static json_t *new_probe(int index)
{
	char name[256];

	return json_pack("{s:{s:s, s:s}}", "request", "request", "probe-load",
			 "name", name_of(name, "", index));
}

static json_t *optional(int number)
{
	return random__below(&seed, 2) ? json_integer(number) : NULL;
}

/* A store and its reporters. */
static void add_store(json_t *list, int index)
{
	char name[32], file[256];
	const bool has_file = random__below(&seed, 2);
	int i;

	sprintf(name, "s: %d", index);
	name_of(file, "/", index);
	json_array_append_new(
		list,
		json_pack("{s:{s:s, s:s, s:i, s:i, s:o*, s:o*, s:s*, s:o*, s:o*, s:o*, s:o*, s:s*}, s:s*}",
			  "request", "request", "store-create", "name", name, "slots_log2", (int)random__below(&seed, 33),
			  "value_length", 4 + (int)random__below(&seed, 61), "redundancy",
			  optional(1 + index % 8), "checksum_bits", optional(8 << index % 4),
			  "file", has_file ? file : NULL, "epoch_ns",
			  index % 3 == 1 ? json_integer(1000000000LL * (1 + index)) : NULL,
			  "epoch_reports", index % 3 == 2 ? json_integer(1 + index) : NULL,
			  "keep_bytes", index % 3 ? optional(1024 * (1 + index)) : NULL,
			  "falling", index % 6 == 5 ? json_true() : NULL, "transport",
			  index % 4 == 1 ? "rc" : index % 4 == 2 ? "auto" : NULL,
			  "path", has_file ? file : NULL));
	for (i = random__below(&seed, 3); i > 0; i--) {
		sprintf(file, "10.0.%d.%d", index, i);
		json_array_append_new(list,
				      json_pack("{s:{s:s, s:s, s:s}}", "request", "request",
						"reporter-add", "store", name, "address", file));
	}
}

/* A table and its requesters. */
static void add_table(json_t *list, int index)
{
	char name[32], file[256];
	const bool has_file = random__below(&seed, 2);
	const int share = random__below(&seed, 1024);
	int i;

	sprintf(name, "t: %d", index);
	name_of(file, "/t", index);
	json_array_append_new(
		list, json_pack("{s:{s:s, s:s, s:i, s:i, s:i, s:o*, s:o*, s:o*, s:s*}, s:s*}",
				"request", "request", "table-create", "name", name, "rows_log2",
				(int)random__below(&seed, 29), "key_length",
				1 + (int)random__below(&seed, 64), "value_length",
				1 + (int)random__below(&seed, 64), "cells", optional(1 + index % 8),
				"packet_length", optional(64 + index), "shares",
				random__below(&seed, 2) ? json_pack("[ii]", share, 1023) : NULL,
				"file", has_file ? file : NULL, "path", has_file ? file : NULL));
	for (i = random__below(&seed, 3); i > 0; i--) {
		sprintf(file, "10.1.%d.%d", index, i);
		json_array_append_new(list,
				      json_pack("{s:{s:s, s:s, s:s}}", "request", "request",
						"requester-add", "table", name, "address", file));
	}
}

/* A ledger and its adders. */
static void add_ledger(json_t *list, int index)
{
	char name[32], file[256];
	const bool has_file = random__below(&seed, 2);
	int i;

	sprintf(name, "l: %d", index);
	name_of(file, "/l", index);
	json_array_append_new(list, json_pack("{s:{s:s, s:s, s:i, s:o*, s:s*}, s:s*}", "request",
					      "request", "ledger-create", "name", name,
					      "words_log2", 4 + (int)random__below(&seed, 25),
					      "rows", optional(1 + index), "file",
					      has_file ? file : NULL, "path",
					      has_file ? file : NULL));
	for (i = random__below(&seed, 3); i > 0; i--) {
		sprintf(file, "10.3.%d.%d", index, i);
		json_array_append_new(list,
				      json_pack("{s:{s:s, s:s, s:s}}", "request", "request",
						"adder-add", "ledger", name, "address", file));
	}
}

/* A sketch and its sketchers. */
static void add_sketch(json_t *list, int index)
{
	char name[32], file[256];
	const bool has_file = random__below(&seed, 2);
	int i;

	sprintf(name, "k: %d", index);
	name_of(file, "/k", index);
	json_array_append_new(
		list, json_pack("{s:{s:s, s:s, s:i, s:s*, s:o*, s:o*, s:o*, s:s*}, s:s*}",
				"request", "request", "sketch-create", "name", name,
				"columns_log2", 4 + (int)random__below(&seed, 17), "kind",
				random__below(&seed, 2) ? "count-sketch" : NULL, "rows",
				optional(1 + index), "period",
				optional(1 + (int)random__below(&seed, 3600)), "parts",
				optional(1 + index), "file", has_file ? file : NULL, "path",
				has_file ? file : NULL));
	for (i = random__below(&seed, 3); i > 0; i--) {
		sprintf(file, "10.4.%d.%d", index, i);
		json_array_append_new(list,
				      json_pack("{s:{s:s, s:s, s:s}}", "request", "request",
						"sketcher-add", "sketch", name, "address", file));
	}
}

/* A journal and its appenders. */
static void add_journal(json_t *list, int index)
{
	char name[32], file[256];
	const bool has_file = random__below(&seed, 2);
	int i;

	sprintf(name, "j: %d", index);
	name_of(file, "/j", index);
	json_array_append_new(
		list, json_pack("{s:{s:s, s:s, s:i, s:i, s:o*, s:o*, s:o*, s:s*}, s:s*}", "request",
				"request", "journal-create", "name", name, "batches_log2",
				1 + (int)random__below(&seed, 20), "entry_length",
				1 + (int)random__below(&seed, 64), "batch_log2",
				optional(6 + index), "lists_log2", optional(index), "parts",
				optional(1 + index), "file", has_file ? file : NULL, "path",
				has_file ? file : NULL));
	for (i = random__below(&seed, 3); i > 0; i--) {
		sprintf(file, "10.2.%d.%d", index, i);
		json_array_append_new(list,
				      json_pack("{s:{s:s, s:s, s:s}}", "request", "request",
						"appender-add", "journal", name, "address", file));
	}
}

static json_t *new_registrations(void)
{
	static json_t *(*const create[])(int index) = { new_source, new_map, new_counters,
							new_probe };
	json_t *list = json_array();
	int i, kind;

	/* As print groups them: a file with other kinds in between is equal. */
	for (kind = 0; kind < 4; kind++)
		for (i = random__below(&seed, 4); i > 0; i--)
			json_array_append_new(list, create[kind](i));
	for (i = random__below(&seed, 4); i > 0; i--)
		add_store(list, i);
	for (i = random__below(&seed, 4); i > 0; i--)
		add_table(list, i);
	for (i = random__below(&seed, 4); i > 0; i--)
		add_journal(list, i);
	for (i = random__below(&seed, 4); i > 0; i--)
		add_ledger(list, i);
	for (i = random__below(&seed, 4); i > 0; i--)
		add_sketch(list, i);
	return list;
}

static char *dump(const json_t *registrations)
{
	json_t *copy = json_deep_copy(registrations), *registration;
	char *text;
	size_t i;

	json_array_foreach(copy, i, registration) {
		json_object_del(registration, "owner");
		json_object_del(registration, "origin");
	}
	text = json_dumps(copy, JSON_SORT_KEYS | JSON_INDENT(1));
	json_decref(copy);
	return text;
}

static void test_random(void **state)
{
	char *expected, *found;
	json_t *wanted, *got;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		wanted = new_registrations();
		assert_int_equal(print_and_load(wanted), 0);
		got = registrations_of_items();
		expected = dump(wanted);
		found = dump(got);
		assert_string_equal(found, expected);
		free(expected);
		free(found);
		json_decref(wanted);
		json_decref(got);
	}
}

static char *print(const char *registrations)
{
	json_t *json = json_loads(registrations, 0, NULL);
	size_t length;
	char *text;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(json);
	if (dart_configuration__print(file, json, &error) < 0)
		fail_msg("%s", error.text);
	fclose(file);
	json_decref(json);
	return text;
}

static void test_text(void **state)
{
	char *text = print(
		"[{\"request\": {\"request\": \"reporter-add\", \"store\": \"s\", \"address\": \"10.0.0.1\"}},"
		"{\"request\": {\"request\": \"register-host\", \"gather\": \"1s\", \"deferrable\": true}},"
		"{\"request\": {\"request\": \"register-source\", \"source\": \"vmstat\", \"gather\": \"1s\", \"deferrable\": true}},"
		"{\"request\": {\"request\": \"register-source\", \"source\": \"cpustat\"}, \"owner\": 0, \"origin\": \"configuration\"},"
		"{\"request\": {\"request\": \"register-source\", \"source\": \"snmp:tcp\", \"netns\": \"blue\"}, \"path\": \"/run/netns/blue\", \"missing\": \"it is not there\"},"
		"{\"request\": {\"request\": \"register-source\", \"source\": \"snmp:tcp\", \"netns\": \"net:1\"}, \"path\": \"/var/n\"},"
		"{\"request\": {\"request\": \"follow-source\", \"source\": \"snmp:tcp\"}},"
		"{\"request\": {\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 20, \"value_length\": 20}}]");

	assert_string_equal(text, "host:\n"
				  "  gather: 1s\n"
				  "  deferrable: true\n"
				  "sources:\n"
				  "  - source: vmstat\n"
				  "    gather: 1s\n"
				  "    deferrable: true\n"
				  "  - source: cpustat\n"
				  "  - source: snmp:tcp\n"
				  "    netns: blue\n"
				  "  - source: snmp:tcp\n"
				  "    netns: net:1\n"
				  "    path: /var/n\n"
				  "  - source: snmp:tcp\n"
				  "    follow: true\n"
				  "stores:\n"
				  "  - name: s\n"
				  "    slots: 2^20\n"
				  "    value: 20\n"
				  "    reporters:\n"
				  "      - 10.0.0.1\n");
	free(text);
}

static void test_comments(void **state)
{
	json_t *json = json_loads(
		"[{\"request\": {\"request\": \"register-map\", \"name\": \"m\"}},"
		"{\"request\": {\"request\": \"register-source\", \"source\": \"snmp:tcp\", \"netns\": \"net:1\"}},"
		"{\"request\": {\"request\": \"probe-load\", \"name\": \"a\\nprobes: [b]\\u0085\"}},"
		"{\"request\": {\"request\": \"reporter-add\", \"store\": \"s\", \"address\": \"10.0.0.1\"}},"
		"{\"request\": {\"request\": \"appender-add\", \"journal\": \"s\", \"address\": \"10.0.0.1\"}},"
		"{\"request\": {\"request\": \"adder-add\", \"ledger\": \"s\", \"address\": \"10.0.0.1\"}},"
		"{\"request\": {\"request\": \"sketcher-add\", \"sketch\": \"s\", \"address\": \"10.0.0.1\"}},"
		"{\"request\": {\"request\": \"requester-add\", \"table\": \"s\", \"address\": \"10.0.0.1\"}}]",
		0, NULL);
	char *text;

	assert_int_equal(print_and_load(json), 8);
	assert_int_equal(configuration.item_count, 0);
	json_decref(json);
	text = print("[{\"request\": {\"request\": \"register-map\", \"name\": \"m\"}}]");
	assert_string_equal(
		text,
		"# not in this file: {\"request\": \"register-map\", \"name\": \"m\"}: the map is not pinned\n");
	free(text);
}

static void test_nonsense(void **state)
{
	static const char *const wrong[] = {
		"[1]", "[{}]", "[{\"request\": 1}]",
		"[{\"request\": {\"request\": \"status\"}}]",
		"[{\"request\": {\"request\": \"probe-load\"}}]",
		"[{\"request\": {\"request\": \"probe-load\", \"name\": 1}}]",
		"[{\"request\": {\"request\": \"register-source\"}}]",
	};
	json_t *json;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json = json_loads(wrong[i], 0, NULL);
		assert_int_equal(print_and_load(json), -EPROTO);
		assert_non_null(strstr(error.text, "a registration of dartd"));
		json_decref(json);
	}
}

static void test_full(void **state)
{
	json_t *json = json_loads("[{\"request\": {\"request\": \"probe-load\", \"name\": \"a\"}}]",
				  0, NULL);
	FILE *file = fopen("/dev/full", "w");

	setvbuf(file, NULL, _IONBF, 0);
	assert_int_equal(dart_configuration__print(file, json, &error), -EIO);
	fclose(file);
	json_decref(json);
}

#define FILES(sentence, function)                                             \
	TEST_FIXTURE(sentence, function, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILES("500 random lists of registrations of all kinds are equal after they were printed and loaded",
		      test_random),
		FILES("registrations are printed in the words of a configuration file", test_text),
		FILES("a registration that a file cannot express becomes a comment that does not end",
		      test_comments),
		FILES("registrations that make no sense are refused", test_nonsense),
		FILES("a full disk is reported", test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
