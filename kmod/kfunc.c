// SPDX-License-Identifier: GPL-2.0-only
/* The function that eBPF programs call to count: see bpf/dart_counters.h. */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>

#include "compat.h"
#include "counters.h"

/*
 * Adds @value to counter @index, on this CPU, of the counters @id
 * (dart_zero_extent.counters_id).  Returns 0, -ENOENT if there are no such
 * counters, or -EINVAL if they have no such counter.
 */
__bpf_kfunc int bpf_dart_counters_add(u32 id, u32 index, u64 value)
{
	return dart_counters_add(id, index, value);
}

BTF_KFUNCS_START(dart_kfuncs)
BTF_ID_FLAGS(func, bpf_dart_counters_add)
BTF_KFUNCS_END(dart_kfuncs)

static const struct btf_kfunc_id_set dart_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &dart_kfuncs,
};

int dart_kfunc_init(void)
{
	static const enum bpf_prog_type types[] = {
		BPF_PROG_TYPE_TRACING,
		BPF_PROG_TYPE_XDP,
		BPF_PROG_TYPE_SCHED_CLS,
		BPF_PROG_TYPE_SYSCALL,
	};
	size_t i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(types) && !ret; i++)
		ret = register_btf_kfunc_id_set(types[i], &dart_kfunc_set);
	return ret;
}
