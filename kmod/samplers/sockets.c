// SPDX-License-Identifier: GPL-2.0-only
/* Samples network namespaces: their sockets, fragments and tracked connections. */
#include "sockets.h"

#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/inet_frag.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#ifdef DART_HAS_UDPLITE
#include <net/udplite.h>
#endif
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif

#include <linux/dart_zero.h>

#include "kmod/objects/namespace.h"
#include "sampler.h"

enum protocol { TCP, UDP, UDPLITE, RAW, PROTOCOLS };

struct namespace_sampler {
	struct dart_sampler sampler;
	struct dart_namespace_reference namespace;
};

static DEFINE_MUTEX(protocols_lock);
/* Set once, by the first sampler.  NULL: the kernel does not have the protocol. */
static struct proto *ipv4[PROTOCOLS], *ipv6[PROTOCOLS];
static bool has_ipv4, has_ipv6;

/*
 * The kernel does not export all protocols, but each socket refers to its own.  Protocols stay as
 * long as the kernel runs: neither IPv4 nor IPv6 is ever unloaded.  UDP-Lite gets no socket,
 * because its first socket makes the kernel print that it is deprecated.
 */
static int find_protocol(int family, enum protocol protocol, struct proto **found)
{
	static const struct {
		int type;
		int number;
	} protocols[] = {
		[TCP] = { SOCK_STREAM, IPPROTO_TCP },
		[UDP] = { SOCK_DGRAM, IPPROTO_UDP },
		[RAW] = { SOCK_RAW, IPPROTO_RAW },
	};
	struct socket *socket;
	int ret;

	ret = sock_create_kern(&init_net, family, protocols[protocol].type,
			       protocols[protocol].number, &socket);
	switch (ret) {
	case 0:
		WRITE_ONCE(*found, socket->sk->sk_prot);
		sock_release(socket);
		return 0;
	case -EAFNOSUPPORT:
	case -EPROTONOSUPPORT:
	case -ESOCKTNOSUPPORT:
		return 0;
	default:
		return ret;
	}
}

static int find_family(int family, struct proto **found, bool *is_found)
{
	enum protocol i;
	int ret = 0;

	for (i = 0; i < PROTOCOLS && !ret && !*is_found; i++)
		if (i != UDPLITE)
			ret = find_protocol(family, i, &found[i]);
	*is_found |= !ret;
	return ret;
}

#ifdef DART_HAS_UDPLITE
/* Only its number is known, because the kernel does not export it. */
static struct proto udplite6;

/*
 * IPv6 registers UDP, UDP-Lite and RAW one after another, so a number between the other two belongs
 * to UDP-Lite.
 */
static void find_udplite6(void)
{
	const struct proto *udp = ipv6[UDP], *raw = ipv6[RAW];

	if (!udp || !raw || raw->inuse_idx - udp->inuse_idx != 2)
		return;
	udplite6.inuse_idx = udp->inuse_idx + 1;
	WRITE_ONCE(ipv6[UDPLITE], &udplite6);
}

static void find_udplite(void)
{
	WRITE_ONCE(ipv4[UDPLITE], &udplite_prot);
}
#else
static void find_udplite(void)
{
}

static void find_udplite6(void)
{
}
#endif

static int find_protocols(void)
{
	int ret;

	mutex_lock(&protocols_lock);
	ret = find_family(AF_INET, ipv4, &has_ipv4);
	find_udplite();
#if IS_ENABLED(CONFIG_IPV6)
	/* Without IPv6 a socket would load its module. */
	if (!ret && init_net.mib.ipv6_statistics)
		ret = find_family(AF_INET6, ipv6, &has_ipv6);
	find_udplite6();
#endif
	mutex_unlock(&protocols_lock);
	return ret;
}

static u32 in_use(struct net *net, struct proto *protocol)
{
	return protocol ? sock_prot_inuse_get(net, protocol) : 0;
}

/* Fragments that wait for the rest of their packets. */
static void sample_fragments(const struct fqdir *fragments, __u32 *count, __u64 *memory)
{
	if (!fragments)
		return;
	*count = atomic_read(&fragments->rhashtable.nelems);
	*memory = frag_mem_limit(fragments);
}

#if IS_ENABLED(CONFIG_NF_CONNTRACK)
/* Symbols of the module that tracks connections. */
struct tracking {
	typeof(nf_conntrack_count) *count;
	const unsigned int *max;
};

static DEFINE_MUTEX(tracking_lock);
static struct tracking tracking_found; /* used while @tracking points here */
static const struct tracking __rcu *tracking; /* NULL: the module is not loaded */

static void tracking_find(void)
{
	typeof(nf_conntrack_count) *count;
	const unsigned int *max;

	/* A module that is being unloaded has no symbols any more: see tracking_forget(). */
	mutex_lock(&tracking_lock);
	count = symbol_get(nf_conntrack_count);
	max = symbol_get(nf_conntrack_max);
	if (count && max) {
		tracking_found = (struct tracking){ count, max };
		rcu_assign_pointer(tracking, &tracking_found);
	}
	if (count)
		symbol_put(nf_conntrack_count);
	if (max)
		symbol_put(nf_conntrack_max);
	mutex_unlock(&tracking_lock);
}

