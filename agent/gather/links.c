// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples network devices of dartd's namespace over rtnetlink(7), because most drivers keep their
 * counts where eBPF programs do not find them.  One dump answers for all devices.  A driver can
 * delay the end of the dump without limit, so a thread waits for it, and samples wait for the
 * thread only as long as drivers usually take.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "own_sample.h"

/* How long samples wait for a dump, unless an earlier dump is still outstanding. */
#define PATIENCE_NS 20000000L
/* An answer serves all samples of a pass; passes are 10 ms or more apart. */
#define FRESH_NS 5000000
/* The kernel fills buffers of up to 32 KiB. */
#define DATAGRAM_MAX 65536

/* The kernel's members in the kernel's order. */
#define STATS_BYTES (offsetof(struct dart_zero_netdev_link, rx_otherhost_dropped) + sizeof(__u64))

struct known_link {
	uint32_t ifindex;
	struct dart_zero_netdev_link values;
};

/* An answer: links by their ifindex. */
struct answer {
	struct known_link *links;
	size_t count;
	uint64_t time; /* CLOCK_BOOTTIME, ns; 0: none yet */
	int code; /* 0 or -errno */
};

/* The last answer, and whether a thread waits for the next one. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool is_asking;
	struct answer answer;
} links = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

struct link_sample {
	struct own_sample sample; /* first: see own_sample.h */
	uint32_t ifindex;
};

static void open_links(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&links.answered, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void take_stats(struct dart_zero_netdev_link *values, const struct rtattr *attribute)
{
	const size_t size = RTA_PAYLOAD(attribute);

	/* Older kernels lack members at the end. */
	memcpy(values, RTA_DATA(attribute), size < STATS_BYTES ? size : STATS_BYTES);
}

static uint32_t number_of(const struct rtattr *attribute)
{
	uint32_t number = 0;
	const size_t size = RTA_PAYLOAD(attribute);

	memcpy(&number, RTA_DATA(attribute), size < sizeof(number) ? size : sizeof(number));
	return number;
}

static void take_attribute(struct dart_zero_netdev_link *values, const struct rtattr *attribute)
{
	switch (attribute->rta_type) {
	case IFLA_STATS64:
		take_stats(values, attribute);
		break;
	case IFLA_CARRIER:
		values->carrier = number_of(attribute);
		break;
	case IFLA_CARRIER_CHANGES:
		values->carrier_changes = number_of(attribute);
		break;
	case IFLA_OPERSTATE:
		values->operstate = number_of(attribute);
		break;
	case IFLA_MTU:
		values->mtu = number_of(attribute);
		break;
	}
}

static int take_link(struct answer *answer, const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = NLMSG_DATA(message);
	const struct rtattr *attribute = IFLA_RTA(info);
	int left = IFLA_PAYLOAD(message);
	struct known_link *more, *link;

	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return -EPROTO;
	/* At each power of two the room doubles. */
	if (!(answer->count & (answer->count - 1))) {
		more = reallocarray(answer->links, answer->count ? answer->count * 2 : 1,
				    sizeof(*more));
		if (!more)
			return -ENOMEM;
		answer->links = more;
	}
	link = &answer->links[answer->count++];
	*link = (struct known_link){ .ifindex = info->ifi_index };
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		take_attribute(&link->values, attribute);
	return 0;
}

/* Takes the messages of one datagram.  Returns 1 at the end of the dump, 0 before, or -errno. */
static int take_datagram(struct answer *answer, const void *datagram, size_t size)
{
	const struct nlmsghdr *message = datagram;
	int ret = 0;

	for (; !ret && NLMSG_OK(message, size); message = NLMSG_NEXT(message, size)) {
		if (message->nlmsg_type == NLMSG_DONE)
			return 1;
		if (message->nlmsg_type == NLMSG_ERROR)
			return ((const struct nlmsgerr *)NLMSG_DATA(message))->error ?: -EPROTO;
		if (message->nlmsg_type == RTM_NEWLINK)
			ret = take_link(answer, message);
	}
	return ret;
}

static int by_ifindex(const void *a, const void *b)
{
	const struct known_link *one = a, *other = b;

	return (one->ifindex > other->ifindex) - (one->ifindex < other->ifindex);
}

/* Returns 0 or -errno. */
static int dump_links(int fd, struct answer *answer)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg info;
	} request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
	};
	void *datagram = malloc(DATAGRAM_MAX);
	ssize_t got;
	int ret;

	if (!datagram)
		return -ENOMEM;
	ret = send(fd, &request, sizeof(request), 0) < 0 ? -errno : 0;
	while (!ret) {
		got = recv(fd, datagram, DATAGRAM_MAX, 0);
		ret = got < 0 ? -errno : take_datagram(answer, datagram, got);
	}
	free(datagram);
	if (answer->count)
		qsort(answer->links, answer->count, sizeof(*answer->links), by_ifindex);
	return ret < 0 ? ret : 0;
}

