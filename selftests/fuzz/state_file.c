// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state file of dartd, JSON.  It contains a checksum, which libFuzzer does not
 * find: bytes that are an array are also saved as registrations, loaded and parsed.
 */
#include <fcntl.h>

#include "agent/registration/registration.h"
#include "agent/registration/state_file.h"
#include "fuzz.h"

/* Jansson reads 2048 brackets in brackets, and the file adds some to an array's. */
#define ARRAY_MAX 2000

/* In memory, because the file is synchronised. */
static char directory[] = "/dev/shm/fuzz-state-XXXXXX";
static struct state_file file = { .path = "state", .directory = -1 };

static void remove_directory(void)
{
	unlinkat(file.directory, STATE_FILE_NAME, 0);
	rmdir(directory);
}

static void open_directory(void)
{
	if (file.directory >= 0)
		return;
	require(mkdtemp(directory));
	file.directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	require(file.directory >= 0);
	atexit(remove_directory);
}

static void write_file(const uint8_t *data, size_t size)
{
	int fd = openat(file.directory, STATE_FILE_NAME,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/* A file that is refused leaves its place. */
static json_t *load(struct dart_error *error)
{
	json_t *list = state_file__load(&file, error);

	require(json_is_array(list));
	if (*error->text) {
		require_sentence(error);
		require(!json_array_size(list));
		require(!unlinkat(file.directory, STATE_FILE_NAME ".refused", 0));
	}
	return list;
}

static void parse(const json_t *json)
{
	struct registration *registration = registration__from_json(json);
	struct registration *again;
	json_t *printed, *end;

	if (!registration)
		return;
	printed = registration__to_json(registration, true);
	again = registration__from_json(printed);
	require(again && registration__equals(again, registration->request, registration->path));
	require(!registration->name == !again->name);
	if (again->name) {
		require(!strcmp(registration->name, again->name));
		end = registration__to_end(again);
		require(json_is_string(json_object_get(end, "request")));
		json_decref(end);
	}
	registration__free(again);
	json_decref(printed);
	registration__free(registration);
}

static void save(json_t *list)
{
	struct dart_error error = {};
	const json_t *item;
	json_t *loaded;
	size_t i;

	require(!state_file__save(&file, json_incref(list), &error));
	loaded = load(&error);
	require(!*error.text && file.is_same_boot && json_equal(list, loaded));
	json_array_foreach(loaded, i, item)
		parse(item);
	json_decref(loaded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_error error = {};
	json_t *list;

	open_directory();
	write_file(data, size);
	json_decref(load(&error));
	list = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_array(list) && size < ARRAY_MAX)
		save(list);
	json_decref(list);
	return 0;
}
