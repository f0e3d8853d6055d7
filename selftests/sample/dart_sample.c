// SPDX-License-Identifier: GPL-2.0-only
/*
 * A minimal module with counters in a region: a number that is written to
 * /sys/module/dart_sample/parameters/add is added to them.
 */
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>

#include "dart_counters.h"

struct dart_sample {
	u64 writes;
	u64 total;
};

static struct dart_sample __percpu *counters;

/*
 * Parameters can be written before the module's init and after its exit, which lock
 * them while they change @counters.
 */
static int add(const char *text, const struct kernel_param *param)
{
	u64 value;
	int ret = kstrtou64(text, 0, &value);

	if (ret)
		return ret;
	if (!counters)
		return -ENODEV;
	this_cpu_inc(counters->writes);
	this_cpu_add(counters->total, value);
	return 0;
}

static const struct kernel_param_ops add_ops = { .set = add };
module_param_cb(add, &add_ops, NULL, 0200);

static int __init sample_init(void)
{
	int ret;

	kernel_param_lock(THIS_MODULE);
	ret = dart_counters_register("dart_sample", struct dart_sample, &counters);
	kernel_param_unlock(THIS_MODULE);
	return ret;
}

static void __exit sample_exit(void)
{
	struct dart_sample __percpu *ended = counters;

	kernel_param_lock(THIS_MODULE);
	counters = NULL;
	kernel_param_unlock(THIS_MODULE);
	dart_counters_unregister(ended);
}

module_init(sample_init);
module_exit(sample_exit);

MODULE_DESCRIPTION("Counters for the tests of dart_zero");
MODULE_LICENSE("GPL");
