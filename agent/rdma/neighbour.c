// SPDX-License-Identifier: GPL-2.0-only
/* Asks the kernel's neighbour table by netlink, and never waits for the network. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "neighbour.h"

/* States in which the kernel sends packets to the known address. */
#define NUD_KNOWN                                                              \
	(NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE |   \
	 NUD_DELAY)

/* Of UDP (RFC 863). */
#define DISCARD_PORT 9

/* Finds the address of a host on the network of an interface. */
struct neighbour {
	struct in_addr address;
	int interface;	/* index; 0: packets need no neighbour */
};

/* A request about an address, and the answer in the same bytes. */
struct exchange {
	struct nlmsghdr header;
	uint8_t bytes[4096];
};

/* Begins a request with @body, the struct of its type. */
static void exchange__begin(struct exchange *exchange, uint16_t type,
			    const void *body, size_t length)
{
	exchange->header = (struct nlmsghdr){
		.nlmsg_len = NLMSG_LENGTH(length),
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST,
	};
	memcpy(NLMSG_DATA(&exchange->header), body, length);
}

static void exchange__add_address(struct exchange *exchange, uint16_t type, struct in_addr address)
{
	struct nlmsghdr *header = &exchange->header;
	struct rtattr *attribute =
		(struct rtattr *)((uint8_t *)header + NLMSG_ALIGN(header->nlmsg_len));

	*attribute = (struct rtattr){
		.rta_len = RTA_LENGTH(sizeof(address)),
		.rta_type = type,
	};
	memcpy(RTA_DATA(attribute), &address, sizeof(address));
	header->nlmsg_len = NLMSG_ALIGN(header->nlmsg_len) + attribute->rta_len;
}

/* The kernel answers within the call.  Returns 0, or -errno: its own, or a refusal. */
static int exchange__ask(struct exchange *exchange, int fd)
{
	struct nlmsghdr *header = &exchange->header;
	ssize_t length;
	int code;

	if (send(fd, exchange, header->nlmsg_len, 0) < 0)
		return -errno;
	length = recv(fd, exchange, sizeof(*exchange), MSG_DONTWAIT);
	if (length < 0)
		return -errno;
	if (!NLMSG_OK(header, (size_t)length))
		return -EPROTO;
	if (header->nlmsg_type != NLMSG_ERROR)
		return 0;
	memcpy(&code, NLMSG_DATA(header), sizeof(code));
	return code;
}

/* Copies the attribute, a number of 4 bytes; false if the answer lacks it. */
static bool exchange__number(const struct exchange *exchange, size_t body,
			     uint16_t type, void *number)
{
	const struct nlmsghdr *header = &exchange->header;
	const struct rtattr *attribute =
		(const struct rtattr *)((const uint8_t *)NLMSG_DATA(header) + NLMSG_ALIGN(body));
	int length = header->nlmsg_len - NLMSG_SPACE(body);

	for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
		if (attribute->rta_type != type || RTA_PAYLOAD(attribute) != sizeof(uint32_t))
			continue;
		memcpy(number, RTA_DATA(attribute), sizeof(uint32_t));
		return true;
	}
	return false;
}

/* Who on the route to @peer gets the packets first: the peer itself, or a gateway. */
static int find_next(int fd, struct in_addr peer, struct neighbour *next)
{
	const struct rtmsg wanted = { .rtm_family = AF_INET, .rtm_dst_len = 32 };
	struct exchange exchange;
	struct rtmsg route;
	int ret;

	exchange__begin(&exchange, RTM_GETROUTE, &wanted, sizeof(wanted));
	exchange__add_address(&exchange, RTA_DST, peer);
	ret = exchange__ask(&exchange, fd);
	if (ret)
		return ret;
	*next = (struct neighbour){ .address = peer };
	memcpy(&route, NLMSG_DATA(&exchange.header), sizeof(route));
	if (route.rtm_type != RTN_UNICAST)
		return 0;
	exchange__number(&exchange, sizeof(route), RTA_GATEWAY, &next->address);
	exchange__number(&exchange, sizeof(route), RTA_OIF, &next->interface);
	return 0;
}

static bool is_known(int fd, const struct neighbour *neighbour)
{
	const struct ndmsg wanted = {
		.ndm_family = AF_INET,
		.ndm_ifindex = neighbour->interface,
	};
	struct exchange exchange;
	struct ndmsg found;

	exchange__begin(&exchange, RTM_GETNEIGH, &wanted, sizeof(wanted));
	exchange__add_address(&exchange, NDA_DST, neighbour->address);
	if (exchange__ask(&exchange, fd))
		return false;
	memcpy(&found, NLMSG_DATA(&exchange.header), sizeof(found));
	return found.ndm_state & NUD_KNOWN;
}

/*
 * An empty datagram, which hosts discard, makes the kernel resolve the next host.  To tell
 * it to do so without one would need CAP_NET_ADMIN.
 */
static void send_something(struct in_addr peer)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(DISCARD_PORT),
		.sin_addr = peer,
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	/* send() fails if earlier requests were not answered: nothing is lost. */
	sendto(fd, NULL, 0, MSG_DONTWAIT, (const struct sockaddr *)&address, sizeof(address));
	close(fd);
}

int neighbour__resolve(struct in_addr peer, struct dart_error *error)
{
	char text[INET_ADDRSTRLEN];
	struct neighbour next;
	int fd, ret;

	inet_ntop(AF_INET, &peer, text, sizeof(text));
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a socket");
	ret = find_next(fd, peer, &next);
	if (ret) {
		dart_error__system(error, -ret, "no route to %s", text);
		goto out_close;
	}
	if (!next.interface || is_known(fd, &next))
		goto out_close;
	send_something(peer);
	if (!is_known(fd, &next)) /* without ARP, the kernel knows it at once */
		ret = dart_error__set(
			error, EAGAIN,
			"%s does not answer ARP (ping it, or add a static neighbour entry)", text);
out_close:
	close(fd);
	return ret;
}
