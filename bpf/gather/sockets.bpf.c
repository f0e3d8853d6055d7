// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers questions about the sockets, fragments and tracked connections of network namespaces:
 * reads the variables of the kernel from which kmod/samplers/sockets.c gets its values by
 * functions.
 */
#include "vmlinux.h"

#include "namespace.h"

/* A kernel can lack any protocol; such a protocol has no sockets. */
enum protocol { TCP, UDP, UDPLITE, RAW, TCP6, UDP6, UDPLITE6, RAW6, PROTOCOLS };

/* Longest walks. */
#define MODULES_MAX 4096
#define SYMBOLS_MAX 65536

/* Addresses of struct proto; 0: the kernel lacks the protocol. */
static __u64 protocols[PROTOCOLS];
static __u64 modules; /* address of the list of struct module */

/* Addresses of the variables of nf_conntrack; 0: none. */
struct tracking_variables {
	__u64 max;
	__u64 net_id;
};

/*
 * Of a kernel that contains nf_conntrack.  Not static, because clang would divide it into variables
 * with names that BTF refuses.
 */
struct tracking_variables built_in;

/* The kernel looks up variables of modules, too, but modules lie outside of the kernel. */
static __always_inline int find_built_in(void)
{
	__u64 begin, end;
	int ret = FIND(begin, "_stext")				     ?:
			  FIND(end, "_end")			     ?:
			  FIND_ANY(built_in.max, "nf_conntrack_max") ?:
			  FIND_ANY(built_in.net_id, "nf_conntrack_net_id");

	if (!ret && (built_in.max < begin || built_in.max >= end))
		built_in = (struct tracking_variables){};
	return ret;
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return answer__find_cpus()				       ?:
		       namespace__find_variables()		       ?:
		       FIND_ANY(protocols[TCP], "tcp_prot")	       ?:
		       FIND_ANY(protocols[UDP], "udp_prot")	       ?:
		       FIND_ANY(protocols[UDPLITE], "udplite_prot")    ?:
		       FIND_ANY(protocols[RAW], "raw_prot")	       ?:
		       FIND_ANY(protocols[TCP6], "tcpv6_prot")	       ?:
		       FIND_ANY(protocols[UDP6], "udpv6_prot")	       ?:
		       FIND_ANY(protocols[UDPLITE6], "udplitev6_prot") ?:
		       FIND_ANY(protocols[RAW6], "rawv6_prot")	       ?:
		       FIND(modules, "modules")			       ?:
									 find_built_in();
}

/*
 * As a module, nf_conntrack comes and goes with its variables.  So the first question of each run
 * looks for it in the kernel's list, and looks up the variables in its table of symbols if the list
 * contains another module than before: struct module is a part of the module, and so tells where
 * its variables are.  The kernel waits for RCU readers before it frees a module.
 */
struct tracking {
	__u64 run; /* gather_exchange.time of the last look */
	__u64 module; /* address; 0: not loaded */
	struct tracking_variables variables;
	/* Of the walks, addresses: */
	__u64 link;
	__u64 found;
	__u64 symbols;
	__u64 names;
} tracking; /* not static: see built_in */

static long visit_module(__u32 round, void *nothing)
{
	const struct module *module;
	char name[sizeof("nf_conntrack")] = {};

	if (!tracking.link || tracking.link == modules)
		return 1;
	module = (const void *)(tracking.link - bpf_core_field_offset(struct module, list));
	bpf_core_read(name, sizeof(name), &module->name);
	if (!bpf_strncmp(name, sizeof(name), "nf_conntrack")) {
		if (BPF_CORE_READ(module, state) == MODULE_STATE_LIVE)
			tracking.found = (__u64)module;
		return 1;
	}
	tracking.link = READ(__u64, tracking.link);
	return 0;
}

static long visit_symbol(__u32 number, void *nothing)
{
	const Elf64_Sym *symbol =
		(const void *)tracking.symbols + number * bpf_core_type_size(Elf64_Sym);
	char name[sizeof("nf_conntrack_net_id")] = {};

	bpf_probe_read_kernel_str(name, sizeof(name),
				  (const void *)(tracking.names + BPF_CORE_READ(symbol, st_name)));
	if (!bpf_strncmp(name, sizeof("nf_conntrack_max"), "nf_conntrack_max"))
		tracking.variables.max = BPF_CORE_READ(symbol, st_value);
	else if (!bpf_strncmp(name, sizeof(name), "nf_conntrack_net_id"))
		tracking.variables.net_id = BPF_CORE_READ(symbol, st_value);
	return tracking.variables.max && tracking.variables.net_id;
}

static __always_inline void find_tracking(void)
{
	const struct module *module;
	__u32 symbols;

	tracking.found = 0;
	tracking.link = READ(__u64, modules);
	bpf_loop(MODULES_MAX, visit_module, NULL, 0);
	if (tracking.found == tracking.module && tracking.run)
		return;
	tracking.module = tracking.found;
	tracking.variables = built_in;
	module = (const void *)tracking.found;
	if (!module)
		return;
	tracking.symbols = (__u64)BPF_CORE_READ(module, kallsyms, symtab);
	tracking.names = (__u64)BPF_CORE_READ(module, kallsyms, strtab);
	symbols = BPF_CORE_READ(module, kallsyms, num_symtab);
	bpf_loop(symbols < SYMBOLS_MAX ? symbols : SYMBOLS_MAX, visit_symbol, NULL, 0);
}

