// SPDX-License-Identifier: GPL-2.0-only
/* Answers questions about network namespaces: their list, and their counters and devices. */
#include "vmlinux.h"

#include "namespace.h"
#include "sum.h"

#define DEVICES_OF_BUCKET 1024
#define DEVICE_BUCKETS 256 /* NETDEV_HASHENTRIES of the kernel */

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return answer__find_cpus() ?: namespace__find_variables();
}

static long list_namespace(__u32 round, void *unused)
{
	struct gather_namespace *row;
	const struct net *net;

	/* First, because a namespace counts as visited then. */
	row = answer__append(sizeof(*row));
	net = row ? namespace_walk__next(round) : NULL;
	if (!net)
		return 1;
	row->inode = number_of(net);
	row->identity = identity_of(net);
	return 0;
}

/* The rows of earlier runs remain in the output, so they have to begin there. */
static __always_inline int answer_list(struct gather_question *question)
{
	struct gather_exchange *in = answer__exchange();
	int ret;

	if (!in || question->at)
		return -ENOSPC;
	if (!namespace_walk__begins(in))
		in->used = namespace_walk.visited * sizeof(struct gather_namespace);
	bpf_loop(NAMESPACES_MAX, list_namespace, NULL, 0);
	ret = namespace_walk__end(in);
	if (ret)
		return ret;
	if (!namespace_walk__is_whole())
		return -ENOSPC;
	question->rows = namespace_walk.visited;
	question->answer = GATHER_VALUES;
	return 0;
}

/* Answers with counters of a variable per CPU, which the kernel may lack. */
static __always_inline int answer_counters(struct gather_question *question, const void *percpu,
					   __u32 size)
{
	if (percpu)
		return answer__sums(question, (__u64)percpu, size);
	question->answer = GATHER_ABSENT;
	return 0;
}

#define MIB(type, member)                                       \
	do {                                                    \
		percpu = (__u64)BPF_CORE_READ(net, mib.member); \
		size = bpf_core_type_size(struct type);         \
	} while (0)

struct device_search {
	__u64 node; /* address */
	const struct net_device *device;
	__u32 ifindex;
};

static long visit_device(__u32 round, struct device_search *search)
{
	const struct net_device *device;

	if (!search->node)
		return 1;
	device = (const void *)(search->node -
				bpf_core_field_offset(struct net_device, index_hlist));
	if (BPF_CORE_READ(device, ifindex) == search->ifindex) {
		search->device = device;
		return 1;
	}
	search->node = READ(__u64, search->node);
	return 0;
}

static __always_inline const struct net_device *find_device(const struct net *net, __u32 ifindex)
{
	const __u64 heads = (__u64)BPF_CORE_READ(net, dev_index_head);
	struct device_search search = {
		.node = READ(__u64, heads + sizeof(__u64) * (ifindex & (DEVICE_BUCKETS - 1))),
		.ifindex = ifindex,
	};

	bpf_loop(DEVICES_OF_BUCKET, visit_device, &search, 0);
	return search.device;
}

/*
 * clang 14 refuses the bit field in the whole struct net_device of arm64 ("requiring too big
 * alignment").
 */
struct net_device___bits {
	enum netdev_stat_type pcpu_stat_type : 8;
};

/*
 * Since Linux 6.7 a device tells the type of its per-CPU statistics; before, only its driver knows.
 * Returns an enum gather_statistics, or 0.
 */
static __always_inline __u32 statistics_of(const struct net_device *device)
{
	const struct net_device___bits *bits = (const void *)device;

	if (!bpf_core_field_exists(bits->pcpu_stat_type))
		return 0;
	switch (BPF_CORE_READ_BITFIELD_PROBED(bits, pcpu_stat_type)) {
	case NETDEV_PCPU_STAT_LSTATS:
		return GATHER_STATISTICS_LSTATS;
	case NETDEV_PCPU_STAT_TSTATS:
		return GATHER_STATISTICS_TSTATS;
	case NETDEV_PCPU_STAT_DSTATS:
		return GATHER_STATISTICS_DSTATS;
	default:
		return 0;
	}
}

