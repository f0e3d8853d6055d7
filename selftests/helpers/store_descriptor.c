// SPDX-License-Identifier: GPL-2.0-only
/*
 * store_descriptor NAME: the descriptor of a store that the agent passes to clients
 * lets a process read the store, and not change it by any call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "selftests/lib/registration.h"
#include "selftests/lib/test.h"

static const char *name;

static int setup(void **state)
{
	char request[256];
	int socket = registration__connect();
	int *fd = malloc(sizeof(*fd));

	snprintf(request, sizeof(request),
		 "{\"request\": \"store-open\", \"name\": \"%s\"}\n", name);
	registration__send(socket, request, strlen(request), NULL, 0);
	*fd = registration__reply_fd(socket);
	close(socket);
	*state = fd;
	return 0;
}

static int teardown(void **state)
{
	close(*(int *)*state);
	free(*state);
	return 0;
}

/* Opens the same memory once more. */
static int reopen(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

static size_t length(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return status.st_size;
}

static void test_mapped_for_reading(void **state)
{
	int fd = *(int *)*state;
	void *memory = mmap(NULL, length(fd), PROT_READ, MAP_SHARED, fd, 0);

	assert_true(memory != MAP_FAILED);
	assert_int_equal(mprotect(memory, length(fd), PROT_READ | PROT_WRITE), -1);
	assert_int_equal(madvise(memory, length(fd), MADV_REMOVE), -1);
	munmap(memory, length(fd));
}

/* Tries this descriptor, and one that was opened again for writing, if that works. */
static void test_not_written(void **state)
{
	int fds[] = { *(int *)*state, reopen(*(int *)*state, O_RDWR) };

	for (size_t i = 0; i < 2 && fds[i] >= 0; i++) {
		assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
				 fds[i], 0) == MAP_FAILED);
		assert_int_equal(pwrite(fds[i], "x", 1, 0), -1);
	}
}

static void test_not_resized(void **state)
{
	int fds[] = { *(int *)*state, reopen(*(int *)*state, O_RDWR) };
	const int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	for (size_t i = 0; i < 2 && fds[i] >= 0; i++) {
		assert_int_equal(ftruncate(fds[i], 0), -1);
		assert_int_equal(ftruncate(fds[i], 1 << 30), -1);
		assert_int_equal(fallocate(fds[i], punch, 0, 4096), -1);
	}
}

int main(int argc, char *argv[])
{
#define STORE_TEST(sentence, test) TEST_FIXTURE(sentence, test, setup, teardown)
	const struct CMUnitTest tests[] = {
		STORE_TEST("a store can be mapped for reading, and the mapping cannot become writable",
			   test_mapped_for_reading),
		STORE_TEST("a store can be neither mapped for writing nor written",
			   test_not_written),
		STORE_TEST("a store can be neither shortened nor extended nor punched",
			   test_not_resized),
	};

	name = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
