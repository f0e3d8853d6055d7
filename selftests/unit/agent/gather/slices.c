// SPDX-License-Identifier: GPL-2.0-only
/* Memory that processes hand back to dartd: which descriptors are of lent memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/gather/slices.h"
#include "selftests/unit/unit.h"

#define PAGES 2

static size_t size_of_pages(void)
{
	return PAGES * sysconf(_SC_PAGESIZE);
}

static int memory_with(int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size_of_pages()), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void check_pages(int fd, int ret)
{
	uint32_t pages = 0;

	assert_true(fd >= 0);
	assert_int_equal(slices__pages(fd, &pages), ret);
	assert_int_equal(pages, ret ? 0 : PAGES);
	close(fd);
}

static void test_lent(void **state)
{
	check_pages(memory_with(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	check_pages(memory_with(F_SEAL_SHRINK | F_SEAL_GROW), -EINVAL);
	check_pages(memory_with(F_SEAL_SEAL), -EINVAL);
}

/*
 * dartd would open such a file for writing, whatever the client may do with it, show its bytes to
 * all readers, and fault when the client cuts it off.
 */
static void test_other_files(void **state)
{
	char path[] = "/tmp/dart-slices-XXXXXX", fifo[64];
	int fd = mkstemp(path), ends[2];

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size_of_pages()), 0);
	check_pages(fd, -EINVAL);
	check_pages(open(path, O_RDONLY | O_CLOEXEC), -EINVAL);
	check_pages(open(path, O_PATH | O_CLOEXEC), -EINVAL);
	unlink(path);

	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	check_pages(open(fifo, O_PATH | O_CLOEXEC), -EINVAL);
	unlink(fifo);

	assert_int_equal(pipe(ends), 0);
	check_pages(ends[0], -EINVAL);
	close(ends[1]);
	check_pages(open("/proc/self/maps", O_RDONLY | O_CLOEXEC), -EINVAL);
	check_pages(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("memory that dartd lent is known by its seals", test_lent),
		TEST("other files are not lent memory, whatever their size", test_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
