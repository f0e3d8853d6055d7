/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For modules that let other machines read their counters, without a system
 * call, a copy or any work on this machine:
 *
 *	struct frobs {
 *		u64 done;
 *		u64 failed;
 *	};
 *	static struct frobs __percpu *frobs;
 *
 *	ret = dart_counters_register("frobs", struct frobs, &frobs);
 *	...
 *	this_cpu_inc(frobs->done);
 *	this_cpu_add(frobs->failed, 3);
 *	...
 *	dart_counters_unregister(frobs);
 *
 * Counting takes no lock and no atomic operation.  A region shows the counters
 * after DART_ZERO_IOC_ADD_COUNTERS, and dartd after
 * "dartctl counters add frobs".
 */
#ifndef DART_COUNTERS_H
#define DART_COUNTERS_H

#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/types.h>

/* Bytes of counters for each CPU. */
#define DART_COUNTERS_SIZE_MAX (32 << 10)

/*
 * Allocates zeroed counters on separate pages and lets regions find them.
 * @name: 1 to 63 printable ASCII characters, no spaces, unique among the
 * counters of the machine; copied.
 * @type: a struct of integers, defined in the calling module, whose BTF names
 * the counters for readers; 1 to DART_COUNTERS_SIZE_MAX bytes.
 * @counters: set to the counters, a @type __percpu *.
 *
 * Process context.  Returns 0, -EINVAL, -EEXIST, -ENOMEM.
 */
#define dart_counters_register(name, type, counters)			\
	__dart_counters_register(name, #type, sizeof(type), THIS_MODULE, \
		(void __percpu **)(type __percpu **) { counters })

/*
 * Withdraws the counters; the caller must not update them any more.  Regions that show them keep
 * the last values until they remove them.  Process context.
 */
void dart_counters_unregister(const void __percpu *counters);

int __dart_counters_register(const char *name, const char *type, size_t size, struct module *module,
			     void __percpu **counters);

#endif /* DART_COUNTERS_H */
