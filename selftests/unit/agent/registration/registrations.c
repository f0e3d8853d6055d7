// SPDX-License-Identifier: GPL-2.0-only
/* Registrations that cannot be saved at once. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/registration/registrations.h"
#include "selftests/unit/unit.h"

static char directory[] = "/tmp/dart-state-XXXXXX";
static struct registrations registrations;
static struct registry registry;
static struct changes changes;
static sd_event *loop;

static const struct request_type type = { .name = "probe-load", .keeps = "probe" };
static const struct request_table no_requests[] = { {} };

static int open_registrations(void **state)
{
	struct dart_error error;

	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_true(sd_event_new(&loop) >= 0);
	changes__open(&changes);
	return registrations__open(&registrations, loop, directory, no_requests, &changes,
				   &registry, &error);
}

static int close_registrations(void **state)
{
	char command[64];

	registrations__close(&registrations);
	sd_event_unref(loop);
	snprintf(command, sizeof(command), "rm -r '%s'", directory);
	return system(command);
}

/* As for a full disk: the new file cannot be made. */
static void set_full(bool is_full)
{
	const int state = registrations.file.directory;

	assert_int_equal(is_full ? mkdirat(state, STATE_FILE_NAME ".new", 0700) :
				   unlinkat(state, STATE_FILE_NAME ".new", AT_REMOVEDIR),
			 0);
}

static int succeed(const char *name, bool has_more)
{
	struct request request = {
		.members = json_pack("{s:s}", "name", name),
		.result = json_pack("{s:s}", "name", name),
		.fd = -1,
		.has_more = has_more,
	};
	const int ret = registrations.recorder.succeeded(&registrations.recorder, &type, &request);

	json_decref(request.members);
	json_decref(request.result);
	return ret;
}

static size_t count_saved(void)
{
	struct state_file file = registrations.file;
	struct dart_error error;
	json_t *list = state_file__load(&file, &error);
	const size_t count = json_array_size(list);

	assert_string_equal(error.text, "");
	json_decref(list);
	return count;
}

/* The timer that saves is on, and expires now. */
static void expire(void)
{
	int enabled = SD_EVENT_OFF;

	assert_true(sd_event_source_get_enabled(registrations.saving, &enabled) >= 0);
	assert_int_equal(enabled, SD_EVENT_ONESHOT);
	assert_true(sd_event_source_set_time(registrations.saving, 0) >= 0);
	assert_true(sd_event_run(loop, 0) > 0);
}

static void check_off(void)
{
	int enabled = SD_EVENT_ON;

	assert_true(sd_event_source_get_enabled(registrations.saving, &enabled) >= 0);
	assert_int_equal(enabled, SD_EVENT_OFF);
}

static void test_full(void **state)
{
	assert_int_equal(succeed("one", false), 0);
	check_off();
	set_full(true);
	/* The client is told. */
	assert_int_equal(succeed("two", false), -EISDIR);
	expire();
	expire();
	assert_int_equal(count_saved(), 1);
	set_full(false);
	expire();
	assert_int_equal(count_saved(), 2);
	check_off();
}

/* The client has its reply, and asks for no more. */
static void test_full_later(void **state)
{
	set_full(true);
	assert_int_equal(succeed("one", true), 0);
	expire();
	set_full(false);
	expire();
	assert_int_equal(count_saved(), 1);
	check_off();
}

#define REGISTRATIONS_TEST(sentence, function) \
	TEST_FIXTURE(sentence, function, open_registrations, close_registrations)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REGISTRATIONS_TEST("what a full disk did not take is saved once it has room",
				   test_full),
		REGISTRATIONS_TEST("so is what no client waits for", test_full_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
