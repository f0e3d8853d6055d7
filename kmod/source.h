/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_SOURCE_H
#define DART_ZERO_SOURCE_H

#include <linux/percpu.h>
#include <linux/types.h>

struct dart_percpu;
struct dart_source;
struct dart_zero_window;

/* Per-CPU counters that the kernel updates anyway. */
struct dart_source {
	/*
	 * Returns what @window selects, with a reference, or ERR_PTR().  What
	 * the source is not selected by has been checked to be absent.
	 */
	struct dart_percpu *(*open)(const struct dart_source *source,
				    const struct dart_zero_window *window);
	const char *name;		/* variable or type, as BTF has it */
	size_t length;			/* bytes on each CPU */
	size_t align;

	const void __percpu *variable;	/* there is one */
	size_t place;			/* of the pointer in struct net */
	bool by_fd;			/* or by the inode of a namespace */
	bool by_ifindex;
};

/*
 * What @window asks for, with a reference, or ERR_PTR(): -EINVAL, -EBADF,
 * -ENOENT, -ENODEV, -EOPNOTSUPP, -ENOMEM.  May sleep.
 */
struct dart_percpu *dart_source_open(const struct dart_zero_window *window);

#endif /* DART_ZERO_SOURCE_H */
