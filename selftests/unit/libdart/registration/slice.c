// SPDX-License-Identifier: GPL-2.0-only
/* Slices of libdart with a dartd that comes, goes and refuses. */
#include <dirent.h>

#include "slice_dartd.h"

static uint64_t word_of(int memory)
{
	return word_at(memory, 0);
}

/* Lends @slice for the first time. */
static int lend(struct fixture *fixture, const char *name)
{
	int client = accept_client(fixture), memory = new_memory();

	assert_int_equal(receive(fixture, client, name), -1);
	reply(fixture, client, OK, memory);
	close(client);
	return memory;
}

static void test_before_dartd(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *slice = add(fixture, "early");
	volatile uint64_t *word = slice->memory;
	int memory;

	assert_int_equal(slice->status, -ENOENT);
	assert_non_null(strstr(slice->reason, fixture->path));
	word[0] = 42;
	make_directories(fixture);
	listen_at(fixture);
	memory = lend(fixture, "early");
	assert_int_equal(slice->status, 0);
	assert_null(slice->reason);
	assert_ptr_equal(slice->memory, word);
	assert_int_equal(word[0], 42);
	assert_int_equal(word_of(memory), 42);
	word[0] = 43;
	assert_int_equal(word_of(memory), 43);
	close(memory);
}

static void test_registered_again(void **state)
{
	struct fixture *fixture = *state;
	int memory, client, fd;
	volatile uint64_t *word;
	struct dart_slice *slice;

	make_directories(fixture);
	listen_at(fixture);
	slice = add(fixture, "kept");
	word = slice->memory;
	memory = lend(fixture, "kept");

	for (int i = 0; i < 4; i++) {
		stop_listening(fixture);
		word[0] = i;
		/* As a file that is replaced, and with its directories. */
		if (i % 2)
			unlink(fixture->path);
		else
			remove_directories(fixture);
		if (i % 2 == 0)
			make_directories(fixture);
		listen_at(fixture);
		client = accept_client(fixture);
		assert_int_equal(slice->status, -EINPROGRESS);
		fd = receive(fixture, client, "kept");
		assert_same_file(fd, memory);
		close(fd);
		reply(fixture, client, OK, -1);
		assert_int_equal(slice->status, 0);
		word[0] += 100;
		assert_int_equal(word_of(memory), 100 + i);
		close(client);
	}
	close(memory);
}

static void test_idle(void **state)
{
	struct fixture *fixture = *state;
	char other[96];
	int memory;

	make_directories(fixture);
	listen_at(fixture);
	add(fixture, "idle");
	memory = lend(fixture, "idle");
	while (process(fixture, 0))
		;
	/* Other files next to the socket do not cause a request. */
	snprintf(other, sizeof(other), "%s.other", fixture->path);
	assert_int_equal(mkdir(other, 0700), 0);
	rmdir(other);
	while (process(fixture, 0))
		;
	assert_false(process(fixture, SECOND / 5));
	assert_int_equal(poll(&(struct pollfd){ .fd = fixture->listening, .events = POLLIN }, 1, 0),
			 0);
	close(memory);
}

static void test_refused(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *slice;
	int client;

	make_directories(fixture);
	listen_at(fixture);
	slice = add(fixture, "taken");
	client = accept_client(fixture);
	receive(fixture, client, "taken");
	reply(fixture, client, "{\"ok\": false, \"error\": \"EEXIST\", \"message\": \"taken\"}\n",
	      -1);
	assert_int_equal(slice->status, -EEXIST);
	assert_string_equal(slice->reason, "taken");
	close(client);
	while (process(fixture, 0))
		;
	assert_false(process(fixture, SECOND / 5));

	/* The next dartd is asked again. */
	stop_listening(fixture);
	unlink(fixture->path);
	listen_at(fixture);
	close(lend(fixture, "taken"));
	assert_int_equal(slice->status, 0);
}

static void test_repeated(void **state)
{
	static const char *const replies[] = {
		"{\"ok\": false, \"error\": \"EBUSY\", \"message\": \"m\"}\n",
		"{\"ok\": false, \"error\": \"EUSERS\", \"message\": \"m\"}\n",
		"no JSON\n",
		"",
	};
	struct fixture *fixture = *state;
	struct dart_slice *slice;
	int client;

	make_directories(fixture);
	listen_at(fixture);
	slice = add(fixture, "again");
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		client = accept_client(fixture);
		assert_int_equal(receive(fixture, client, "again"), -1);
		if (*replies[i])
			reply(fixture, client, replies[i], -1);
		close(client);
		while (slice->status == -EINPROGRESS)
			assert_true(process(fixture, 20 * SECOND));
		assert_true(slice->status < 0);
		assert_non_null(slice->reason);
	}
	close(lend(fixture, "again"));
	assert_int_equal(slice->status, 0);
}

