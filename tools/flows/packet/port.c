// SPDX-License-Identifier: GPL-2.0-only
/* A packet socket: see port.h. */
#include "port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packet_internal.h"

struct port {
	char interface[IFNAMSIZ];
	unsigned int index;
	int fd;
	uint64_t overrun;
	struct mmsghdr messages[PORT_FRAMES];
	struct iovec places[PORT_FRAMES];
	struct sockaddr_ll senders[PORT_FRAMES];
	uint8_t controls[PORT_FRAMES][CMSG_SPACE(sizeof(struct tpacket_auxdata))]
		__attribute__((aligned(8)));
	/* A tag that the kernel took out of a frame is put back into it. */
	uint8_t bytes[PORT_FRAMES][TAG_LENGTH + PORT_FRAME_MAX];
};

#define ACCEPT 0xffffffff /* bytes */

/*
 * Only these frames reach the socket: it is one for all types, because the kernel shows tags to no
 * other.  The kernel may have taken the outer tag out, so that the inner one is where the type is.
 */
static int set_filter(const struct port *port, const uint16_t types[static PORT_TYPES],
		      bool has_tags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ETHERTYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, types[0], 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, types[1] ?: types[0], 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, types[2] ?: types[0], 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, has_tags ? ETHERTYPE_TAG : types[0], 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, has_tags ? ETHERTYPE_OUTER_TAG : types[0], 1,
			 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, ACCEPT),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return setsockopt(port->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int set_up(struct port *port, const uint16_t types[static PORT_TYPES], bool has_tags)
{
	const struct packet_mreq all = {
		.mr_ifindex = port->index,
		.mr_type = PACKET_MR_PROMISC,
	};
	const struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = port->index,
	};
	const int yes = 1;

	/* Frames that this host sends are no frames of the switch. */
	setsockopt(port->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes));
	port__widen(port->fd);
	if (set_filter(port, types, has_tags) ||
	    setsockopt(port->fd, SOL_PACKET, PACKET_AUXDATA, &yes, sizeof(yes)) ||
	    setsockopt(port->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) ||
	    bind(port->fd, (const struct sockaddr *)&address, sizeof(address)))
		return -errno;
	return 0;
}

int port__widen(int fd)
{
	const int wanted = PORT_QUEUE;
	int given = 0;
	socklen_t length = sizeof(given);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
	/* The kernel doubles the number, for its own use. */
	return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &given, &length) ? 0 : given / 2;
}

int port__open(const char *interface, const uint16_t types[static PORT_TYPES], bool has_tags,
	       struct port **made, struct dart_error *error)
{
	struct port *port = calloc(1, sizeof(*port));
	int ret;

	if (!port)
		return dart_error__no_memory(error);
	strncpy(port->interface, interface, sizeof(port->interface) - 1);
	/* Without a protocol no frame of another interface arrives before bind(). */
	port->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (port->fd < 0) {
		ret = dart_error__system(error, errno, "cannot open a packet socket");
		goto err_free;
	}
	port->index = if_nametoindex(interface);
	ret = port->index ? set_up(port, types, has_tags) : -errno;
	if (!ret) {
		*made = port;
		return 0;
	}
	dart_error__system(error, -ret, "cannot use the interface '%s'", interface);
	close(port->fd);
err_free:
	free(port);
	return ret;
}

void port__close(struct port *port)
{
	if (!port)
		return;
	close(port->fd);
	free(port);
}

int port__fd(const struct port *port)
{
	return port->fd;
}

void port__mac(const struct port *port, uint8_t mac[static 6])
{
	struct ifreq request = {};

	strcpy(request.ifr_name, port->interface);
	ioctl(port->fd, SIOCGIFHWADDR, &request);
	memcpy(mac, request.ifr_hwaddr.sa_data, 6);
}

/* ---- receiving */

static void prepare(struct port *port)
{
	int i;

	for (i = 0; i < PORT_FRAMES; i++) {
		port->places[i] = (struct iovec){ port->bytes[i] + TAG_LENGTH, PORT_FRAME_MAX };
		port->messages[i].msg_hdr = (struct msghdr){
			.msg_name = &port->senders[i],
			.msg_namelen = sizeof(port->senders[i]),
			.msg_iov = &port->places[i],
			.msg_iovlen = 1,
			.msg_control = port->controls[i],
			.msg_controllen = sizeof(port->controls[i]),
		};
	}
}