static void tracking_forget(void)
{
	mutex_lock(&tracking_lock);
	RCU_INIT_POINTER(tracking, NULL);
	mutex_unlock(&tracking_lock);
	synchronize_rcu();
}

/* The module may be unloaded while samplers exist: this notifier runs before. */
static int on_module(struct notifier_block *notifier, unsigned long state, void *data)
{
	const struct module *module = data;

	/* If this fails, the next sampler that is opened tries again. */
	if (state == MODULE_STATE_LIVE && !strcmp(module->name, "ipv6"))
		find_protocols();
	if (strcmp(module->name, "nf_conntrack"))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_LIVE)
		tracking_find();
	else if (state == MODULE_STATE_GOING)
		tracking_forget();
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };

int dart_namespace_sampler_init(void)
{
	int ret = register_module_notifier(&module_notifier);

	if (!ret)
		tracking_find();
	return ret;
}

void dart_namespace_sampler_exit(void)
{
	unregister_module_notifier(&module_notifier);
}

/* Called as an RCU reader. */
static void sample_connections(struct net *net, struct dart_zero_sockets *sockets)
{
	const struct tracking *found = rcu_dereference(tracking);
	const struct ip_conntrack_stat *stat;
	int cpu;

	if (!found)
		return;
	sockets->conntrack_limit = READ_ONCE(*found->max);
	sockets->conntrack_entries = found->count(net);
	for_each_possible_cpu(cpu) {
		stat = per_cpu_ptr(net->ct.stat, cpu);
		sockets->conntrack_invalid += READ_ONCE(stat->invalid);
		sockets->conntrack_insert_failed += READ_ONCE(stat->insert_failed);
		sockets->conntrack_drop += READ_ONCE(stat->drop);
		sockets->conntrack_early_drop += READ_ONCE(stat->early_drop);
	}
}
#else
int dart_namespace_sampler_init(void)
{
	return 0;
}

void dart_namespace_sampler_exit(void)
{
}

static void sample_connections(struct net *net, struct dart_zero_sockets *sockets)
{
}
#endif

/* Like sockstat_seq_show() of net/ipv4/proc.c, and of IPv6. */
static void sample_namespace(struct net *net, struct dart_zero_sockets *sockets)
{
	sockets->used = sock_inuse_get(net);
	sockets->tcp_inuse = in_use(net, ipv4[TCP]);
	sockets->tcp_tw = refcount_read(&net->ipv4.tcp_death_row.tw_refcount) - 1;
	sockets->udp_inuse = in_use(net, ipv4[UDP]);
	sockets->udplite_inuse = in_use(net, ipv4[UDPLITE]);
	sockets->raw_inuse = in_use(net, ipv4[RAW]);
	sample_fragments(net->ipv4.fqdir, &sockets->frag_inuse, &sockets->frag_memory);

	sockets->tcp6_inuse = in_use(net, ipv6[TCP]);
	sockets->udp6_inuse = in_use(net, ipv6[UDP]);
	sockets->udplite6_inuse = in_use(net, ipv6[UDPLITE]);
	sockets->raw6_inuse = in_use(net, ipv6[RAW]);
#if IS_ENABLED(CONFIG_IPV6)
	sample_fragments(net->ipv6.fqdir, &sockets->frag6_inuse, &sockets->frag6_memory);
#endif
	sample_connections(net, sockets);
}

/*
 * The kernel lists a namespace after all its parts are set up, and keeps the link until they are
 * freed.
 */
static bool is_set_up(const struct net *net)
{
	return READ_ONCE(net->list.next);
}

static int sample(struct dart_sampler *base, void *sample, u64 *time)
{
	const struct namespace_sampler *sampler =
		container_of(base, struct namespace_sampler, sampler);
	struct net *net;
	int ret = -ENODEV;

	/* The kernel frees the parts of a namespace when no RCU reader can have it any more. */
	rcu_read_lock();
	net = rcu_dereference(sampler->namespace.net);
	if (net)
		ret = is_set_up(net) ? 0 : -EAGAIN;
	if (!ret)
		sample_namespace(net, sample);
	rcu_read_unlock();
	return ret;
}

static void sampler_free(struct dart_sampler *base)
{
	struct namespace_sampler *sampler = container_of(base, struct namespace_sampler, sampler);

	dart_namespace_forget(&sampler->namespace);
	kfree(sampler);
}

static const struct dart_sampler_kind sockets_kind = {
	.name = "dart_zero_sockets",
	.length = sizeof(struct dart_zero_sockets),
	.sample = sample,
	.free = sampler_free,
};

struct dart_sampler *dart_namespace_sampler_open(const struct dart_zero_window *window)
{
	struct namespace_sampler *sampler;
	int ret;

	sampler = kzalloc(sizeof(*sampler), GFP_KERNEL_ACCOUNT);
	if (!sampler)
		return ERR_PTR(-ENOMEM);
	sampler->sampler.kind = &sockets_kind;
	ret = find_protocols();
	ret = ret ?: dart_namespace_refer(&sampler->namespace, window, &sampler->sampler.payer);
	if (ret) {
		kfree(sampler);
		return ERR_PTR(ret);
	}
	return &sampler->sampler;
}
