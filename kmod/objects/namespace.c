// SPDX-License-Identifier: GPL-2.0-only
/* Network namespaces: their list, its changes, and their counters. */
#include "namespace.h"

#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "kmod/extents/borrowed.h"
#include "kmod/extents/percpu.h"

struct dart_namespace {
	struct list_head link;
	struct list_head references;
	struct net *net;
};

static unsigned int namespace_id;
static DEFINE_MUTEX(namespace_lock);
static LIST_HEAD(namespaces);
static LIST_HEAD(watches);
static u64 changes;		/* number of changes of the list */

static void tell_watches(void)
{
	struct dart_namespace_watch *watch;

	changes++;
	list_for_each_entry(watch, &watches, link)
		dart_event_tell(watch->events, &watch->event);
}

/* The kernel adds the namespace to its own list only after this call. */
static int __net_init namespace_begins(struct net *net)
{
	struct dart_namespace *namespace = net_generic(net, namespace_id);

	namespace->net = net;
	INIT_LIST_HEAD(&namespace->references);
	mutex_lock(&namespace_lock);
	list_add_tail(&namespace->link, &namespaces);
	tell_watches();
	mutex_unlock(&namespace_lock);
	return 0;
}

static void namespace_end_references(struct dart_namespace *namespace)
{
	struct dart_namespace_reference *reference, *next;

	list_for_each_entry_safe(reference, next, &namespace->references, link) {
		list_del_init(&reference->link);
		rcu_assign_pointer(reference->net, NULL);
	}
}

/*
 * Exit functions free the counters.  The kernel calls them after all pre_exit functions and a grace
 * period of RCU.
 */
static void __net_exit namespace_ends(struct net *net)
{
	struct dart_namespace *namespace = net_generic(net, namespace_id);

	mutex_lock(&namespace_lock);
	list_del(&namespace->link);
	namespace_end_references(namespace);
	tell_watches();
	mutex_unlock(&namespace_lock);

	dart_borrowed_keep(net);
}

static struct pernet_operations namespace_ops = {
	.init = namespace_begins,
	.pre_exit = namespace_ends,
	.id = &namespace_id,
	.size = sizeof(struct dart_namespace),
};

int dart_namespace_init(void)
{
	return register_pernet_subsys(&namespace_ops);
}

void dart_namespace_exit(void)
{
	unregister_pernet_subsys(&namespace_ops);
}

static struct net *namespace_find(u32 inode)
{
	struct dart_namespace *namespace;

	list_for_each_entry(namespace, &namespaces, link)
		if (namespace->net->ns.inum == inode)
			return namespace->net;
	return NULL;
}

struct dart_percpu *dart_namespace_open(const struct dart_source *source,
					const struct dart_zero_window *window)
{
	struct dart_percpu *percpu = ERR_PTR(-ENOENT);
	struct net *net;

	if (!window->netns) {
		net = get_net_ns_by_fd(window->fd);
		if (IS_ERR(net))
			return ERR_CAST(net);
		percpu = source->borrow(source, window, net);
		put_net(net);
		return percpu;
	}

	/*
	 * A namespace whose setup failed is freed in spite of references, but not before
	 * namespace_ends().
	 */
	mutex_lock(&namespace_lock);
	net = namespace_find(window->netns);
	if (net)
		percpu = source->borrow(source, window, net);
	mutex_unlock(&namespace_lock);
	return percpu;
}

static void namespace_refer(struct net *net, struct dart_namespace_reference *reference, u64 *payer)
{
	struct dart_namespace *namespace = net_generic(net, namespace_id);

	*payer = dart_namespace_payer(net);
	rcu_assign_pointer(reference->net, net);
	list_add(&reference->link, &namespace->references);
}

int dart_namespace_refer(struct dart_namespace_reference *reference,
			 const struct dart_zero_window *window, u64 *payer)
{
	struct net *net, *held = NULL;

	if (!window->netns) {
		held = get_net_ns_by_fd(window->fd);
		if (IS_ERR(held))
			return PTR_ERR(held);
	}
	mutex_lock(&namespace_lock);
	net = held ?: namespace_find(window->netns);
	if (net)
		namespace_refer(net, reference, payer);
	mutex_unlock(&namespace_lock);
	if (held)
		put_net(held);
	return net ? 0 : -ENOENT;
}

void dart_namespace_forget(struct dart_namespace_reference *reference)
{
	mutex_lock(&namespace_lock);
	list_del(&reference->link);
	mutex_unlock(&namespace_lock);
}

/*
 * Only root creates network namespaces in the initial user namespace.  Any other user
 * can create many user namespaces and owns the network namespaces in them: all count
 * for that user.  If root created the outermost one, as for containers, that user
 * namespace has a quota by itself.
 */
u64 dart_namespace_payer(const struct net *net)
{
	const struct user_namespace *outermost = net->user_ns;

	if (outermost == &init_user_ns)
		return 0;
	while (outermost->parent != &init_user_ns)
		outermost = outermost->parent;
	if (uid_eq(outermost->owner, GLOBAL_ROOT_UID))
		return BIT_ULL(32) | outermost->ns.inum;
	return __kuid_val(outermost->owner);
}

struct dart_percpu *dart_namespace_borrow(const struct dart_source *source,
					  const struct dart_zero_window *window, struct net *net)
{
	void __percpu **place = (void *)net + source->place;

	if (!*place)
		return ERR_PTR(-EOPNOTSUPP);
	if (net_eq(net, &init_net))
		return dart_percpu_new_static(*place, source->length, source->name);
	return dart_borrowed_get(net, place, source->length, source->align, source->name,
				 dart_namespace_payer(net));
}

void dart_namespace_watch_init(struct dart_namespace_watch *watch, struct dart_events *events)
{
	INIT_LIST_HEAD(&watch->link);
	watch->events = events;
	dart_event_init(&watch->event, DART_ZERO_EVENT_NAMESPACES);
}

void dart_namespace_watch_set(struct dart_namespace_watch *watch, bool is_watched, u64 change)
{
	mutex_lock(&namespace_lock);
	dart_event_cancel(watch->events, &watch->event);
	list_del_init(&watch->link);
	if (is_watched) {
		list_add(&watch->link, &watches);
		if (changes != change)
			dart_event_tell(watch->events, &watch->event);
	}
	mutex_unlock(&namespace_lock);
}

int dart_namespace_list(u32 *inodes, u32 room, u32 *count, u64 *change)
{
	struct dart_namespace *namespace;

	mutex_lock(&namespace_lock);
	*count = 0;
	list_for_each_entry(namespace, &namespaces, link) {
		if (*count < room)
			inodes[*count] = namespace->net->ns.inum;
		++*count;
	}
	*change = changes;
	mutex_unlock(&namespace_lock);
	return *count <= room ? 0 : -ENOSPC;
}
