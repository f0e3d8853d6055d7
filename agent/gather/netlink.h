/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests over netlink(7), and their attributes. */
#ifndef NETLINK_H
#define NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>

struct netlink_request {
	struct nlmsghdr header;
	uint8_t payload[64] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/* Begins a request with the struct of its family, @size bytes, or without one.  @flags: NLM_F_* */
void netlink__begin(struct netlink_request *request, uint16_t type, uint16_t flags,
		    const void *family, size_t size);
/* Adds an attribute, which must fit. */
void netlink__add(struct netlink_request *request, uint16_t type, uint32_t value);

/*
 * Sends @request to the kernel, and calls @take for each message of the reply, until it returns
 * -errno.  Returns 0, this error or the kernel's; -EINTR: objects came or went during the dump,
 * which may lack others.  Waits until the kernel's driver or lock lets the kernel answer.
 */
int netlink__ask(int fd, struct netlink_request *request,
		 int (*take)(void *owner, const struct nlmsghdr *message), void *owner);

/* Walks over the attributes in the @left bytes from @attribute on, until one is malformed. */
#define netlink__for_each(attribute, left) \
	for (; netlink__is_whole(attribute, left); attribute = netlink__next(attribute, &(left)))

static inline bool netlink__is_whole(const struct nlattr *attribute, size_t left)
{
	return left >= NLA_HDRLEN && attribute->nla_len >= NLA_HDRLEN && attribute->nla_len <= left;
}

static inline const struct nlattr *netlink__next(const struct nlattr *attribute, size_t *left)
{
	const size_t size = NLA_ALIGN(attribute->nla_len);

	*left -= size < *left ? size : *left;
	return (const struct nlattr *)((const uint8_t *)attribute + size);
}

static inline uint16_t netlink__type(const struct nlattr *attribute)
{
	return attribute->nla_type & NLA_TYPE_MASK;
}

static inline const void *netlink__value(const struct nlattr *attribute)
{
	return (const uint8_t *)attribute + NLA_HDRLEN;
}

static inline size_t netlink__size(const struct nlattr *attribute)
{
	return attribute->nla_len - NLA_HDRLEN;
}

/* A number of 1, 4 or 8 bytes; 0: @attribute has another size. */
uint64_t netlink__number(const struct nlattr *attribute);

/* The first attribute of @message after the struct of its family, @family bytes long. */
const struct nlattr *netlink__attributes(const struct nlmsghdr *message, size_t family,
					 size_t *left);

#endif /* NETLINK_H */
