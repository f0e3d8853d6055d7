// SPDX-License-Identifier: GPL-2.0-only
/* Samples the sockets of all network namespaces together. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cpus.h"
#include "sample.h"

extern const unsigned int tcp_orphan_count __ksym;

/* Addresses, of struct proto. */
static __u64 tcp;
static __u64 udp;
static __u32 page_shift;

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	page_shift = setting->page_shift;
	return FIND(tcp, "tcp_prot") ?: FIND(udp, "udp_prot") ?: find_cpus();
}

/* Sums over counts by CPU; the count of one CPU alone may be negative. */
struct socket_sum {
	const __s32 *allocated_of; /* by CPU: counts that @allocated does not include yet */
	__s64 allocated;
	__s32 orphans;
};

static long add_cpu(__u32 cpu, struct socket_sum *sum)
{
	const unsigned int *orphans = bpf_per_cpu_ptr(&tcp_orphan_count, cpu);

	if (!orphans)
		return 1;
	if (is_possible(cpu)) {
		sum->orphans += *orphans;
		sum->allocated += READ(__s32, at_cpu(sum->allocated_of, cpu));
	}
	return 0;
}

static __always_inline __u64 memory_of(const struct proto *protocol)
{
	return at_least_0(BPF_CORE_READ(protocol, memory_allocated, counter)) << page_shift;
}

static __always_inline enum dart_zero_sample_answer
take_sockets_host(struct dart_zero_sockets_host *values)
{
	const struct percpu_counter *allocated =
		BPF_CORE_READ((const struct proto *)tcp, sockets_allocated);
	struct socket_sum sum = {
		.allocated_of = BPF_CORE_READ(allocated, counters),
		.allocated = BPF_CORE_READ(allocated, count),
	};

	bpf_loop(CPUS_MAX, add_cpu, &sum, 0);
	*values = (struct dart_zero_sockets_host){
		.tcp_orphan = at_least_0(sum.orphans),
		.tcp_alloc = at_least_0(sum.allocated),
		.tcp_mem = memory_of((const void *)tcp),
		.udp_mem = memory_of((const void *)udp),
		.page_size = 1ULL << page_shift,
	};
	return DART_ZERO_ANSWER_VALUES;
}

HOST_SAMPLE(DART_ZERO_SOURCE_SOCKETS_HOST, sockets_host)

char LICENSE[] SEC("license") = "GPL";
