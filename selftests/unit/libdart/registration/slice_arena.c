// SPDX-License-Identifier: GPL-2.0-only
/* Slices of libdart that share memory: its size, and when bytes are reused. */
#include <dirent.h>
#include <time.h>

#include "slice_dartd.h"

#define REFUSED(code) \
	"{\"ok\": false, \"error\": \"" code "\", \"message\": \"m\"}\n"
#define LEFT(lease_ms) \
	"{\"ok\": true, \"entry\": {\"lease_ms\": " #lease_ms "}}\n"

static void set_length(struct fixture *fixture, int length)
{
	json_object_set_new(fixture->schema, "length", json_integer(length));
}

static uint64_t *word(const struct dart_slice *slice)
{
	return slice->memory;
}

/* Registers @slice in memory that is lent already. */
static void serve(struct fixture *fixture, int client, const char *name,
		  const struct dart_slice *slice, const struct dart_slice *first)
{
	int fd = receive(fixture, client, name);

	assert_true(fd >= 0);
	close(fd);
	assert_string_equal(fixture->request, "new-slice");
	assert_int_equal(fixture->memory, -1);
	assert_int_equal(fixture->offset, (char *)slice->memory - (char *)first->memory);
	reply(fixture, client, OK, -1);
	assert_int_equal(slice->status, 0);
}

/* The next request is that dartd removes @name of @memory. */
static void serve_removal(struct fixture *fixture, int client, const char *name,
			  int memory, const char *line)
{
	int fd = receive(fixture, client, name);

	assert_string_equal(fixture->request, "unregister-slice");
	assert_same_file(fd, memory);
	close(fd);
	reply(fixture, client, line, -1);
}

/* Three registered slices, "first" at the start of @memory. */
static void begin(struct fixture *fixture, struct dart_slice *slices[3], int *memory)
{
	static const char *const names[] = { "first", "second", "third" };
	int client;

	make_directories(fixture);
	listen_at(fixture);
	for (int i = 0; i < 3; i++)
		slices[i] = add(fixture, names[i]);
	client = accept_client(fixture);
	*memory = new_memory();
	assert_int_equal(receive(fixture, client, names[0]), -1);
	assert_int_equal(fixture->memory, sysconf(_SC_PAGESIZE));
	assert_int_equal(fixture->offset, 0);
	reply(fixture, client, OK, *memory);
	for (int i = 1; i < 3; i++)
		serve(fixture, client, names[i], slices[i], slices[0]);
	close(client);
}

static void next_dartd(struct fixture *fixture)
{
	stop_listening(fixture);
	unlink(fixture->path);
	listen_at(fixture);
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

static void test_many(void **state)
{
	enum { COUNT = 8000 };
	struct dart_slice **slices = calloc(COUNT, sizeof(*slices));
	struct dart_slice *first = NULL;
	struct fixture *fixture = *state;
	int before, arenas = 0, client, fd, memory;
	json_int_t total = 0;
	char name[32];

	set_length(fixture, 64);
	make_directories(fixture);
	listen_at(fixture);
	before = open_descriptors();
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "slice-%d", i);
		slices[i] = add(fixture, name);
		*word(slices[i]) = 1000 + i;
	}
	client = accept_client(fixture);
	memory = -1;
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "slice-%d", i);
		fd = receive(fixture, client, name);
		if (fd < 0) {
			close(memory);
			memory = new_memory();
			first = slices[i];
			arenas++;
			total += fixture->memory;
		} else {
			close(fd);
		}
		assert_int_equal(fixture->offset,
				 (char *)slices[i]->memory - (char *)first->memory);
		reply(fixture, client, OK, fd < 0 ? memory : -1);
		assert_int_equal(slices[i]->status, 0);
		assert_int_equal(*word(slices[i]), 1000 + i);
		assert_int_equal(word_at(memory, fixture->offset), 1000 + i);
	}
	close(client);
	close(memory);
	printf("# %d slices of 64 bytes: %d descriptors, %lld bytes\n", COUNT,
	       arenas, (long long)total);
	assert_int_equal(open_descriptors(), before + arenas);
	assert_true(arenas <= 8);
	assert_true(total < 2 * COUNT * 64);
	free(slices);
}

