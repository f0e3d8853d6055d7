/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One fault on purpose: the n-th allocation, or copy from or to user space, of
 * what this thread does next fails.
 */
#ifndef DART_TEST_FAULT_H
#define DART_TEST_FAULT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static inline bool fault_set_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, 1) == 1;

	if (fd >= 0)
		close(fd);
	return written;
}

/*
 * All allocations can fail, small ones and those that can wait as well, without
 * a word in the log.  Returns the descriptor for the others, -1 if this kernel
 * injects no faults.
 */
static inline int fault_open(void)
{
#define FAULTS "/sys/kernel/debug/"
	if (!fault_set_file(FAULTS "failslab/ignore-gfp-wait", "N") ||
	    !fault_set_file(FAULTS "failslab/verbose", "0") ||
	    !fault_set_file(FAULTS "fail_page_alloc/ignore-gfp-wait", "N") ||
	    !fault_set_file(FAULTS "fail_page_alloc/ignore-gfp-highmem", "N") ||
	    !fault_set_file(FAULTS "fail_page_alloc/min-order", "0") ||
	    !fault_set_file(FAULTS "fail_page_alloc/verbose", "0") ||
	    !fault_set_file(FAULTS "fail_usercopy/verbose", "0"))
		return -1;
#undef FAULTS
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

static inline void fault_arm(int fd, unsigned int n)
{
	dprintf(fd, "%u", n);
}

/*
 * Did the fault happen?  If not it is called off: asking is a copy to user
 * space and calling off one from there, so one of both can be what fails.
 */
static inline bool fault_happened(int fd)
{
	char left;

	if (pread(fd, &left, 1, 0) == 1 && left == '0')
		return true;
	pwrite(fd, "0", 1, 0);
	return false;
}

#endif
