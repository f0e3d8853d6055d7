/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that take samples.  NAME.bpf.c in this folder fills struct dart_zero_NAME: dartd
 * loads it for a source BY_PROGRAM in <linux/dart_zero_samples.def>.
 *
 * Each file defines one function, and after it HOST_SAMPLE() or CGROUP_SAMPLE(), which makes two
 * programs of it.  One takes the sample for the module, in process context: see struct
 * dart_zero_sample.  The other answers questions of dartd, which gathers without the module: see
 * bpf/gather/answer.h.  dartd loads one of them.  The function returns an enum
 * dart_zero_sample_answer.
 *
 * If the function needs variables that BTF does not describe, a program SEC("syscall") finds them
 * once, before the first sample: dartd runs it with a struct sample_setting, and it returns 0 or
 * the -errno of bpf_kallsyms_lookup_name().
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "bpf/gather/answer.h"
#include "setting.h"
#include "variables.h"

#define CPUS_MAX 8192

#define SAMPLE_OF(context) ((struct dart_zero_sample *)(context)->args[0])
#define CGROUP_OF(context) ((struct cgroup *)(context)->args[1])

/* Writes the values and then the answer, in a program that is only for the module. */
#define SAMPLE_ANSWER(context, taken)                                  \
	do {                                                           \
		struct dart_zero_sample *sample_ = SAMPLE_OF(context); \
								       \
		*(typeof(taken) *)sample_->values = (taken);           \
		sample_->answer = DART_ZERO_ANSWER_VALUES;             \
	} while (0)

/* The module and dartd both read the answer of the function. */
_Static_assert((int)DART_ZERO_ANSWER_NONE == (int)GATHER_NOT_YET, "different answers");
_Static_assert((int)DART_ZERO_ANSWER_VALUES == (int)GATHER_VALUES, "different answers");
_Static_assert((int)DART_ZERO_ANSWER_ABSENT == (int)GATHER_ABSENT, "different answers");

/*
 * The programs of a sample of the host, which take_NAME() fills:
 *
 *	static __always_inline enum dart_zero_sample_answer take_NAME(struct dart_zero_NAME *values)
 */
#define HOST_SAMPLE(source_, name)                                                               \
	SEC("raw_tp.w/dart_zero_sample")                                                         \
	int sample_##name(struct bpf_raw_tracepoint_args *context)                               \
	{                                                                                        \
		struct dart_zero_sample *sample = SAMPLE_OF(context);                            \
												 \
		if (sample->source == (source_))                                                 \
			sample->answer = take_##name((struct dart_zero_##name *)sample->values); \
		return 0;                                                                        \
	}                                                                                        \
												 \
	static __always_inline int answer_##name(struct gather_question *question)               \
	{                                                                                        \
		struct dart_zero_##name *values;                                                 \
												 \
		if (question->source != (source_))                                               \
			return -EINVAL;                                                          \
		values = ANSWER_SAMPLE(question, struct dart_zero_##name);                       \
		if (!values)                                                                     \
			return -ENOSPC;                                                          \
		question->answer = (__u32)take_##name(values);                                   \
		return 0;                                                                        \
	}                                                                                        \
												 \
	ANSWER_QUESTIONS(answer_##name)

/*
 * The programs of a sample of a cgroup:
 *
 *	static __always_inline enum dart_zero_sample_answer
 *	take_NAME(const struct cgroup *cgroup, struct dart_zero_NAME *values)
 */
#define CGROUP_SAMPLE(source_, name)                                                        \
	SEC("raw_tp.w/dart_zero_sample")                                                    \
	int sample_##name(struct bpf_raw_tracepoint_args *context)                          \
	{                                                                                   \
		struct dart_zero_sample *sample = SAMPLE_OF(context);                       \
											    \
		if (sample->source == (source_))                                            \
			sample->answer =                                                    \
				take_##name(CGROUP_OF(context),                             \
					    (struct dart_zero_##name *)sample->values);     \
		return 0;                                                                   \
	}                                                                                   \
											    \
	static __always_inline int answer_##name(struct gather_question *question)          \
	{                                                                                   \
		const struct cgroup *cgroup = answer__cgroup(question);                     \
		struct dart_zero_##name *values;                                            \
											    \
		if (question->source != (source_))                                          \
			return -EINVAL;                                                     \
		if (!cgroup) {                                                              \
			question->answer = GATHER_ENDED;                                    \
			return 0;                                                           \
		}                                                                           \
		values = ANSWER_SAMPLE(question, struct dart_zero_##name);                  \
		if (!values)                                                                \
			return -ENOSPC;                                                     \
		question->answer = (__u32)take_##name(cgroup, values);                      \
		if (!answer__is_online(cgroup))                                             \
			question->answer = GATHER_ENDED;                                    \
		return 0;                                                                   \
	}                                                                                   \
											    \
	ANSWER_QUESTIONS(answer_##name)

/* The state of a controller in a cgroup, or NULL if it is not enabled there. */
#define CGROUP_STATE(cgroup, controller)                                 \
	sample__state(cgroup, bpf_core_enum_value(enum cgroup_subsys_id, \
						  controller##_cgrp_id))

static __always_inline struct cgroup_subsys_state *
sample__state(const struct cgroup *cgroup, __u32 controller)
{
	const void *states = (const char *)cgroup + bpf_core_field_offset(struct cgroup, subsys);

	return READ(struct cgroup_subsys_state *, states + controller * sizeof(void *));
}

#endif /* SAMPLE_H */
