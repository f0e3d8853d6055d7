// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples network devices over rtnetlink(7), because most drivers keep their counts where eBPF
 * programs do not find them.  One dump answers for all devices of a namespace.  The kernel dumps
 * the devices of another namespace to a socket of dartd's, by the number that the namespace has
 * here: a socket in the other namespace would keep it from ending.
 */
#include <errno.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "netlink.h"
#include "own_sample.h"
#include "question.h"

/* How long samples wait for the dumps, unless earlier dumps are still outstanding. */
#define PATIENCE_MS 20
/* An answer serves all samples of a pass; passes are 10 ms or more apart. */
#define FRESH_NS 5000000

/* Dumps of a namespace until one is complete. */
#define DUMPS 16

/* The number of dartd's namespace: the kernel numbers others from 0 on. */
#define OWN_NAMESPACE NETNSA_NSID_NOT_ASSIGNED

/* The kernel's members in the kernel's order. */
#define STATS_BYTES (offsetof(struct dart_zero_netdev_link, rx_otherhost_dropped) + sizeof(__u64))

struct known_link {
	uint32_t ifindex;
	struct dart_zero_netdev_link values;
};

/* A namespace with samples, and the last answer about it. */
struct link_namespace {
	LIST_ENTRY(link_namespace) link;
	int32_t number;
	unsigned int users; /* samples */
	struct known_link *links; /* by their ifindex */
	size_t count;
	int code; /* 0 or -errno; -EAGAIN: no answer yet */
	uint64_t time; /* CLOCK_BOOTTIME, ns */
};

/*
 * The question about the devices of all namespaces with samples: one thread asks, because the
 * kernel dumps one namespace at a time.
 */
static struct {
	struct question question; /* first: see question.h */
	bool is_slow; /* the last answer took longer than the patience; for samples */
	pthread_mutex_t lock; /* guards the list and its members, for samples and the thread */
	LIST_HEAD(, link_namespace) namespaces;
} links = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.namespaces = LIST_HEAD_INITIALIZER(links.namespaces),
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

struct link_sample {
	struct own_sample sample; /* first: see own_sample.h */
	struct link_namespace *namespace;
	uint32_t ifindex;
	uint64_t taken; /* time of the answer that the last sample returned, or 0 */
};

/* ---- dumps */

/* The links of a namespace, as a dump collects them. */
struct dump {
	struct known_link *links;
	size_t count;
};

static void take_stats(struct dart_zero_netdev_link *values, const struct nlattr *attribute)
{
	const size_t size = netlink__size(attribute);

	/* Older kernels lack members at the end. */
	memcpy(values, netlink__value(attribute), size < STATS_BYTES ? size : STATS_BYTES);
}

static void take_attribute(struct dart_zero_netdev_link *values, const struct nlattr *attribute)
{
	switch (netlink__type(attribute)) {
	case IFLA_STATS64:
		take_stats(values, attribute);
		break;
	case IFLA_CARRIER:
		values->carrier = netlink__number(attribute);
		break;
	case IFLA_CARRIER_CHANGES:
		values->carrier_changes = netlink__number(attribute);
		break;
	case IFLA_OPERSTATE:
		values->operstate = netlink__number(attribute);
		break;
	case IFLA_MTU:
		values->mtu = netlink__number(attribute);
		break;
	}
}

