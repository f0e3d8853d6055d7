// SPDX-License-Identifier: GPL-2.0-only
/* The network devices of dartd's namespace, as rtnetlink(7) tells them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/kernel_messages.h"
#include "devices.h"

/* The kernel's own, for a dump. */
#define ANSWER_MAX 65536

static int netdevs__open(struct devices *devices, struct dart_error *error)
{
	struct stat status;

	devices->fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (devices->fd < 0 || fstat(devices->fd, &status))
		return dart_error__system(error, errno, "cannot open dartd's network namespace");
	devices->key.object = status.st_ino;
	return kernel_messages__open(NETLINK_ROUTE, RTMGRP_LINK, NULL, error);
}

static void take_link(struct devices *devices, const struct nlmsghdr *header)
{
	const struct ifinfomsg *link = NLMSG_DATA(header);
	const struct rtattr *attribute;
	char name[IF_NAMESIZE] = "";
	int length;

	if (header->nlmsg_len < NLMSG_LENGTH(sizeof(*link)))
		return;
	/* Bridges tell of their ports in the same way. */
	if (link->ifi_family != AF_UNSPEC || link->ifi_index <= 0)
		return;
	if (header->nlmsg_type == RTM_DELLINK) {
		devices__lose(devices, link->ifi_index);
		return;
	}
	length = IFLA_PAYLOAD(header);
	for (attribute = IFLA_RTA(link); RTA_OK(attribute, length);
	     attribute = RTA_NEXT(attribute, length))
		if (attribute->rta_type == IFLA_IFNAME && RTA_PAYLOAD(attribute) <= sizeof(name))
			memcpy(name, RTA_DATA(attribute), RTA_PAYLOAD(attribute));
	name[sizeof(name) - 1] = '\0';
	if (*name)
		devices__see(devices, link->ifi_index, 0, name);
}

/* Returns 1 at the end of a dump, 0 before, or its error. */
static int take_all(struct devices *devices, const char *bytes, size_t length)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)bytes;
	int left = length;

	for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
		if (header->nlmsg_flags & NLM_F_DUMP_INTR)
			return -EINTR;
		if (header->nlmsg_type == NLMSG_DONE)
			return 1;
		if (header->nlmsg_type == NLMSG_ERROR)
			return header->nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr)) ?
				       -EBADMSG :
				       ((struct nlmsgerr *)NLMSG_DATA(header))->error;
		if (header->nlmsg_type == RTM_NEWLINK || header->nlmsg_type == RTM_DELLINK)
			take_link(devices, header);
	}
	return 0;
}

static void netdevs__take(struct devices *devices, char *bytes, size_t length)
{
	take_all(devices, bytes, length);
}

static int dump(struct devices *devices, int fd)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
		struct rtattr attribute;
		uint32_t mask;
	} request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.attribute = {
			.rta_len = RTA_LENGTH(sizeof(request.mask)),
			.rta_type = IFLA_EXT_MASK,
		},
		.mask = RTEXT_FILTER_SKIP_STATS,
	};
	char *bytes = malloc(ANSWER_MAX);
	ssize_t length;
	int ret = 0;

	if (!bytes)
		return -ENOMEM;
	if (send(fd, &request, sizeof(request), 0) < 0)
		ret = -errno;
	while (!ret) {
		length = recv(fd, bytes, ANSWER_MAX, 0);
		if (length > 0)
			ret = take_all(devices, bytes, length);
		else if (length == 0 || errno != EINTR)
			ret = length ? -errno : -EPIPE;
	}
	free(bytes);
	return ret < 0 ? ret : 0;
}

/* An answer that changes interrupted is not complete; they do not do so forever. */
#define TRIES 16

static int netdevs__list(struct devices *devices)
{
	int tries, fd, ret = -EINTR;

	for (tries = 0; tries < TRIES && ret == -EINTR; tries++) {
		/* The kernel answers while it is asked: this does not block. */
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
		if (fd < 0)
			return -errno;
		ret = dump(devices, fd);
		close(fd);
	}
	return ret;
}

static void netdevs__set_key(const struct device *device, struct selector_key *key)
{
	key->ifindex = device->number;
}

static int netdevs__select(const struct devices *devices, const struct device *device,
			   struct selector *selector, struct dart_error *error)
{
	struct selector_key key = devices->key;

	netdevs__set_key(device, &key);
	return selector__netdev(selector, devices->follower.source, devices->fd,
				&key, device->name, error);
}

const struct devices_kind netdevs = {
	.what = "network devices",
	.open = netdevs__open,
	.list = netdevs__list,
	.take = netdevs__take,
	.set_key = netdevs__set_key,
	.select = netdevs__select,
};
