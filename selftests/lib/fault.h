/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fault injection: the n-th allocation, or copy from or to user space, that this
 * thread makes next fails.
 */
#ifndef DART_TEST_FAULT_H
#define DART_TEST_FAULT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline bool fault_set(const char *kind, const char *name, const char *value)
{
	char path[128];
	bool written;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", kind, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	written = fd >= 0 && write(fd, value, strlen(value)) > 0;
	if (fd >= 0)
		close(fd);
	return written;
}

static inline bool fault_set_all(const char *name, const char *value)
{
	return fault_set("failslab", name, value) && fault_set("fail_page_alloc", name, value) &&
	       fault_set("fail_usercopy", name, value);
}

/*
 * Lets all allocations fail, even small ones and ones that may sleep, without messages
 * in the log.  Returns the descriptor for the functions below, -1 if this kernel
 * injects no faults.
 */
static inline int fault_open(void)
{
	if (!fault_set("failslab", "ignore-gfp-wait", "N") ||
	    !fault_set("fail_page_alloc", "ignore-gfp-wait", "N") ||
	    !fault_set("fail_page_alloc", "ignore-gfp-highmem", "N") ||
	    !fault_set("fail_page_alloc", "min-order", "0") || !fault_set_all("verbose", "0"))
		return -1;
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/* Restricts faults to allocations below @function of the kernel. */
static inline bool fault_only_below(const char *function)
{
	char start[20] = "0x", end[20] = "0x", name[128];
	FILE *symbols = fopen("/proc/kallsyms", "re");
	bool found = false;

	if (!symbols)
		return false;
	while (!found && fscanf(symbols, "%16s %*c %127s%*[^\n]", start + 2, name) == 2)
		found = !strcmp(name, function);
	found = found && fscanf(symbols, "%16s", end + 2) == 1;
	fclose(symbols);
	return found && fault_set_all("require-end", end) && fault_set_all("require-start", start);
}

static inline void fault_arm(int fd, unsigned int n)
{
	dprintf(fd, "%u", n);
}

/*
 * Did the fault happen?  If not, cancels it.  The question copies to user space and the
 * cancellation copies from there, so the fault may hit either copy.
 */
static inline bool fault_happened(int fd)
{
	char left;

	if (pread(fd, &left, 1, 0) == 1 && left == '0')
		return true;
	pwrite(fd, "0", 1, 0);
	return false;
}

#endif /* DART_TEST_FAULT_H */