/* True while the module that tracks connections is loaded. */
static __always_inline bool is_tracking(void)
{
	const struct gather_exchange *in = answer__exchange();

	if (in && tracking.run != in->time) {
		find_tracking();
		tracking.run = in->time;
	}
	return tracking.variables.max && tracking.variables.net_id;
}

/* Sums over CPUs. */
struct socket_sum {
	__u64 address; /* per CPU */
	__s64 all;
	__s64 of[PROTOCOLS];
	__u64 invalid;
	__u64 insert_failed;
	__u64 drop;
	__u64 early_drop;
} socket_sum; /* not static: see built_in */

static __always_inline __s32 inuse_of(const struct prot_inuse *inuse, enum protocol protocol)
{
	const struct proto *proto = (const void *)protocols[protocol];
	__u64 values = (__u64)inuse + bpf_core_field_offset(struct prot_inuse, val);

	return proto ? READ(__s32, values + sizeof(__s32) * BPF_CORE_READ(proto, inuse_idx)) : 0;
}

static long add_inuse(__u32 place, void *nothing)
{
	const struct prot_inuse *inuse =
		(const void *)answer__at_cpu(socket_sum.address, answer__cpu(place));
	enum protocol i;

	socket_sum.all += BPF_CORE_READ(inuse, all);
#pragma unroll
	for (i = 0; i < PROTOCOLS; i++)
		socket_sum.of[i] += inuse_of(inuse, i);
	return 0;
}

static long add_tracked(__u32 place, void *nothing)
{
	const struct ip_conntrack_stat *stat =
		(const void *)answer__at_cpu(socket_sum.address, answer__cpu(place));

	socket_sum.invalid += BPF_CORE_READ(stat, invalid);
	socket_sum.insert_failed += BPF_CORE_READ(stat, insert_failed);
	socket_sum.drop += BPF_CORE_READ(stat, drop);
	socket_sum.early_drop += BPF_CORE_READ(stat, early_drop);
	return 0;
}

/* Fragments that wait for the rest of their packets. */
static __always_inline void take_fragments(const struct fqdir *fragments, __u32 *count,
					   __u64 *memory)
{
	if (!fragments)
		return;
	*count = BPF_CORE_READ(fragments, rhashtable.nelems.counter);
	*memory = BPF_CORE_READ(fragments, mem.counter);
}

/* The first member of struct nf_conntrack_net, which BTF of the kernel itself lacks. */
static __always_inline __u32 tracked(const struct net *net)
{
	const __u64 pointers =
		(__u64)BPF_CORE_READ(net, gen) + bpf_core_field_offset(struct net_generic, ptr);

	return READ(__u32,
		    READ(__u64, pointers + sizeof(__u64) * READ(__u32, tracking.variables.net_id)));
}

static __always_inline void take_connections(const struct net *net,
					     struct dart_zero_sockets *sockets)
{
	sockets->conntrack_limit = READ(__u32, tracking.variables.max);
	sockets->conntrack_entries = tracked(net);
	socket_sum.address = (__u64)BPF_CORE_READ(net, ct.stat);
	bpf_loop(answer__cpu_count(), add_tracked, NULL, 0);
	sockets->conntrack_invalid = socket_sum.invalid;
	sockets->conntrack_insert_failed = socket_sum.insert_failed;
	sockets->conntrack_drop = socket_sum.drop;
	sockets->conntrack_early_drop = socket_sum.early_drop;
}

/* Like sockstat_seq_show() of net/ipv4/proc.c, and of IPv6. */
static __always_inline void take_sockets(const struct net *net, struct dart_zero_sockets *sockets)
{
	__builtin_memset(&socket_sum, 0, sizeof(socket_sum));
	socket_sum.address = (__u64)BPF_CORE_READ(net, core.prot_inuse);
	bpf_loop(answer__cpu_count(), add_inuse, NULL, 0);
	sockets->used = at_least_0(socket_sum.all);
	sockets->tcp_inuse = at_least_0(socket_sum.of[TCP]);
	sockets->tcp_tw = BPF_CORE_READ(net, ipv4.tcp_death_row.tw_refcount.refs.counter) - 1;
	sockets->udp_inuse = at_least_0(socket_sum.of[UDP]);
	sockets->udplite_inuse = at_least_0(socket_sum.of[UDPLITE]);
	sockets->raw_inuse = at_least_0(socket_sum.of[RAW]);
	take_fragments(BPF_CORE_READ(net, ipv4.fqdir), &sockets->frag_inuse, &sockets->frag_memory);

	sockets->tcp6_inuse = at_least_0(socket_sum.of[TCP6]);
	sockets->udp6_inuse = at_least_0(socket_sum.of[UDP6]);
	sockets->udplite6_inuse = at_least_0(socket_sum.of[UDPLITE6]);
	sockets->raw6_inuse = at_least_0(socket_sum.of[RAW6]);
	take_fragments(BPF_CORE_READ(net, ipv6.fqdir), &sockets->frag6_inuse,
		       &sockets->frag6_memory);
	if (is_tracking())
		take_connections(net, sockets);
}

static __always_inline int sockets(struct gather_question *question)
{
	struct dart_zero_sockets *values;
	const struct net *net = NULL;
	int ret;

	if (question->source != DART_ZERO_SOURCE_SOCKETS)
		return -EINVAL;
	ret = namespace__find(question, &net);
	if (ret || !net)
		return ret;
	values = ANSWER_SAMPLE(question, struct dart_zero_sockets);
	if (!values)
		return -ENOSPC;
	take_sockets(net, values);
	return 0;
}

ANSWER_QUESTIONS(sockets)

char LICENSE[] SEC("license") = "GPL";