static __always_inline int answer_kind(struct gather_question *question, __u32 statistics)
{
	struct gather_row *row = answer__append(sizeof(*row));

	if (!row)
		return -ENOSPC;
	row->number = statistics;
	answer__add_row(question);
	return 0;
}

static __always_inline int answer_device(struct gather_question *question,
					 const struct net_device *device)
{
	const void *percpu = BPF_CORE_READ(device, lstats); /* a union of all three */
	const __u32 statistics = statistics_of(device);
	__u32 size = 0;

	switch (statistics) {
	case GATHER_STATISTICS_LSTATS:
		size = bpf_core_type_size(struct pcpu_lstats);
		break;
	case GATHER_STATISTICS_TSTATS:
		size = bpf_core_type_size(struct pcpu_sw_netstats);
		break;
	case GATHER_STATISTICS_DSTATS:
		size = bpf_core_type_size(struct pcpu_dstats);
		break;
	default:
		percpu = NULL;
	}
	if (percpu && !question->length)
		return answer_kind(question, statistics);
	return answer_counters(question, percpu, size);
}

static long append_zeros(__u32 place, const __u32 *words)
{
	__u64 *word = answer__append(sizeof(*word));

	if (!word)
		return 1;
	*word = 0;
	return 0;
}

/* The kernel allocates these counters when it drops the first packet of the device. */
static __always_inline int answer_core(struct gather_question *question,
				       const struct net_device *device)
{
	const void *percpu = BPF_CORE_READ(device, core_stats);
	const __u32 count = answer__cpu_count();
	const __u32 words = count * (question->length / sizeof(__u64));

	if (percpu)
		return answer__copies(question, (__u64)percpu,
				      bpf_core_type_size(struct net_device_core_stats));
	if (question->length > GATHER_COPY_MAX)
		return -EINVAL;
	if (bpf_loop(words, append_zeros, NULL, 0) != words)
		return -ENOSPC;
	if (!question->is_sum)
		answer__copy_online();
	question->rows = count;
	question->answer = GATHER_VALUES;
	return 0;
}

static __always_inline int answer_netdev(struct gather_question *question, const struct net *net)
{
	const struct net_device *device = find_device(net, question->ifindex);

	if (!device) {
		question->answer = GATHER_ENDED;
		return 0;
	}
	if (question->source == DART_ZERO_SOURCE_NETDEV)
		return answer_device(question, device);
	return answer_core(question, device);
}

static __always_inline int answer_namespace(struct gather_question *question, const struct net *net)
{
	__u64 percpu;
	__u32 size;

	switch (question->source) {
	case DART_ZERO_SOURCE_IP:
		MIB(ipstats_mib, ip_statistics);
		break;
	case DART_ZERO_SOURCE_IP6:
		MIB(ipstats_mib, ipv6_statistics);
		break;
	case DART_ZERO_SOURCE_TCP:
		MIB(tcp_mib, tcp_statistics);
		break;
	case DART_ZERO_SOURCE_TCPEXT:
		MIB(linux_mib, net_statistics);
		break;
	case DART_ZERO_SOURCE_UDP:
		MIB(udp_mib, udp_statistics);
		break;
	case DART_ZERO_SOURCE_UDP6:
		MIB(udp_mib, udp_stats_in6);
		break;
	case DART_ZERO_SOURCE_ICMP:
		MIB(icmp_mib, icmp_statistics);
		break;
	case DART_ZERO_SOURCE_ICMP6:
		MIB(icmpv6_mib, icmpv6_statistics);
		break;
	case DART_ZERO_SOURCE_NETDEV:
	case DART_ZERO_SOURCE_NETDEV_CORE:
		return answer_netdev(question, net);
	default:
		return -EINVAL;
	}
	return answer_counters(question, (const void *)percpu, size);
}

static __always_inline int namespaces(struct gather_question *question)
{
	const struct net *net = NULL;
	int ret;

	if (question->source == GATHER_NAMESPACES)
		return answer_list(question);
	ret = namespace__find(question, &net);
	return ret || !net ? ret : answer_namespace(question, net);
}

ANSWER_QUESTIONS(namespaces)

char LICENSE[] SEC("license") = "GPL";
