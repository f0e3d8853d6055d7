// SPDX-License-Identifier: GPL-2.0-only
/* Slices that share memory, requested without libdart; requests that dartd refuses. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <dart/registration.h>

#include "selftests/lib/command.h"
#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/registration.h"
#include "selftests/lib/test.h"

/* Of the memory with two slices. */
#define MEMORY (2 * PAGE)

/* Longer than any lease. */

/* A request for the slice @name with the members @more, and @fd or -1. */
static void write_request(char *request, size_t room, const char *name, const char *more)
{
	snprintf(request, room,
		 "{\"request\": \"new-slice\", \"name\": \"%s\", %s, "
		 "\"schema\": {\"name\": \"work\", \"length\": 64, \"fields\": ["
		 "{\"name\": \"done\", \"offset\": 0, \"width\": 8, "
		 "\"kind\": \"counter\"}]}}\n",
		 name, more);
}

/* Members of a request by a format of printf(3), until the next call. */
static const char *with(const char *format, ...)
{
	static char members[128];
	va_list values;

	va_start(values, format);
	vsnprintf(members, sizeof(members), format, values);
	va_end(values);
	return members;
}

/* "", or the name of an errno. */
static const char *ask(const char *name, const char *more, int fd)
{
	int socket = registration__connect();
	static char code[32];
	char request[512];
	json_t *reply;

	write_request(request, sizeof(request), name, more);
	reply = registration__ask(socket, request, fd);
	assert_non_null(reply);
	*code = '\0';
	if (!registration__is_ok(reply))
		snprintf(code, sizeof(code), "%s",
			 json_string_value(json_object_get(reply, "error")));
	json_decref(reply);
	close(socket);
	return code;
}

/* New memory of MEMORY bytes with the slice @name at its start. */
static int begin(const char *name, volatile uint64_t **memory)
{
	int socket = registration__connect(), fd;
	char request[512];
	void *mapped;

	write_request(request, sizeof(request), name, with("\"memory\": %zu", MEMORY));
	registration__send(socket, request, strlen(request), NULL, 0);
	fd = registration__reply_fd(socket);
	close(socket);
	mapped = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(mapped != MAP_FAILED);
	*memory = mapped;
	return fd;
}

static void end(int fd, volatile uint64_t *memory)
{
	munmap((void *)memory, MEMORY);
	close(fd);
}

static void test_values(void **state)
{
	long regions = leftovers__rdma("mr");
	volatile uint64_t *memory;
	int fd = begin("first", &memory);

	assert_string_equal(ask("second", "\"offset\": 64", fd), "");
	assert_string_equal(ask("last", "\"offset\": 8128", fd), "");
	assert_int_equal(leftovers__rdma("mr"), regions + 1);
	memory[0] = 1;
	memory[8] = 2;
	memory[8128 / 8] = 3;
	assert_int_equal(registration__done("first"), 1);
	assert_int_equal(registration__done("second"), 2);
	assert_int_equal(registration__done("last"), 3);

	run("host_down KILL && host_up");
	memory[8] = 4;
	assert_string_equal(ask("second", "\"offset\": 64", fd), "");
	assert_string_equal(ask("last", "\"offset\": 8128", fd), "");
	assert_string_equal(ask("first", "\"offset\": 0", fd), "");
	assert_int_equal(registration__done("first"), 1);
	assert_int_equal(registration__done("second"), 4);
	assert_int_equal(registration__done("last"), 3);

	end(fd, memory);
	assert_true(registration__becomes_absent("last"));
	assert_int_equal(registration__done("first"), -1);
	assert_int_equal(registration__done("second"), -1);
}

static void test_refused(void **state)
{
	volatile uint64_t *memory, *other_memory;
	int fd = begin("first", &memory), other = begin("other", &other_memory);
	char *before = registration__list(), *after;

	assert_string_equal(ask("a", "\"offset\": 0", fd), "EEXIST");
	assert_string_equal(ask("a", "\"offset\": 63", fd), "EINVAL");
	assert_string_equal(ask("a", with("\"offset\": %zu", MEMORY), fd), "EINVAL");
	assert_string_equal(ask("a", "\"offset\": -64", fd), "EINVAL");
	assert_string_equal(ask("a", "\"offset\": \"64\"", fd), "EINVAL");
	assert_string_equal(ask("a", with("\"offset\": 64, \"memory\": %zu", MEMORY), fd),
			    "EINVAL");
	assert_string_equal(ask("a", "\"memory\": 100", -1), "EINVAL");
	assert_string_equal(
		ask("a", with("\"memory\": %zu", (DART_REGISTRATION_MEMORY_PAGES_MAX + 1) * PAGE),
		    -1),
		"EINVAL");
	assert_string_equal(ask("a", with("\"memory\": %zu, \"offset\": %zu", PAGE, PAGE), -1),
			    "EINVAL");
	assert_string_equal(ask("first", "\"offset\": 64", other), "EEXIST");
	run("chmod 666 /run/dart/dartd.sock");
	assert_int_equal(seteuid(65534), 0);
	assert_string_equal(ask("a", "\"offset\": 64", fd), "EPERM");
	assert_int_equal(seteuid(0), 0);
	after = registration__list();
	assert_string_equal(before, after);
	free(before);
	free(after);
	end(fd, memory);
	end(other, other_memory);
	assert_true(registration__becomes_absent("first") && registration__becomes_absent("other"));
}