static int take_link(void *owner, const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = NLMSG_DATA(message);
	const struct nlattr *attribute;
	struct dump *dump = owner;
	struct known_link *more, *link;
	size_t left;

	if (message->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return -EPROTO;
	/* At each power of two the room doubles. */
	if (!(dump->count & (dump->count - 1))) {
		more = reallocarray(dump->links, dump->count ? dump->count * 2 : 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		dump->links = more;
	}
	link = &dump->links[dump->count++];
	*link = (struct known_link){ .ifindex = info->ifi_index };
	attribute = netlink__attributes(message, sizeof(*info), &left);
	netlink__for_each(attribute, left) take_attribute(&link->values, attribute);
	return 0;
}

static int by_ifindex(const void *a, const void *b)
{
	const struct known_link *one = a, *other = b;

	return (one->ifindex > other->ifindex) - (one->ifindex < other->ifindex);
}

/* Returns 0 or -errno; -EINVAL: the namespace has ended; -EINTR: the dump may lack devices. */
static int dump_once(int32_t number, struct dump *dump)
{
	const struct ifinfomsg info = {};
	struct netlink_request request;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int ret;

	if (fd < 0)
		return -errno;
	netlink__begin(&request, RTM_GETLINK, NLM_F_DUMP, &info, sizeof(info));
	if (number != OWN_NAMESPACE)
		netlink__add(&request, IFLA_TARGET_NETNSID, number);
	ret = netlink__ask(fd, &request, take_link, dump);
	close(fd);
	return ret;
}

/* Devices do not come and go during each dump. */
static int dump_links(int32_t number, struct dump *dump)
{
	int tries = 0, ret;

	do {
		free(dump->links);
		*dump = (struct dump){};
		ret = dump_once(number, dump);
	} while (ret == -EINTR && ++tries < DUMPS);
	if (dump->count)
		qsort(dump->links, dump->count, sizeof(*dump->links), by_ifindex);
	return ret;
}

static struct link_namespace *find_namespace(int32_t number)
{
	struct link_namespace *namespace;

	LIST_FOREACH(namespace, &links.namespaces, link)
		if (namespace->number == number)
			return namespace;
	return NULL;
}

/* Stores the answer about the namespace, unless its last sample was closed meanwhile. */
static void store(int32_t number, const struct dump *dump, int code)
{
	struct link_namespace *namespace;
	struct known_link *before = dump->links;

	pthread_mutex_lock(&links.lock);
	namespace = find_namespace(number);
	if (namespace) {
		before = namespace->links;
		namespace->links = dump->links;
		namespace->count = dump->count;
		namespace->code = code;
		namespace->time = dart_clock__ns(CLOCK_BOOTTIME);
	}
	pthread_mutex_unlock(&links.lock);
	free(before);
}

/* Lists the numbers of all namespaces with samples; the caller frees it. */
static int list_numbers(int32_t **numbers, size_t *count)
{
	const struct link_namespace *namespace;
	size_t i = 0;

	pthread_mutex_lock(&links.lock);
	*count = 0;
	LIST_FOREACH(namespace, &links.namespaces, link)
		++*count;
	*numbers = calloc(*count + 1, sizeof(**numbers));
	LIST_FOREACH(namespace, &links.namespaces, link)
		if (*numbers)
			(*numbers)[i++] = namespace->number;
	pthread_mutex_unlock(&links.lock);
	return *numbers ? 0 : -ENOMEM;
}

static int ask(struct question *question)
{
	int32_t *numbers;
	size_t count, i;
	int ret;

	ret = list_numbers(&numbers, &count);
	if (ret)
		return ret;
	for (i = 0; i < count; i++) {
		struct dump dump = {};

		ret = dump_links(numbers[i], &dump);
		store(numbers[i], &dump, ret);
	}
	free(numbers);
	return 0;
}

static const struct question_kind question_kind = {
	.ask = ask,
};

static void begin_question(void)
{
	question__begin(&links.question, &question_kind);
}

/* ---- samples */

/* The caller holds the lock. */
static int find_link(const struct link_namespace *namespace, uint32_t ifindex,
		     struct dart_zero_netdev_link *values)
{
	const struct known_link key = { .ifindex = ifindex };
	const struct known_link *link;

	if (namespace->code)
		return namespace->code == -EINVAL ? -ENODEV : -EAGAIN;
	link = namespace->count ?
		       bsearch(&key, namespace->links, namespace->count, sizeof(key), by_ifindex) :
		       NULL;
	if (!link)
		return -ENODEV;
	*values = link->values;
	return 0;
}

/* Asks and waits, unless earlier dumps are outstanding.  Returns true if none is afterwards. */
static bool refresh(void)
{
	struct question *question = &links.question;

	if (!question__is_answered(question))
		return false;
	links.is_slow = question->time - question->begun > PATIENCE_MS * UINT64_C(1000000);
	return question__ask(question, links.is_slow ? 0 : PATIENCE_MS);
}

static int link__sample(struct own_sample *base, uint32_t index, void *values, uint64_t *number,
			uint64_t *time)
{
	struct link_sample *sample = (struct link_sample *)base;
	const struct link_namespace *namespace = sample->namespace;
	bool is_current;
	int ret = -EAGAIN;

	pthread_mutex_lock(&links.lock);
	is_current = namespace->time + FRESH_NS >= *time;
	pthread_mutex_unlock(&links.lock);
	is_current = is_current || refresh();

	/* A late answer serves each sample once. */
	pthread_mutex_lock(&links.lock);
	if (is_current || namespace->time != sample->taken) {
		ret = find_link(namespace, sample->ifindex, values);
		sample->taken = namespace->time;
		*time = namespace->time;
	}
	pthread_mutex_unlock(&links.lock);
	return ret;
}

/* ---- numbers of namespaces */

static int take_number(void *owner, const struct nlmsghdr *message)
{
	const struct nlattr *attribute;
	int32_t *number = owner;
	size_t left;

	attribute = netlink__attributes(message, sizeof(struct rtgenmsg), &left);
	netlink__for_each(attribute, left) if (netlink__type(attribute) == NETNSA_NSID) *number =
		netlink__number(attribute);
	return 0;
}

static int ask_number(int fd, uint16_t type, int netns, int32_t *number)
{
	const struct rtgenmsg family = {};
	struct netlink_request request;

	netlink__begin(&request, type, 0, &family, sizeof(family));
	netlink__add(&request, NETNSA_FD, netns);
	if (type == RTM_NEWNSID)
		netlink__add(&request, NETNSA_NSID, NETNSA_NSID_NOT_ASSIGNED);
	return netlink__ask(fd, &request, take_number, number);
}

/*
 * Finds the number of the namespace @netns in dartd's, or makes the kernel choose one.  The number
 * stays until the namespace ends.
 */
static int number_namespace(int fd, int netns, int32_t *number)
{
	int ret;

	*number = NETNSA_NSID_NOT_ASSIGNED;
	ret = ask_number(fd, RTM_GETNSID, netns, number);
	if (ret || *number != NETNSA_NSID_NOT_ASSIGNED)
		return ret;
	ret = ask_number(fd, RTM_NEWNSID, netns, number);
	/* Somebody else was faster. */
	if (ret && ret != -EEXIST)
		return ret;
	return ask_number(fd, RTM_GETNSID, netns, number);
}

static int ignore(void *owner, const struct nlmsghdr *message)
{
	return 0;
}

/* -ENODEV: the device does not exist; -EPERM: dartd may not ask about this namespace. */
static int check_link(int fd, int32_t number, uint32_t ifindex)
{
	const struct ifinfomsg info = { .ifi_index = ifindex };
	struct netlink_request request;

	netlink__begin(&request, RTM_GETLINK, 0, &info, sizeof(info));
	netlink__add(&request, IFLA_TARGET_NETNSID, number);
	/* The driver is not asked. */
	netlink__add(&request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return netlink__ask(fd, &request, ignore, NULL);
}

/* Finds the number of another namespace, and checks that it has the device. */
static int find_number(const struct dart_zero_record *wanted, int32_t *number)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int ret;

	if (fd < 0)
		return -errno;
	ret = number_namespace(fd, wanted->fd, number) ?: check_link(fd, *number, wanted->ifindex);
	close(fd);
	return ret;
}

/* ---- open and close */

/* Finds the namespace with this number, or adds it; the caller ends with give_namespace(). */
static struct link_namespace *take_namespace(int32_t number)
{
	struct link_namespace *namespace;

	pthread_mutex_lock(&links.lock);
	namespace = find_namespace(number);
	if (!namespace) {
		namespace = calloc(1, sizeof(*namespace));
		if (namespace) {
			namespace->number = number;
			namespace->code = -EAGAIN;
			LIST_INSERT_HEAD(&links.namespaces, namespace, link);
		}
	}
	if (namespace)
	namespace->users++;
	pthread_mutex_unlock(&links.lock);
	return namespace;
}

static void give_namespace(struct link_namespace *namespace)
{
	bool is_last;

	pthread_mutex_lock(&links.lock);
	is_last = !--namespace->users;
	if (is_last)
		LIST_REMOVE(namespace, link);
	pthread_mutex_unlock(&links.lock);
	if (!is_last)
		return;
	free(namespace->links);
	free(namespace);
}

/* Sets @inode to the number of the namespace in nsfs, or to 0 if it is dartd's own. */
static int find_inode(const struct dart_zero_record *wanted, uint32_t *inode)
{
	struct stat own, chosen;

	if (stat("/proc/self/ns/net", &own) || fstat(wanted->fd, &chosen))
		return -errno;
	*inode = chosen.st_ino == own.st_ino ? 0 : chosen.st_ino;
	return 0;
}

static int link__open(const struct dart_zero_record *wanted, struct own_sample **result)
{
	int32_t number = OWN_NAMESPACE;
	struct link_sample *sample;
	uint32_t inode;
	int ret;

	pthread_once(&once, begin_question);
	ret = find_inode(wanted, &inode);
	if (!ret && inode)
		ret = find_number(wanted, &number);
	if (ret)
		return ret;
	sample = calloc(1, sizeof(*sample));
	if (!sample)
		return -ENOMEM;
	sample->namespace = take_namespace(number);
	if (!sample->namespace) {
		free(sample);
		return -ENOMEM;
	}
	sample->sample.rows = 1;
	sample->sample.netns = inode;
	sample->ifindex = wanted->ifindex;
	*result = &sample->sample;
	return 0;
}

static void link__close(struct own_sample *base)
{
	struct link_sample *sample = (struct link_sample *)base;

	give_namespace(sample->namespace);
	free(sample);
}

const struct own_sample_kind link_sample = {
	.open = link__open,
	.close = link__close,
	.sample = link__sample,
};
