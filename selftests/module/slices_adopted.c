// SPDX-License-Identifier: GPL-2.0-only
/* Slices outlive the region that lent them, and another region adopts them. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/slab.h"

static uint64_t load(const char *address)
{
	return *(const volatile uint64_t *)address;
}

/* Slices of a region that was closed, one page each of one slab. */
static void make_orphans(uint32_t pages, struct dart_zero_slice *slices,
			 int count)
{
	int region = device_open();
	uint32_t slab = slab_new(region, pages, NULL);

	for (int i = 0; i < count; i++)
		assert_int_equal(slice_new(region, slab, 1, &slices[i]), 0);
	close(region);
}

static uint32_t extent_count(int region)
{
	return device_info(region).extents;
}

static void test_adopted(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slices[2];
	volatile uint64_t *memory;
	const char *address;
	int region;

	make_orphans(8, slices, 2);
	memory = slice_map(&slices[1]);
	memory[0] = 17;

	region = device_open();
	address = device_map(region);
	/* Maps the hole that the slab will take. */
	assert_int_equal(load(address + PAGE), 0);
	assert_int_equal(slice_adopt(region, slices[1].fd, &adoption), 0);
	assert_int_equal(adoption.pages, 1);
	assert_int_equal(adoption.slab.kind, DART_ZERO_EXTENT_SLAB);
	assert_int_equal(adoption.slab.pages, 8);
	assert_int_equal(adoption.slab.copies, 8);
	assert_int_equal(adoption.data, adoption.slab.data + PAGE);
	assert_int_equal(extent_count(region), 1);
	assert_int_equal(load(address + adoption.data), 17);
	memory[0] = 18;
	assert_int_equal(load(address + adoption.data), 18);

	device_no_event(region);
	munmap((void *)memory, PAGE);
	close(slices[1].fd);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_SLICE_GONE),
			 adoption.id);
	assert_int_equal(load(address + adoption.data), 18);
	assert_int_equal(device_remove(region, adoption.slab.id), -EBUSY);
	assert_int_equal(device_remove(region, adoption.id), 0);
	assert_int_equal(load(address + adoption.data), 0);
	close(slices[0].fd);
	assert_int_equal(device_remove(region, adoption.slab.id), 0);
	close(region);
}

static void test_one_slab(void **state)
{
	struct dart_zero_adoption first, second;
	struct dart_zero_slice slices[3], next;
	int region = device_open();

	make_orphans(4, slices, 3);
	assert_int_equal(slice_adopt(region, slices[0].fd, &first), 0);
	assert_int_equal(slice_adopt(region, slices[2].fd, &second), 0);
	assert_int_equal(second.slab.id, first.slab.id);
	assert_int_equal(second.data, first.data + 2 * PAGE);
	assert_int_equal(extent_count(region), 1);

	/* The pages of the slice that was not adopted are not free. */
	assert_int_equal(slice_new(region, first.slab.id, 1, &next), 0);
	assert_int_equal(next.data, first.data + 3 * PAGE);
	assert_int_equal(slice_new(region, first.slab.id, 1, &next), -ENOSPC);
	close(slices[1].fd);
	assert_int_equal(slice_new(region, first.slab.id, 1, &next), 0);
	assert_int_equal(next.data, first.data + PAGE);
	close(region);
}

static void test_adopted_twice(void **state)
{
	struct dart_zero_adoption adoption, again;
	struct dart_zero_slice slices[2];
	int region = device_open(), other = device_open();

	make_orphans(2, slices, 2);
	assert_int_equal(slice_adopt(region, slices[0].fd, &adoption), 0);
	assert_int_equal(slice_adopt(region, slices[0].fd, &again), -EEXIST);
	assert_int_equal(again.id, adoption.id);
	assert_int_equal(slice_adopt(other, slices[0].fd, &again), -EBUSY);
	assert_int_equal(again.id, 0);
	/* No region has this slice, but one has its slab. */
	assert_int_equal(slice_adopt(other, slices[1].fd, &again), -EBUSY);
	assert_int_equal(extent_count(other), 0);

	close(region);
	assert_int_equal(slice_adopt(other, slices[1].fd, &again), 0);
	assert_int_equal(slice_adopt(other, slices[0].fd, &again), 0);
	close(other);
	close(slices[0].fd);
	close(slices[1].fd);
}

static void test_removed_and_adopted(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	int region = device_open();
	const char *address = device_map(region);
	uint32_t slab = slab_new(region, 1, NULL);

	assert_int_equal(slice_new(region, slab, 1, &slice), 0);
	slice_map(&slice)[0] = 5;
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), -EEXIST);
	assert_int_equal(device_remove(region, slice.id), 0);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
	assert_int_not_equal(adoption.id, slice.id);
	assert_int_equal(adoption.slab.id, slab);
	assert_int_equal(adoption.data, slice.data);
	assert_int_equal(load(address + slice.data), 5);
	close(region);
	close(slice.fd);
}

static void test_refusals(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	int region = device_open(), other = device_open(), pipes[2];

	make_orphans(1, &slice, 1);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(slice_adopt(region, pipes[0], &adoption), -EINVAL);
	assert_int_equal(slice_adopt(region, region, &adoption), -EINVAL);
	assert_int_equal(slice_adopt(region, other, &adoption), -EINVAL);
	assert_int_equal(slice_adopt(region, -1, &adoption), -EBADF);
	assert_int_equal(slice_adopt(region, 1000, &adoption), -EBADF);

	adoption = (struct dart_zero_adoption){ .size = 8, .fd = slice.fd };
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE,
				     &adoption), -EINVAL);
	adoption.size = sizeof(adoption);
	adoption.flags = 1;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE,
				     &adoption), -EINVAL);
	adoption.flags = 0;
	adoption.slab.id = 1;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE,
				     &adoption), -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE, NULL),
			 -EFAULT);
	assert_int_equal(extent_count(region), 0);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
	close(pipes[0]);
	close(pipes[1]);
	close(slice.fd);
	close(other);
	close(region);
}