static void *ask(void *argument)
{
	struct answer answer = {}, before;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	answer.code = fd < 0 ? -errno : dump_links(fd, &answer);
	answer.time = dart_clock__ns(CLOCK_BOOTTIME);
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(&links.lock);
	before = links.answer;
	links.answer = answer;
	links.is_asking = false;
	pthread_cond_broadcast(&links.answered);
	pthread_mutex_unlock(&links.lock);
	free(before.links);
	return NULL;
}

/* The caller holds the lock. */
static void begin_asking(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!pthread_create(&thread, &attributes, ask, NULL))
		links.is_asking = true;
	pthread_attr_destroy(&attributes);
}

/* The caller holds the lock, which is released during the wait. */
static void wait_for_answer(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (links.is_asking && !pthread_cond_timedwait(&links.answered, &links.lock, &until))
		;
}

static int find_link(uint32_t ifindex, struct dart_zero_netdev_link *values)
{
	const struct known_link key = { .ifindex = ifindex };
	const struct known_link *link;

	if (links.answer.code)
		return -EAGAIN;
	link = links.answer.count ? bsearch(&key, links.answer.links, links.answer.count,
					    sizeof(key), by_ifindex) :
				    NULL;
	if (!link)
		return -ENODEV;
	*values = link->values;
	return 0;
}

static int link__sample(struct own_sample *sample, uint32_t index, void *values, uint64_t *number,
			uint64_t *time)
{
	const uint32_t ifindex = ((struct link_sample *)sample)->ifindex;
	int ret;

	pthread_mutex_lock(&links.lock);
	if (links.answer.time + FRESH_NS < *time && !links.is_asking) {
		begin_asking();
		wait_for_answer();
	}
	if (links.is_asking) {
		ret = -EAGAIN;
	} else {
		ret = find_link(ifindex, values);
		*time = links.answer.time;
	}
	pthread_mutex_unlock(&links.lock);
	return ret;
}

/* True if @wanted is about a device in the namespace of dartd. */
static bool is_in_own_namespace(const struct dart_zero_record *wanted)
{
	struct stat own, chosen;

	if (stat("/proc/self/ns/net", &own))
		return false;
	if (wanted->fd < 0)
		return wanted->netns == own.st_ino;
	return !fstat(wanted->fd, &chosen) && chosen.st_ino == own.st_ino;
}

static int link__open(const struct dart_zero_record *wanted, struct own_sample **result)
{
	struct link_sample *sample;

	/* A socket in another namespace would keep that namespace from ending. */
	if (!is_in_own_namespace(wanted))
		return -EOPNOTSUPP;
	pthread_once(&once, open_links);
	sample = calloc(1, sizeof(*sample));
	if (!sample)
		return -ENOMEM;
	sample->sample.rows = 1;
	sample->ifindex = wanted->ifindex;
	*result = &sample->sample;
	return 0;
}

static void link__close(struct own_sample *sample)
{
	free(sample);
}

const struct own_sample_kind link_sample = {
	.open = link__open,
	.close = link__close,
	.sample = link__sample,
};
