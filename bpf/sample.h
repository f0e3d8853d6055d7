/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that take samples for the module: see struct dart_zero_sample.  Each file has
 * a program SEC("raw_tp.w/dart_zero_sample") for each of its sources.  If it needs
 * variables that BTF does not have, a program SEC("syscall") finds them once, before
 * the others run: dartd runs it with a struct sample_setting, and it returns 0 or
 * -errno, which bpf_kallsyms_lookup_name() explains.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <bpf/bpf_core_read.h>

#include <linux/dart_zero_samples.h>

#include "sample_setting.h"

/* DART_ZERO_SOURCE_*, whose header eBPF programs cannot include. */
enum sample_source {
	SAMPLE_FILESYSTEM = 147,
	SAMPLE_PRESSURE = 152,
	SAMPLE_TASKS = 153,
	SAMPLE_SWAP = 154,
	SAMPLE_FILES = 155,
	SAMPLE_CLOCK = 156,
	SAMPLE_CGROUP_MEMORY = 160,
	SAMPLE_CGROUP_PIDS = 161,
	SAMPLE_CGROUP_BANDWIDTH = 162,
	SAMPLE_CGROUP_PRESSURE = 163,
	SAMPLE_CGROUP_IO = 164,
	SAMPLE_CGROUP_DISKS = 165,
	SAMPLE_HUGEPAGES = 173,
};

#define CPUS_MAX 8192

/* Sets @variable to the address of a variable of the kernel; returns 0 or -errno. */
#define FIND(variable, name) \
	bpf_kallsyms_lookup_name(name, sizeof(name), 0, &(variable))

#define READ(type, address)                                     \
	({                                                      \
		type value_ = 0;                                \
								\
		bpf_probe_read_kernel(&value_, sizeof(value_),  \
				      (const void *)(address)); \
		value_;                                         \
	})

#define SAMPLE_OF(context) ((struct dart_zero_sample *)(context)->args[0])
#define CGROUP_OF(context) ((struct cgroup *)(context)->args[1])

/* Writes the values and then the answer. */
#define SAMPLE_ANSWER(context, values)                                 \
	do {                                                           \
		struct dart_zero_sample *sample_ = SAMPLE_OF(context); \
								       \
		*(typeof(values) *)sample_->values = (values);         \
		sample_->answer = DART_ZERO_ANSWER_VALUES;             \
	} while (0)

/* The state of a controller in a cgroup, or NULL if it is not enabled there. */
#define CGROUP_STATE(cgroup, controller)                                 \
	sample__state(cgroup, bpf_core_enum_value(enum cgroup_subsys_id, \
						  controller##_cgrp_id))

static __always_inline struct cgroup_subsys_state *
sample__state(const struct cgroup *cgroup, __u32 controller)
{
	const void *states = (const char *)cgroup +
			     bpf_core_field_offset(struct cgroup, subsys);
	struct cgroup_subsys_state *state = NULL;

	bpf_probe_read_kernel(&state, sizeof(state),
			      states + controller * sizeof(state));
	return state;
}

#endif /* SAMPLE_H */