/* The argument can be read, but not written. */
static void test_fault(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	int region = device_open();
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	make_orphans(1, &slice, 1);
	adoption = (struct dart_zero_adoption){
		.size = sizeof(adoption),
		.fd = slice.fd,
	};
	memcpy(page, &adoption, sizeof(adoption));
	assert_int_equal(mprotect(page, PAGE, PROT_READ), 0);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE, page),
			 -EFAULT);
	assert_int_equal(extent_count(region), 0);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
	munmap(page, PAGE);
	close(slice.fd);
	close(region);
}

static int load_small(void **state)
{
	return module_reload("capacity=1");
}

static int load_default(void **state)
{
	return module_reload("");
}

static void test_full(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	uint32_t last = 0;
	int region;

	region = device_open();
	make_orphans(1, &slice, 1);
	for (uint64_t i = device_info(region).capacity / PAGE; i; i--)
		last = slab_new(region, 1, NULL);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), -ENOSPC);
	assert_int_equal(device_remove(region, last), 0);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
	close(slice.fd);
	close(region);
}

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
		make_orphans(1, &slice, 1);
		assert_int_equal(pthread_create(&thread, NULL, close_slice,
						&slice), 0);
		/* On some rounds the thread has begun. */
		if (i % 3)
			usleep(i % 100);
		ret = slice_adopt(region, slice.fd, &adoption);
		assert_int_equal(pthread_join(thread, NULL), 0);
		if (ret) {
			assert_int_equal(ret, -EBADF);
			assert_int_equal(extent_count(region), 0);
		} else {
			assert_int_equal(
				device_event(region, DART_ZERO_EVENT_SLICE_GONE),
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

/* Until the region of the process that was killed is closed. */
static void *adopt(void *argument)
{
	struct adopter *adopter = argument;
	int ret;

	do {
		ret = slice_adopt(adopter->region, adopter->fd,
				  &adopter->adoption);
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
			assert_int_equal(pthread_create(&adopters[j].thread,
							NULL, adopt,
							&adopters[j]), 0);
		}
		kill(lender, SIGKILL);
		for (int j = 0; j < 2; j++) {
			void *ret;

			pthread_join(adopters[j].thread, &ret);
			assert_null(ret);
			close(fds[j]);
		}
		assert_int_equal(waitpid(lender, NULL, 0), lender);
		assert_int_equal(adopters[0].adoption.slab.id,
				 adopters[1].adoption.slab.id);
		assert_int_equal(extent_count(region), 1);
		close(region);
	}
}

static void *adopt_once(void *argument)
{
	struct adopter *adopter = argument;

	return (void *)(intptr_t)slice_adopt(adopter->region, adopter->fd,
					     &adopter->adoption);
}

static void test_two_regions(void **state)
{
	for (int i = 0; i < 100; i++) {
		struct dart_zero_slice slices[2];
		struct adopter adopters[2] = {};
		int successes = 0;

		make_orphans(2, slices, 2);
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
			assert_int_equal(extent_count(adopters[j].region),
					 !ret);
			successes += !ret;
		}
		assert_int_equal(successes, 1);
		for (int j = 0; j < 2; j++) {
			close(adopters[j].region);
			close(slices[j].fd);
		}
	}
}

static void test_released(void **state)
{
	enum { ROUNDS = 64, PAGES = 1024 };
	long before = leftovers__memory_kib(), references;

	references = leftovers__module_references();
	for (int i = 0; i < ROUNDS; i++) {
		struct dart_zero_adoption adoption;
		struct dart_zero_slice slice;
		int region;

		make_orphans(PAGES, &slice, 1);
		/* Every second orphan is never adopted. */
		region = device_open();
		if (i % 2)
			assert_int_equal(slice_adopt(region, slice.fd,
						     &adoption), 0);
		close(i % 4 < 2 ? region : slice.fd);
		close(i % 4 < 2 ? slice.fd : region);
	}
	assert_int_equal(leftovers__module_references(), references);
	assert_in_range(leftovers__memory_kib() - before + 65536, 0,
			65536 + ROUNDS * PAGES * 4 / 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: the module can be unloaded as long as no test uses it. */
		TEST_FIXTURE("a full region refuses to adopt a slice of another slab until an extent is removed",
			     test_full, load_small, load_default),
		TEST("a slice of a closed region is adopted by another one with its values, its slab and its event",
		     test_adopted),
		TEST("two slices of a slab are adopted into one extent, which lends the free pages and no others",
		     test_one_slab),
		TEST("a slice that a region has is refused to it with its id and to other regions, and so is its slab until the region is closed",
		     test_adopted_twice),
		TEST("a region adopts a slice again that was removed from it",
		     test_removed_and_adopted),
		TEST("ADOPT_SLICE refuses descriptors that are not of slices, a wrong size and members that are not zero, and changes nothing",
		     test_refusals),
		TEST("ADOPT_SLICE adds neither slice nor slab if it cannot write its result",
		     test_fault),
		TEST("a slice whose last descriptor is closed while it is adopted is refused or reported as gone",
		     test_gone_meanwhile),
		TEST("two slices are adopted at once, into one extent, while the process that lent them is killed",
		     test_lender_killed),
		TEST("of two regions that adopt slices of one slab at once exactly one succeeds",
		     test_two_regions),
		TEST("the memory of slabs is freed when the last slice and region are closed, adopted or not",
		     test_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