static void test_lengths(void **state)
{
	struct fixture *fixture = *state;
	long page = sysconf(_SC_PAGESIZE);
	struct dart_slice *slices[4];
	int client;

	make_directories(fixture);
	listen_at(fixture);
	slices[0] = add(fixture, "small");
	set_length(fixture, 65);
	slices[1] = add(fixture, "odd");
	set_length(fixture, 1 << 20);
	slices[2] = add(fixture, "large");
	set_length(fixture, 1);
	slices[3] = add(fixture, "tiny");
	assert_ptr_equal(slices[1]->memory, (char *)slices[0]->memory + 64);
	assert_ptr_equal(slices[3]->memory, (char *)slices[1]->memory + 128);
	memset(slices[2]->memory, 1, 1 << 20);

	client = accept_client(fixture);
	receive(fixture, client, "small");
	assert_int_equal(fixture->memory, page);
	reply(fixture, client, OK, new_memory());
	serve(fixture, client, "odd", slices[1], slices[0]);
	assert_int_equal(receive(fixture, client, "large"), -1);
	assert_int_equal(fixture->memory, 1 << 20);
	assert_int_equal(fixture->offset, 0);
	reply(fixture, client, OK, new_memory());
	serve(fixture, client, "tiny", slices[3], slices[0]);
	close(client);
}

static void test_added_to_lent_memory(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *slices[3], *late;
	int memory, client;

	begin(fixture, slices, &memory);
	late = add(fixture, "late");
	*word(late) = 7;
	assert_int_equal(word_at(memory, (char *)late->memory - (char *)slices[0]->memory), 7);
	client = accept_client(fixture);
	serve(fixture, client, "late", late, slices[0]);
	close(client);
	close(memory);
}

static void test_refused_first(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *taken, *free;
	int client, memory = new_memory();

	make_directories(fixture);
	listen_at(fixture);
	taken = add(fixture, "taken");
	free = add(fixture, "free");
	*word(taken) = 1;
	*word(free) = 2;
	client = accept_client(fixture);
	assert_int_equal(receive(fixture, client, "taken"), -1);
	reply(fixture, client, REFUSED("EEXIST"), -1);
	/* The next reply brings the memory. */
	assert_int_equal(receive(fixture, client, "free"), -1);
	assert_int_equal(fixture->memory, sysconf(_SC_PAGESIZE));
	assert_int_equal(fixture->offset, 64);
	reply(fixture, client, OK, memory);
	assert_int_equal(free->status, 0);
	assert_int_equal(taken->status, -EEXIST);
	assert_int_equal(word_at(memory, 0), 1);
	assert_int_equal(word_at(memory, 64), 2);
	close(client);
	close(memory);
}

static void wait_ms(int ms)
{
	poll(NULL, 0, ms);
}

static void test_bytes_after_lease(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *slices[3], *other;
	int memory, client;
	void *bytes;

	begin(fixture, slices, &memory);
	bytes = slices[1]->memory;
	*word(slices[1]) = 5;
	dart_slices__remove(fixture->slices, slices[1]);
	other = add(fixture, "before the answer");
	assert_ptr_not_equal(other->memory, bytes);
	client = accept_client(fixture);
	serve_removal(fixture, client, "second", memory, LEFT(60000));
	serve(fixture, client, "before the answer", other, slices[0]);
	close(client);

	other = add(fixture, "on lease");
	assert_ptr_not_equal(other->memory, bytes);
	client = accept_client(fixture);
	serve(fixture, client, "on lease", other, slices[0]);
	/* Controllers still find the last value. */
	assert_int_equal(word_at(memory, 64), 5);

	bytes = other->memory;
	*word(other) = 6;
	dart_slices__remove(fixture->slices, other);
	close(client);
	client = accept_client(fixture);
	serve_removal(fixture, client, "on lease", memory, LEFT(60000));
	close(client);
	next_dartd(fixture);
	client = accept_client(fixture);
	serve(fixture, client, "first", slices[0], slices[0]);
	serve(fixture, client, "third", slices[2], slices[0]);
	close(receive(fixture, client, "before the answer"));
	reply(fixture, client, OK, -1);
	close(client);

	/* Another dartd shows no removed slice: both are free, and zero. */
	other = add(fixture, "reuses the second");
	assert_ptr_equal(other->memory, (char *)slices[0]->memory + 64);
	assert_int_equal(*word(other), 0);
	other = add(fixture, "reuses the other");
	assert_ptr_equal(other->memory, bytes);
	assert_int_equal(*word(other), 0);
	close(memory);
}

static void test_lease_ends(void **state)
{
	static const char *const replies[] = { LEFT(20), REFUSED("ENOENT") };
	struct fixture *fixture = *state;
	struct dart_slice *slices[3], *other;
	int memory, client;
	void *bytes;

	begin(fixture, slices, &memory);
	bytes = slices[1]->memory;
	*word(slices[1]) = 5;
	dart_slices__remove(fixture->slices, slices[1]);
	client = accept_client(fixture);
	serve_removal(fixture, client, "second", memory, replies[0]);
	close(client);
	/* Nothing wakes the process when the lease ends. */
	while (process(fixture, 0))
		;
	assert_false(process(fixture, 40));
	other = add(fixture, "another");
	assert_ptr_equal(other->memory, bytes);
	assert_int_equal(*word(other), 0);
	client = accept_client(fixture);
	serve(fixture, client, "another", other, slices[0]);

	/* An entry that another client removed may be on lease as well. */
	dart_slices__remove(fixture->slices, other);
	close(client);
	client = accept_client(fixture);
	serve_removal(fixture, client, "another", memory, replies[1]);
	close(client);
	wait_ms(40);
	other = add(fixture, "second");
	assert_ptr_not_equal(other->memory, bytes);
	close(memory);
}

