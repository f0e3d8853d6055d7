/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that take samples for the module: see struct dart_zero_sample.  NAME.bpf.c here
 * fills struct dart_zero_NAME: dartd loads it for a source BY_PROGRAM in
 * <linux/dart_zero_samples.def>.
 *
 * Each file has one program SEC("raw_tp.w/dart_zero_sample").  If it needs variables that BTF does
 * not have, a program SEC("syscall") finds them once, before the first sample: dartd runs it with a
 * struct sample_setting, and it returns 0 or -errno, which bpf_kallsyms_lookup_name() explains.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <bpf/bpf_core_read.h>

/* BTF has the types of the kernel's headers, but no macros. */
#define __aligned_u64 __u64 __attribute__((aligned(8)))
#include <linux/dart_zero.h>
#include <linux/dart_zero_samples.h>

#include "sample_setting.h"

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

/* The object has no such values now. */
#define SAMPLE_IS_ABSENT(context) \
	(SAMPLE_OF(context)->answer = DART_ZERO_ANSWER_ABSENT)

/* Writes the values and then the answer. */
#define SAMPLE_ANSWER(context, taken)                                  \
	do {                                                           \
		struct dart_zero_sample *sample_ = SAMPLE_OF(context); \
								       \
		*(typeof(taken) *)sample_->values = (taken);           \
		sample_->answer = DART_ZERO_ANSWER_VALUES;             \
	} while (0)

/* The state of a controller in a cgroup, or NULL if it is not enabled there. */
#define CGROUP_STATE(cgroup, controller)                                 \
	sample__state(cgroup, bpf_core_enum_value(enum cgroup_subsys_id, \
						  controller##_cgrp_id))

static __always_inline struct cgroup_subsys_state *
sample__state(const struct cgroup *cgroup, __u32 controller)
{
	const void *states = (const char *)cgroup + bpf_core_field_offset(struct cgroup, subsys);
	struct cgroup_subsys_state *state = NULL;

	bpf_probe_read_kernel(&state, sizeof(state), states + controller * sizeof(state));
	return state;
}

#endif /* SAMPLE_H */
