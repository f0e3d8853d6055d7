// SPDX-License-Identifier: GPL-2.0-only
/* Samples the I/O of a cgroup, the sum over its devices. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cgroup_io.h"
#include "sample.h"

/* The sum of the devices before @search.node. */
struct io_total {
	struct io_search search;
	struct io_walk walk;
	struct dart_zero_cgroup_io values;
};

static long add_device(__u32 number, struct io_total *total)
{
	total->search.found = NULL;
	find_device(number, &total->search);
	if (total->search.found)
		add_line(total->search.found, &total->walk, &total->values);
	return !total->search.node;
}

static __always_inline void take_io(const struct cgroup_subsys_state *state,
				    struct io_total *total)
{
	const struct blkcg *blkcg =
		(const void *)state - bpf_core_field_offset(struct blkcg, css);

	total->search.node = BPF_CORE_READ(blkcg, blkg_list.first);
	total->walk.top = state;
	bpf_loop(DEVICES_MAX, add_device, total, 0);
	total->values.left_out = total->search.node || total->walk.is_cut;
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return find_cpus();
}

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_io(struct bpf_raw_tracepoint_args *context)
{
	const struct cgroup_subsys_state *state;
	struct io_total total = {};

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_CGROUP_IO)
		return 0;
	state = CGROUP_STATE(CGROUP_OF(context), io);
	if (!state) {
		SAMPLE_IS_ABSENT(context);
		return 0;
	}
	take_io(state, &total);
	SAMPLE_ANSWER(context, total.values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