static void test_removal_refused(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *slices[3], *other;
	int memory, client;
	void *bytes;

	begin(fixture, slices, &memory);
	bytes = slices[1]->memory;
	dart_slices__remove(fixture->slices, slices[1]);
	client = accept_client(fixture);
	serve_removal(fixture, client, "second", memory, REFUSED("EBUSY"));
	close(client);
	/* Asked again after a while. */
	client = accept_client(fixture);
	serve_removal(fixture, client, "second", memory, REFUSED("EPERM"));
	close(client);
	while (process(fixture, 0))
		;
	assert_false(process(fixture, SECOND / 5));
	other = add(fixture, "other");
	assert_ptr_not_equal(other->memory, bytes);
	close(memory);
}

static void test_removed_while_asked(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *slices[3], *asked;
	int memory, client;
	void *bytes;

	begin(fixture, slices, &memory);
	asked = add(fixture, "refused");
	bytes = asked->memory;
	client = accept_client(fixture);
	close(receive(fixture, client, "refused"));
	dart_slices__remove(fixture->slices, asked);
	reply(fixture, client, REFUSED("EEXIST"), -1);
	close(client);
	/* The slice never got an entry: another slice takes its bytes at once. */
	asked = add(fixture, "registered");
	assert_ptr_equal(asked->memory, bytes);
	client = accept_client(fixture);
	close(receive(fixture, client, "registered"));
	dart_slices__remove(fixture->slices, asked);
	reply(fixture, client, OK, -1);
	serve_removal(fixture, client, "registered", memory, LEFT(60000));
	close(client);

	/* Without an answer, dartd may hold it. */
	asked = add(fixture, "unknown");
	assert_ptr_not_equal(asked->memory, bytes);
	client = accept_client(fixture);
	close(receive(fixture, client, "unknown"));
	dart_slices__remove(fixture->slices, asked);
	close(client);
	client = accept_client(fixture);
	serve_removal(fixture, client, "unknown", memory, REFUSED("ENOENT"));
	close(client);

	/* Removed before it is requested. */
	stop_listening(fixture);
	asked = add(fixture, "early");
	bytes = asked->memory;
	dart_slices__remove(fixture->slices, asked);
	assert_ptr_equal(add(fixture, "another")->memory, bytes);
	close(memory);
}

static void test_last_of_memory(void **state)
{
	struct fixture *fixture = *state;
	struct dart_slice *slices[3];
	int memory, client, before = open_descriptors();

	begin(fixture, slices, &memory);
	close(memory);
	dart_slices__remove(fixture->slices, slices[0]);
	dart_slices__remove(fixture->slices, slices[2]);
	client = accept_client(fixture);
	close(receive(fixture, client, "first"));
	/* dartd is told nothing more: the memory ends. */
	dart_slices__remove(fixture->slices, slices[1]);
	close(client);
	while (process(fixture, 0))
		;
	assert_int_equal(poll(&(struct pollfd){ .fd = fixture->listening, .events = POLLIN }, 1, 0),
			 0);
	stop_listening(fixture);
	assert_int_equal(open_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE(
			"8000 slices take 8 descriptors and no more than twice their bytes, and keep what was written before",
			test_many, setup, teardown),
		TEST_FIXTURE(
			"slices of any length lie side by side at multiples of 64 bytes, a large one in its own memory",
			test_lengths, setup, teardown),
		TEST_FIXTURE(
			"what is written into a slice of memory that dartd has lent is there before the slice is registered",
			test_added_to_lent_memory, setup, teardown),
		TEST_FIXTURE(
			"if the first slice of some memory is refused, the next one brings the memory",
			test_refused_first, setup, teardown),
		TEST_FIXTURE(
			"bytes of a removed slice are not used again while controllers may READ them",
			test_bytes_after_lease, setup, teardown),
		TEST_FIXTURE(
			"bytes of a removed slice are used again after the lease, zeroed, without a timer",
			test_lease_ends, setup, teardown),
		TEST_FIXTURE("bytes of a slice that dartd does not remove are not used again",
			     test_removal_refused, setup, teardown),
		TEST_FIXTURE("a slice that is removed while dartd is asked for it leaves no entry",
			     test_removed_while_asked, setup, teardown),
		TEST_FIXTURE("the last slice of some memory ends with it, without a request",
			     test_last_of_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