static void test_others_first(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *busy, *free;
	int client, memory = new_memory(), fd;

	make_directories(fixture);
	listen_at(fixture);
	busy = add(fixture, "busy");
	free = add(fixture, "free");
	client = accept_client(fixture);
	receive(fixture, client, "busy");
	reply(fixture, client, "{\"ok\": false, \"error\": \"EBUSY\", \"message\": \"m\"}\n", -1);
	receive(fixture, client, "free");
	reply(fixture, client, OK, memory);
	assert_int_equal(free->status, 0);
	assert_int_equal(busy->status, -EBUSY);
	close(client);
	client = accept_client(fixture);
	fd = receive(fixture, client, "busy");
	assert_same_file(fd, memory);
	close(fd);
	reply(fixture, client, OK, -1);
	assert_int_equal(busy->status, 0);
	close(client);
	close(memory);
}

/* The reply of an earlier dartd arrives with the socket of the next. */
static void test_late_reply(void **state)
{
	struct fixture *fixture = *state;
	int client, memory = new_memory(), fd;
	struct dart_slice *slice;

	make_directories(fixture);
	listen_at(fixture);
	slice = add(fixture, "late");
	client = accept_client(fixture);
	receive(fixture, client, "late");
	while (process(fixture, 0))
		;
	assert_int_equal(dart_descriptor__send(client, OK, strlen(OK), 0, memory), strlen(OK));
	close(client);
	stop_listening(fixture);
	unlink(fixture->path);
	listen_at(fixture);

	client = accept_client(fixture);
	fd = receive(fixture, client, "late");
	assert_same_file(fd, memory);
	close(fd);
	reply(fixture, client, OK, -1);
	assert_int_equal(slice->status, 0);
	close(client);
	close(memory);
}

static int open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void test_removed(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *slices[3];
	int before, memory, client, fd;

	make_directories(fixture);
	listen_at(fixture);
	before = open_descriptors();
	slices[0] = add(fixture, "first");
	memory = lend(fixture, "first");
	slices[1] = add(fixture, "second");
	slices[2] = add(fixture, "third");
	client = accept_client(fixture);
	close(receive(fixture, client, "second"));
	/* While dartd is asked for it. */
	dart_slices__remove(fixture->slices, slices[1]);
	reply(fixture, client, OK, -1);
	fd = receive(fixture, client, "third");
	assert_same_file(fd, memory);
	close(fd);
	dart_slices__remove(fixture->slices, slices[0]);
	/* The last slice leaves during a request to dartd: the connection ends with it. */
	dart_slices__remove(fixture->slices, slices[2]);
	close(client);
	close(memory);
	assert_int_equal(open_descriptors(), before);
}

static void test_invalid(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slices *slices;
	struct dart_slice *slice;
	struct dart_error error;
	json_t *schema = json_object();

	assert_int_equal(dart_slices__new(&slices, "relative", &error), -EINVAL);
	assert_int_equal(dart_slices__add(fixture->slices, "a", schema, &slice, &error), -EINVAL);
	json_object_set_new(schema, "length", json_integer(1 << 30));
	assert_int_equal(dart_slices__add(fixture->slices, "a", schema, &slice, &error), -EINVAL);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE(
			"a slice that is written before dartd and its directories exist is registered with what it holds",
			test_before_dartd, setup, teardown),
		TEST_FIXTURE(
			"the next dartd gets the descriptor of the slice, also in a new directory, and the memory stays",
			test_registered_again, setup, teardown),
		TEST_FIXTURE("nothing happens while dartd runs and all slices are registered",
			     test_idle, setup, teardown),
		TEST_FIXTURE(
			"a slice that dartd refuses has the reason, and is asked for when the next dartd appears",
			test_refused, setup, teardown),
		TEST_FIXTURE(
			"a slice is asked for again if dartd is busy, has too many clients, talks nonsense or disconnects",
			test_repeated, setup, teardown),
		TEST_FIXTURE(
			"a slice that has to wait does not keep others from being registered",
			test_others_first, setup, teardown),
		TEST_FIXTURE(
			"a reply of an earlier dartd does not keep the slice from the next one",
			test_late_reply, setup, teardown),
		TEST_FIXTURE(
			"slices can be removed in every state and leave no descriptor",
			test_removed, setup, teardown),
		TEST_FIXTURE(
			"a relative path and schemas without a possible length are refused",
			test_invalid, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
