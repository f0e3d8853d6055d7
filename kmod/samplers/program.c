// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples by eBPF programs: of variables and structures that modules cannot see, but whose layout
 * is in the kernel's BTF.
 */
#include "sampler.h"

#include <linux/build_bug.h>
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include <linux/dart_zero.h>

#include "kmod/objects/cgroup.h"

#define CREATE_TRACE_POINTS
#include "sample_trace.h"

struct program_kind {
	struct dart_sampler_kind kind;
	u32 source; /* enum dart_zero_source */
};

struct program_sampler {
	struct dart_sampler sampler; /* first: its kind is part of a program_kind */
	struct cgroup *cgroup; /* NULL: the host */
};

/* The program cannot find out this value, and leaves it as it is. */
static void set_tai(struct dart_zero_clock *clock)
{
	const s64 ahead = ktime_sub(ktime_get_clocktai(), ktime_get_real());

	/* Some time passed between the two calls. */
	clock->tai = div_s64(ahead + (ahead < 0 ? -1 : 1) * NSEC_PER_SEC / 2, NSEC_PER_SEC);
}

/* Asks the program.  Sets @sample->source; the program sets the rest. */
static int ask_program(const struct dart_sampler *sampler,
		       struct dart_zero_sample *sample, void *values)
{
	const struct program_sampler *asking =
		container_of(sampler, struct program_sampler, sampler);
	const struct program_kind *kind = container_of(sampler->kind, struct program_kind, kind);

	sample->source = kind->source;
	if (kind->source == DART_ZERO_SOURCE_CLOCK)
		set_tai((struct dart_zero_clock *)sample->values);
	trace_dart_zero_sample(sample, asking->cgroup);
	/* Checked after the call: when a cgroup ends, its controllers become absent as well. */
	if (asking->cgroup && dart_cgroup_has_ended(asking->cgroup))
		return -ENODEV;
	switch (sample->answer) {
	case DART_ZERO_ANSWER_VALUES:
		memcpy(values, sample->values, kind->kind.length);
		return 0;
	case DART_ZERO_ANSWER_ABSENT:
		return -ENODATA;
	default:
		return -EAGAIN;
	}
}

static int sample_by_program(struct dart_sampler *sampler, void *values, u64 *time)
{
	struct dart_zero_sample sample = { };

	return ask_program(sampler, &sample, values);
}

static int sample_row_by_program(struct dart_sampler *sampler, u32 index,
				 u64 *number, void *values, u64 *time)
{
	struct dart_zero_sample sample = { .index = index };
	int ret = ask_program(sampler, &sample, values);

	*number = sample.number;
	return ret;
}

static void free_sampler(struct dart_sampler *sampler)
{
	struct program_sampler *asking = container_of(sampler, struct program_sampler, sampler);

	if (asking->cgroup)
		cgroup_put(asking->cgroup);
	kfree(asking);
}

#define ROWS_MAX 16

/* @sample or @sample_row of a kind, for records with one row or with several. */
#define SAMPLE_OF_NONE		.sample = sample_by_program
#define SAMPLE_OF_DEVICE	.sample_row = sample_row_by_program

static const struct program_kind kinds[] = {
#define BY_MODULE(source, name, function)
#define BY_BOTH(source, name, function)
/* Programs can only access @values of a sample. */
#define BY_PROGRAM(source_, name_, function)				\
	{								\
		.source = source_,					\
		.kind = {						\
			.name = "dart_zero_" #name_,			\
			.length = sizeof(struct dart_zero_##name_) +	\
				BUILD_BUG_ON_ZERO(			\
					sizeof(struct dart_zero_##name_) > \
					sizeof_field(struct dart_zero_sample, \
						     values)),		\
			.free = free_sampler,				\
			function,					\
		},							\
	},
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, selector, rows, ...) \
	taker(source, name, SAMPLE_OF_##rows)
#include <linux/dart_zero_samples.def>
};

static const struct program_kind *kind_find(u32 source)
{
	const struct program_kind *kind = kinds;

	while (kind->source != source)
		if (++kind == kinds + ARRAY_SIZE(kinds))
			return NULL;
	return kind;
}

struct dart_sampler *dart_program_sampler_open(const struct dart_zero_window *window)
{
	const struct program_kind *kind = kind_find(window->source);
	struct program_sampler *asking;
	struct cgroup *cgroup = NULL;

	if (WARN_ON(!kind))
		return ERR_PTR(-EINVAL);
	if (window->fd >= 0)
		cgroup = dart_cgroup_get(window->fd);
	if (IS_ERR(cgroup))
		return ERR_CAST(cgroup);
	asking = kzalloc(sizeof(*asking), GFP_KERNEL_ACCOUNT);
	if (!asking) {
		if (cgroup)
			cgroup_put(cgroup);
		return ERR_PTR(-ENOMEM);
	}
	asking->sampler.kind = &kind->kind;
	asking->sampler.indices = ROWS_MAX;
	asking->sampler.rows = ROWS_MAX;
	asking->cgroup = cgroup;
	return &asking->sampler;
}
