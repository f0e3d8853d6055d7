// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "netlink.h"

/* The kernel fills buffers of up to 32 KiB. */
#define DATAGRAM_MAX 65536

void netlink__begin(struct netlink_request *request, uint16_t type, uint16_t flags,
		    const void *family, size_t size)
{
	*request = (struct netlink_request){
		.header = {
			.nlmsg_len = NLMSG_LENGTH(size),
			.nlmsg_type = type,
			/* A message of type NLMSG_DONE ends a dump. */
			.nlmsg_flags = NLM_F_REQUEST | flags | (flags & NLM_F_DUMP ? 0 : NLM_F_ACK),
		},
	};
	if (size)
		memcpy(request->payload, family, size);
}

void netlink__add(struct netlink_request *request, uint16_t type, uint32_t value)
{
	struct nlattr *attribute =
		(struct nlattr *)((uint8_t *)request + NLMSG_ALIGN(request->header.nlmsg_len));

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + sizeof(value);
	memcpy(attribute + 1, &value, sizeof(value));
	request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + attribute->nla_len;
}

uint64_t netlink__number(const struct nlattr *attribute)
{
	const void *value = netlink__value(attribute);
	uint64_t wide = 0;
	uint32_t number = 0;

	switch (netlink__size(attribute)) {
	case sizeof(uint8_t):
		return *(const uint8_t *)value;
	case sizeof(number):
		memcpy(&number, value, sizeof(number));
		return number;
	case sizeof(wide):
		/* The kernel aligns attributes to 4 bytes. */
		memcpy(&wide, value, sizeof(wide));
		return wide;
	default:
		return 0;
	}
}

const struct nlattr *netlink__attributes(const struct nlmsghdr *message, size_t family,
					 size_t *left)
{
	const size_t before = NLMSG_SPACE(family);

	*left = message->nlmsg_len < before ? 0 : message->nlmsg_len - before;
	return (const struct nlattr *)((const uint8_t *)message + before);
}

/* The code at the end of a reply: 0 or -errno. */
static int code_of(const struct nlmsghdr *message)
{
	int code = 0;

	if (message->nlmsg_len >= NLMSG_LENGTH(sizeof(code)))
		memcpy(&code, NLMSG_DATA(message), sizeof(code));
	return code < 0 ? code : 0;
}

/* Takes the messages of one datagram.  Returns 1 at the end of the reply, 0 before, or -errno. */
static int take_datagram(const void *datagram, size_t size, bool *is_incomplete,
			 int (*take)(void *owner, const struct nlmsghdr *message), void *owner)
{
	const struct nlmsghdr *message = datagram;
	int ret = 0;

	for (; !ret && NLMSG_OK(message, size); message = NLMSG_NEXT(message, size)) {
		*is_incomplete |= message->nlmsg_flags & NLM_F_DUMP_INTR;
		if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR)
			return code_of(message) ?: 1;
		ret = take(owner, message);
	}
	return ret;
}

int netlink__ask(int fd, struct netlink_request *request,
		 int (*take)(void *owner, const struct nlmsghdr *message), void *owner)
{
	void *datagram = malloc(DATAGRAM_MAX);
	bool is_incomplete = false;
	ssize_t got;
	int ret;

	if (!datagram)
		return -ENOMEM;
	ret = send(fd, request, request->header.nlmsg_len, 0) < 0 ? -errno : 0;
	while (!ret) {
		got = recv(fd, datagram, DATAGRAM_MAX, 0);
		ret = got < 0 ? -errno : take_datagram(datagram, got, &is_incomplete, take, owner);
	}
	free(datagram);
	if (ret > 0)
		ret = is_incomplete ? -EINTR : 0;
	return ret;
}
