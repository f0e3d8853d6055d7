// SPDX-License-Identifier: GPL-2.0-only
/* Settings that are printed and loaded again are the same settings. */
#include "selftests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/configuration/configuration.h>

/* Loads @text as a configuration file, or fails the test. */
static void load(struct dart_configuration *configuration, const char *text)
{
	char path[] = "/tmp/dart-settings-XXXXXX";
	struct dart_error error;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	if (dart_configuration__load_file(configuration, path, &error))
		fail_msg("%s in %s", error.text, text);
	unlink(path);
}

static char *print(const struct dart_configuration *configuration)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(dart_configuration__print_settings(file, configuration), 0);
	fclose(file);
	return text;
}

/* Prints the settings of @text, loads them and prints these. */
static void round_trip(const char *text, const char *part)
{
	struct dart_configuration first, second;
	char *printed, *again;

	load(&first, text);
	printed = print(&first);
	if (part && !strstr(printed, part))
		fail_msg("%s is not in %s", part, printed);
	load(&second, printed);
	assert_int_equal(first.controllers.is_given, second.controllers.is_given);
	assert_int_equal(first.readers.is_given, second.readers.is_given);
	assert_int_equal(first.callers.is_given, second.callers.is_given);
	assert_int_equal(first.tcp.subject_count, second.tcp.subject_count);
	again = print(&second);
	assert_string_equal(printed, again);
	free(again);
	free(printed);
	dart_configuration__close(&second);
	dart_configuration__close(&first);
}

static void test_all(void **state)
{
	round_trip("device: 'a\"b: #c'\nlisten: [10.0.0.1, 'fd00::1']\nport: 4711\n"
		   "exposure: page\nallow:\n  controllers: [10.0.0.0/8, 'fd00::/8']\n"
		   "  readers: [10.0.0.7]\n  callers: [10.0.0.8]\n"
		   "tcp: {certificate: /c.pem, key: /c.key, authorities: /a.pem,"
		   " subjects: ['a\"b', c.example], listen: [10.0.0.1], port: 4794}\n"
		   "keepalive: 20\ndscp: 46\nrest: 8\n"
		   "limits: {controllers: 3, readers: 4, clients: 5, callers: 11,"
		   " per_address: 6, half_open: 7,"
		   " entries_per_user: 8, slice_mib_per_user: 9,"
		   " requests_per_second_per_user: 10}\n",
		   "10.0.0.7/32");
}

static void test_one(void **state)
{
	round_trip("limits: {readers: 4}\n", "\"readers\": 4");
	round_trip("port: 1\n", "\"port\": 1");
	round_trip("tcp: {certificate: /c, key: /k, authorities: /a, tables: [t]}\n",
		   "\"tables\": [");
	round_trip("tcp: {certificate: /c, key: /k, authorities: /a, subjects: [s]}\n",
		   "\"subjects\": [");
}

static void test_none(void **state)
{
	round_trip("sources: [cpustat]\n", NULL);
}

static void test_nobody(void **state)
{
	round_trip("allow: {controllers: []}\n", "\"controllers\": []");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("all settings are the same when they are loaded again", test_all),
		TEST("a setting that is not given is not printed", test_one),
		TEST("a configuration without settings has none when it is loaded again",
		     test_none),
		TEST("an empty list of allowed peers stays one that allows none", test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