static void test_unregistered(void **state)
{
	volatile uint64_t *memory, *other_memory;
	int fd = begin("first", &memory), other = begin("other", &other_memory);
	json_int_t lease_ms = 0;
	json_t *reply;

	assert_string_equal(ask("second", "\"offset\": 64", fd), "");
	memory[8] = 2;
	reply = registration__ask_about("unregister-slice", "first", other);
	assert_false(registration__is_ok(reply));
	json_decref(reply);
	assert_int_equal(registration__done("first"), 0);

	reply = registration__ask_about("unregister-slice", "first", fd);
	assert_int_equal(json_unpack(reply, "{s:{s:I}}", "entry", "lease_ms", &lease_ms), 0);
	json_decref(reply);
	assert_true(lease_ms > 0);
	assert_int_equal(registration__done("first"), -1);
	assert_int_equal(registration__done("second"), 2);
	assert_int_equal(registration__done("other"), 0);
	end(fd, memory);
	end(other, other_memory);
	assert_true(registration__becomes_absent("second") &&
		    registration__becomes_absent("other"));
}

/* Sends a line over @socket, with @fd or -1; returns "" or the name of an errno. */
static const char *say(int socket, const char *line, int fd)
{
	static char code[32];
	char request[512];
	json_t *reply;

	snprintf(request, sizeof(request), "%s\n", line);
	reply = registration__ask(socket, request, fd);
	assert_non_null(reply);
	*code = '\0';
	if (!registration__is_ok(reply))
		snprintf(code, sizeof(code), "%s",
			 json_string_value(json_object_get(reply, "error")));
	else if (*line == DART_REGISTRATION_SHORT)
		assert_int_equal(json_object_size(reply), 1);
	json_decref(reply);
	return code;
}

static void test_short(void **state)
{
	static const char *const wrong[] = {
		"+", "+64", "+ 64 a", "+-64 a", "+64,a", "+18446744073709551616 a", "++64 a",
		"+64 a b", "+64 ", "+65 a", "+8192 a",
	};
	int socket = registration__connect();
	volatile uint64_t *memory;
	int fd = begin("first", &memory);
	char request[512];
	size_t i;

	/* Not of another connection. */
	assert_string_equal(say(socket, "+64 second", -1), "ENOENT");
	write_request(request, sizeof(request), "second", "\"offset\": 64");
	request[strlen(request) - 1] = '\0';
	assert_string_equal(say(socket, request, fd), "");
	assert_string_equal(say(socket, "+128 third", -1), "");
	assert_string_equal(say(socket, "+8128 last", -1), "");
	memory[16] = 3;
	memory[8128 / 8] = 4;
	assert_int_equal(registration__done("third"), 3);
	assert_int_equal(registration__done("last"), 4);

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (strcmp(say(socket, wrong[i], -1), "EINVAL"))
			fail_msg("%s", wrong[i]);
	assert_string_equal(say(socket, "+128 a", -1), "EEXIST");
	assert_string_equal(say(socket, "+192 first", -1), "EEXIST");
	/* It came for nothing. */
	assert_string_equal(say(socket, "+192 a", fd), "EINVAL");
	assert_string_equal(say(socket, "{\"request\": \"+\"}", -1), "EINVAL");
	/* In two parts, the first one without its end. */
	registration__send(socket, "+19", 3, NULL, 0);
	assert_string_equal(say(socket, "2 fourth", -1), "");
	/* A slice that has left cannot be followed, but the last one. */
	json_decref(registration__ask_about("unregister-slice", "fourth", fd));
	assert_string_equal(say(socket, "+256 a", -1), "ENOENT");
	assert_int_equal(registration__done("third"), 3);
	close(socket);
	end(fd, memory);
	assert_true(registration__becomes_absent("last"));
	assert_int_equal(registration__done("third"), -1);
}

static int start(void **state)
{
	run("host_up");
	return 0;
}

static int stop(void **state)
{
	run("host_down");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("slices in one memory show their values, also from the next dartd, and end with the memory",
		     test_values),
		TEST("short forms add slices to the memory of the slice before them, or are refused",
		     test_short),
		TEST("slices that overlap, are not aligned or leave their memory, and those of another user are refused without a change",
		     test_refused),
		TEST("a slice is unregistered with the descriptor of its memory only, and its neighbours stay",
		     test_unregistered),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
