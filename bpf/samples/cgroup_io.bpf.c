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

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return find_cpus();
}

static __always_inline enum dart_zero_sample_answer
take_cgroup_io(const struct cgroup *cgroup, struct dart_zero_cgroup_io *values)
{
	const struct cgroup_subsys_state *state = CGROUP_STATE(cgroup, io);
	struct io_total total = {};

	if (!state)
		return DART_ZERO_ANSWER_ABSENT;
	total.search.node = first_device(state);
	total.walk.top = state;
	bpf_loop(DEVICES_MAX, add_device, &total, 0);
	total.values.left_out = total.search.node || total.walk.is_cut;
	*values = total.values;
	return DART_ZERO_ANSWER_VALUES;
}

CGROUP_SAMPLE(DART_ZERO_SOURCE_CGROUP_IO, cgroup_io)

char LICENSE[] SEC("license") = "GPL";
