// SPDX-License-Identifier: GPL-2.0-only
/*
 * store_descriptor NAME: with the descriptor of a store that the agent hands out
 * one can read, and nothing else, whatever one tries.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "selftests/lib/registration.h"

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
	assert_int_equal(mprotect(memory, length(fd), PROT_READ | PROT_WRITE),
			 -1);
	assert_int_equal(madvise(memory, length(fd), MADV_REMOVE), -1);
	munmap(memory, length(fd));
}

/* Neither with this descriptor nor, if there can be one, with a better one. */
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
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_mapped_for_reading),
		TEST(test_not_written),
		TEST(test_not_resized),
	};

	name = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