/* Puts the tag back that the kernel took out. */
static void put_tag(struct port_frame *frame, const struct tpacket_auxdata *auxiliary)
{
	const bool has_type = auxiliary->tp_status & TP_STATUS_VLAN_TPID_VALID;

	frame->is_tagged = true;
	frame->bytes -= TAG_LENGTH;
	frame->length += TAG_LENGTH;
	memmove(frame->bytes, frame->bytes + TAG_LENGTH, 2 * PACKET_MAC_LENGTH);
	put16(frame->bytes + ETHERTYPE, has_type ? auxiliary->tp_vlan_tpid : ETHERTYPE_TAG);
	put16(frame->bytes + ETHERTYPE + 2, auxiliary->tp_vlan_tci);
}

static void read_auxiliary(struct msghdr *message, struct port_frame *frame)
{
	const struct tpacket_auxdata *auxiliary;
	struct cmsghdr *header;

	for (header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level != SOL_PACKET || header->cmsg_type != PACKET_AUXDATA)
			continue;
		auxiliary = (const void *)CMSG_DATA(header);
		frame->has_partial_checksum = auxiliary->tp_status & TP_STATUS_CSUMNOTREADY;
		if (auxiliary->tp_status & TP_STATUS_VLAN_VALID)
			put_tag(frame, auxiliary);
	}
}

int port__receive(struct port *port, struct port_frame frames[static PORT_FRAMES])
{
	int received, count = 0, i;

	prepare(port);
	received = recvmmsg(port->fd, port->messages, PORT_FRAMES, MSG_DONTWAIT, NULL);
	if (received < 0)
		return -errno;
	for (i = 0; i < received; i++) {
		struct port_frame *frame = &frames[count];

		if (port->senders[i].sll_pkttype > PACKET_OTHERHOST)
			continue; /* a frame of this host */
		*frame = (struct port_frame){
			.bytes = port->bytes[i] + TAG_LENGTH,
			.length = port->messages[i].msg_len,
			.is_long = port->messages[i].msg_hdr.msg_flags & MSG_TRUNC,
			.is_for_many = port->senders[i].sll_pkttype == PACKET_BROADCAST ||
				       port->senders[i].sll_pkttype == PACKET_MULTICAST,
		};
		read_auxiliary(&port->messages[i].msg_hdr, frame);
		count++;
	}
	return count;
}

/* ---- sending */

unsigned int port__send(struct port *port, const struct packet *packets, unsigned int count)
{
	struct mmsghdr messages[PORT_FRAMES] = {};
	struct iovec places[PORT_FRAMES];
	unsigned int sent = 0, unsent = 0, i;
	int ret;

	for (i = 0; i < count; i++) {
		places[i] = (struct iovec){ packets[i].frame, packets[i].length };
		messages[i].msg_hdr.msg_iov = &places[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	while (sent < count) {
		ret = sendmmsg(port->fd, messages + sent, count - sent, MSG_DONTWAIT);
		if (ret > 0) {
			sent += ret;
			continue;
		}
		/* This one cannot leave: the queue is full, or it is too long. */
		unsent++;
		sent++;
	}
	return unsent;
}

uint64_t port__overrun(struct port *port)
{
	struct tpacket_stats statistics;
	socklen_t length = sizeof(statistics);

	/* The kernel counts from the last call on. */
	if (!getsockopt(port->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length))
		port->overrun += statistics.tp_drops;
	return port->overrun;
}

uint16_t port__mtu(const struct port *port)
{
	struct ifreq request = {};

	strcpy(request.ifr_name, port->interface);
	if (ioctl(port->fd, SIOCGIFMTU, &request) || request.ifr_mtu > UINT16_MAX)
		return UINT16_MAX;
	return request.ifr_mtu;
}

bool port__is_there(const struct port *port)
{
	return if_nametoindex(port->interface) == port->index;
}
