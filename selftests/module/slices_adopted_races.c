// SPDX-License-Identifier: GPL-2.0-only
/* Slices that are adopted while their owner, their lender or another region acts. */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/slab.h"

static void *close_slice(void *slice)
{
	close(((struct dart_zero_slice *)slice)->fd);
	return NULL;
}

static void test_gone_meanwhile(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	int region, adopted = 0, ret;
	pthread_t thread;

	for (int i = 0; i < 300; i++) {
		region = device_open();
		slices_without_region(1, &slice, 1);
		assert_int_equal(pthread_create(&thread, NULL, close_slice, &slice), 0);
		/* In some rounds the thread already runs. */
		if (i % 3)
			usleep(i % 100);
		ret = slice_adopt(region, slice.fd, &adoption);
		assert_int_equal(pthread_join(thread, NULL), 0);
		if (ret) {
			assert_int_equal(ret, -EBADF);
			assert_int_equal(device_info(region).extents, 0);
		} else {
			assert_int_equal(device_event(region, DART_ZERO_EVENT_SLICE_GONE),
					 adoption.id);
			adopted++;
		}
		close(region);
	}
	print_message("# %d of 300 were adopted first\n", adopted);
	assert_true(adopted > 0);
}

/* A process with a region, which writes its descriptors of two slices to @out. */
static void lend_and_wait(int out)
{
	struct dart_zero_slice slices[2];
	int region = device_open();
	uint32_t slab = slab_new(region, 4, NULL);

	device_map(region);
	for (int i = 0; i < 2; i++)
		if (slice_new(region, slab, 2, &slices[i]) ||
		    write(out, &slices[i].fd, sizeof(int)) != sizeof(int))
			_exit(1);
	pause();
	_exit(1);
}

struct adopter {
	pthread_t thread;
	int region, fd;
	struct dart_zero_adoption adoption;
};

/* Tries until the region of the killed process is closed. */
static void *adopt(void *argument)
{
	struct adopter *adopter = argument;
	int ret;

	do {
		ret = slice_adopt(adopter->region, adopter->fd, &adopter->adoption);
	} while (ret == -EBUSY);
	return (void *)(intptr_t)ret;
}

static void start_lender(int fds[2], pid_t *lender)
{
	int pipes[2], pidfd, fd;

	assert_int_equal(pipe(pipes), 0);
	*lender = fork();
	if (!*lender)
		lend_and_wait(pipes[1]);
	pidfd = syscall(SYS_pidfd_open, *lender, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read(pipes[0], &fd, sizeof(fd)), sizeof(fd));
		fds[i] = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
		assert_true(fds[i] >= 0);
	}
	close(pidfd);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_lender_killed(void **state)
{
	for (int i = 0; i < 50; i++) {
		struct adopter adopters[2] = {};
		int region = device_open(), fds[2];
		pid_t lender;

		start_lender(fds, &lender);
		for (int j = 0; j < 2; j++) {
			adopters[j].region = region;
			adopters[j].fd = fds[j];
			assert_int_equal(
				pthread_create(&adopters[j].thread, NULL, adopt, &adopters[j]), 0);
		}
		kill(lender, SIGKILL);
		for (int j = 0; j < 2; j++) {
			void *ret;

			pthread_join(adopters[j].thread, &ret);
			assert_null(ret);
			close(fds[j]);
		}
		assert_int_equal(waitpid(lender, NULL, 0), lender);
		assert_int_equal(adopters[0].adoption.slab.id, adopters[1].adoption.slab.id);
		assert_int_equal(device_info(region).extents, 1);
		close(region);
	}
}

static void *adopt_once(void *argument)
{
	struct adopter *adopter = argument;

	return (void *)(intptr_t)slice_adopt(adopter->region, adopter->fd, &adopter->adoption);
}

static void test_two_regions(void **state)
{
	for (int i = 0; i < 100; i++) {
		struct dart_zero_slice slices[2];
		struct adopter adopters[2] = {};
		int successes = 0;

		slices_without_region(2, slices, 2);
		for (int j = 0; j < 2; j++) {
			adopters[j].region = device_open();
			adopters[j].fd = slices[j].fd;
			assert_int_equal(pthread_create(&adopters[j].thread,
							NULL, adopt_once,
							&adopters[j]), 0);
		}
		for (int j = 0; j < 2; j++) {
			void *ret;

			pthread_join(adopters[j].thread, &ret);
			if (ret)
				assert_int_equal((intptr_t)ret, -EBUSY);
			assert_int_equal(device_info(adopters[j].region).extents, !ret);
			successes += !ret;
		}
		assert_int_equal(successes, 1);
		for (int j = 0; j < 2; j++) {
			close(adopters[j].region);
			close(slices[j].fd);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a slice whose last descriptor is closed while it is adopted is refused or reported as gone",
		     test_gone_meanwhile),
		TEST("two slices are adopted at once, into one extent, while the process that lent them is killed",
		     test_lender_killed),
		TEST("of two regions that adopt slices of one slab at once exactly one succeeds",
		     test_two_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
