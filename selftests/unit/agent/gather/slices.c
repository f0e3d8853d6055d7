// SPDX-License-Identifier: GPL-2.0-only
/* Memory that dartd lends to processes: how it comes back, and which descriptors are of it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

/* ---- ends */

#define LENT 300
#define ENDED 100
/* As many closes as an inotify instance queues, and more. */
#define CLOSES_MAX 20000

static uint32_t leases_asked;

/* Counts the questions to the kernel whether memory is in use. */
int fcntl(int fd, int command, ...)
{
	va_list arguments;
	long argument;

	va_start(arguments, command);
	argument = va_arg(arguments, long);
	va_end(arguments);
	leases_asked += command == F_SETLEASE;
	return syscall(SYS_fcntl, fd, command, argument);
}

struct lender {
	struct slices slices;
	struct slice *all[LENT];
	int fds[LENT]; /* of the processes; -1: it has ended */
	bool have_ended[LENT]; /* slices__next_gone() says so */
};

static void raise_limit(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void lender__open(struct lender *lender)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *memory = mmap(NULL, LENT * page, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint32_t i;

	raise_limit();
	*lender = (struct lender){};
	assert_int_equal(slices__open(&lender->slices), 0);
	for (i = 0; i < LENT; i++) {
		assert_int_equal(slices__add(&lender->slices, memory + i * page, 1, -1,
					     &lender->all[i]),
				 0);
		lender->fds[i] = slices__lend(&lender->slices, lender->all[i], 1 + i);
		assert_true(lender->fds[i] >= 0);
	}
	assert_int_equal(slices__next_gone(&lender->slices), 0);
	leases_asked = 0;
}

static void lender__close(struct lender *lender)
{
	uint32_t i;

	for (i = 0; i < LENT; i++)
		if (lender->fds[i] >= 0)
			close(lender->fds[i]);
	slices__close(&lender->slices);
}

static void end(struct lender *lender, uint32_t i)
{
	close(lender->fds[i]);
	lender->fds[i] = -1;
}

/* Asks for ends as dartd does, which sleeps until a file of the slices is readable. */
static void wait_for_ends(struct lender *lender, uint32_t count)
{
	struct pollfd files[SLICES_FILES];
	uint32_t id, i;

	while (count) {
		for (i = 0; i < SLICES_FILES; i++)
			files[i] = (struct pollfd){ .fd = lender->slices.files[i],
						    .events = POLLIN };
		assert_true(poll(files, SLICES_FILES, 60000) > 0);
		while ((id = slices__next_gone(&lender->slices))) {
			assert_false(lender->have_ended[id - 1]);
			lender->have_ended[id - 1] = true;
			count--;
		}
	}
	for (i = 0; i < LENT; i++)
		assert_int_equal(lender->have_ended[i], lender->fds[i] < 0);
}

/* A process ends that had many slices: the slices of others are not looked at for each. */
static void test_ends(void **state)
{
	struct lender lender;
	uint32_t i;

	lender__open(&lender);
	for (i = 0; i < ENDED; i++)
		end(&lender, LENT - 1 - i);
	wait_for_ends(&lender, ENDED);
	assert_in_range(leases_asked, ENDED, 10 * ENDED);
	lender__close(&lender);
}

/* A process opens and closes its own memory all the time. */
static void test_closes(void **state)
{
	struct lender lender;
	char path[32];
	uint32_t i;

	lender__open(&lender);
	for (i = 0; i < ENDED; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", lender.fds[0]);
		close(open(path, O_RDONLY | O_CLOEXEC));
		assert_int_equal(slices__next_gone(&lender.slices), 0);
	}
	assert_in_range(leases_asked, 0, 10 * ENDED);
	lender__close(&lender);
}

/* Of a user namespace of its own, whose root may set the limit. */
static int limit_watches(const char *most)
{
	int fd, ret;

	if (unshare(CLONE_NEWUSER))
		return -errno;
	fd = open("/proc/sys/user/max_inotify_watches", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, most, strlen(most)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* -ENOSPC would mean that the memory is full, and another slab would do. */
static void test_no_watches(void **state)
{
	struct slices slices;
	struct slice *slice;
	void *memory;
	int status;
	pid_t child = fork();

	if (child) {
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			skip();
		assert_int_equal(WEXITSTATUS(status), 0);
		return;
	}
	if (limit_watches("0"))
		_exit(77);
	memory = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slices__open(&slices) || slices__add(&slices, memory, 1, -1, &slice))
		_exit(1);
	_exit(slices__lend(&slices, slice, 1) == -EUSERS ? 0 : 2);
}

static void test_lost_events(void **state)
{
	struct lender lender;
	char path[32];
	uint32_t i;

	lender__open(&lender);
	for (i = 0; i < CLOSES_MAX; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", lender.fds[i % 2]);
		close(open(path, O_RDONLY | O_CLOEXEC));
	}
	end(&lender, 7);
	wait_for_ends(&lender, 1);
	lender__close(&lender);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("memory that dartd lent is known by its seals", test_lent),
		TEST("other files are not lent memory, whatever their size", test_other_files),
		TEST("the end of many slices asks the kernel about these, not about all for each",
		     test_ends),
		TEST("nor does a process that opens and closes its own slice", test_closes),
		TEST("an end whose report was lost is found", test_lost_events),
		TEST("a slice that cannot be watched is not lent, and the reason is not a lack of memory",
		     test_no_watches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
