/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_SOURCE_H
#define DART_ZERO_SOURCE_H

#include <linux/percpu.h>
#include <linux/types.h>

struct dart_percpu;
struct dart_zero_window;
struct net;

/* Per-CPU counters that the kernel keeps anyway: sources[] in window.c. */
struct dart_source {
	/*
	 * Returns the counters that @window selects, with a reference, or ERR_PTR().  The caller
	 * has checked that @window has no selectors that the source does not take.
	 */
	struct dart_percpu *(*open)(const struct dart_source *source,
				    const struct dart_zero_window *window);
	/* The same in a namespace that does not end during the call. */
	struct dart_percpu *(*borrow)(const struct dart_source *source,
				      const struct dart_zero_window *window,
				      struct net *net);
	const char *name;		/* variable or type, in BTF */
	size_t length;			/* bytes on each CPU */
	size_t align;

	const void __percpu *variable;	/* of a source without objects */
	void (*read)(unsigned int cpu, void *copy); /* dart_percpu.read */
	size_t place;			/* of the pointer in struct net */
	bool by_fd;			/* selected by @fd, or by the inode of a namespace */
	bool by_ifindex;
};

#endif /* DART_ZERO_SOURCE_H */
