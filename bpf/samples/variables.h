/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel variables that BTF does not describe: programs find their addresses by name. */
#ifndef VARIABLES_H
#define VARIABLES_H

#include "read.h"

/* Sets @variable to the address of a variable of the kernel; returns 0 or -errno. */
#define FIND(variable, name) \
	bpf_kallsyms_lookup_name(name, sizeof(name), 0, &(variable))

/*
 * Like FIND(), for a variable that the kernel may lack: the address of such a variable is 0.  A
 * kernel whose table of symbols contains no variables at all fails the FIND() before.
 */
#define FIND_ANY(variable, name)                 \
	({                                       \
		int ret_ = FIND(variable, name); \
                                                 \
		if (ret_)                        \
			(variable) = 0;          \
		ret_ == -ENOENT ? 0 : ret_;      \
	})

/* For sums over counts by CPU, which can be negative for a moment. */
static __always_inline __u64 at_least_0(__s64 value)
{
	return value < 0 ? 0 : value;
}

#endif /* VARIABLES_H */
