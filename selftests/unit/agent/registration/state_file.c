// SPDX-License-Identifier: GPL-2.0-only
/* The state file, when it or its reader lacks something: no registration is lost. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/registration/state_file.h"
#include "selftests/unit/unit.h"

#define NOBODY 65534

static char directory[] = "/tmp/dart-state-XXXXXX";
static struct state_file file;

static int open_directory(void **state)
{
	struct dart_error error;

	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	assert_non_null(mkdtemp(directory));
	return state_file__open(&file, directory, &error);
}

static int remove_directory(void **state)
{
	char command[64];

	state_file__close(&file);
	snprintf(command, sizeof(command), "rm -r '%s'", directory);
	return system(command);
}

static bool has(const char *name)
{
	return !faccessat(file.directory, name, F_OK, 0);
}

/* @count registrations of @length bytes, of which the file does not care what they are. */
static json_t *registrations_of(size_t count, size_t length)
{
	json_t *list = json_array();
	char *text = malloc(length + 1);

	memset(text, 'x', length);
	text[length] = '\0';
	while (count--)
		assert_int_equal(json_array_append_new(list, json_string(text)), 0);
	free(text);
	return list;
}

static void save_one(void)
{
	struct dart_error error;

	assert_int_equal(state_file__save(&file, registrations_of(1, 8), &error), 0);
}

static void check_one(void)
{
	struct dart_error error;
	json_t *list = state_file__load(&file, &error);

	assert_string_equal(error.text, "");
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
}

/* One user can register much; the registrations of all are in the file. */
static void test_too_large(void **state)
{
	struct dart_error error;

	save_one();
	assert_int_equal(state_file__save(&file, registrations_of(STATE_FILE_MAX >> 16, 65536),
					  &error),
			 -EFBIG);
	assert_non_null(strstr(error.text, "more than 64 MiB"));
	check_one();
}

static void test_no_descriptors(void **state)
{
	struct rlimit before, none;
	struct dart_error error;
	int fd = dup(file.directory);

	save_one();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = fd;
	close(fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_null(state_file__load(&file, &error));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(strstr(error.text, "Too many open files"));
	assert_false(has(STATE_FILE_NAME ".refused"));
	check_one();
}

/* Nothing is written over what cannot be read. */
static void test_not_readable(void **state)
{
	const bool is_root = !geteuid();
	struct dart_error error;
	json_t *list;

	save_one();
	assert_int_equal(fchmodat(file.directory, STATE_FILE_NAME, 0, 0), 0);
	assert_int_equal(is_root ? seteuid(NOBODY) : 0, 0);
	list = state_file__load(&file, &error);
	assert_int_equal(is_root ? seteuid(0) : 0, 0);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	assert_non_null(strstr(error.text, "Permission denied"));
	assert_int_equal(state_file__save(&file, registrations_of(2, 8), &error), -ENOENT);

	assert_int_equal(state_file__open(&file, directory, &error), 0);
	assert_int_equal(fchmodat(file.directory, STATE_FILE_NAME, 0600, 0), 0);
	check_one();
}

static void test_damaged(void **state)
{
	static const char *const damaged[] = { "", "{", "[]", "{\"format\": \"other\"}" };
	struct dart_error error;
	json_t *list;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		fd = openat(file.directory, STATE_FILE_NAME, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, damaged[i], strlen(damaged[i])), strlen(damaged[i]));
		close(fd);
		list = state_file__load(&file, &error);
		assert_int_equal(json_array_size(list), 0);
		json_decref(list);
		assert_true(*error.text);
		assert_true(has(STATE_FILE_NAME ".refused"));
		assert_false(has(STATE_FILE_NAME));
	}
}

#define FILE_TEST(sentence, function) \
	TEST_FIXTURE(sentence, function, open_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST("a file that no dartd would read is not written", test_too_large),
		FILE_TEST("a lack of descriptors does not put the file aside",
			  test_no_descriptors),
		FILE_TEST("a file that dartd may not read stays as it is", test_not_readable),
		FILE_TEST("a damaged file is put aside", test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
