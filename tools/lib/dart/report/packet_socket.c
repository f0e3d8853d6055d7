// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sends frames through a packet socket at a limited rate. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_arp.h>
#include <linux/if_packet.h>

#include <libdart/clock.h>

#include "packet_socket.h"

#define SECOND_NS	UINT64_C(1000000000)
#define BATCH_MAX	64	/* frames in one system call */
#define BATCH_NS	1000000	/* the time that a batch may take at the rate */
#define LATE_MAX_NS	10000000 /* a longer delay is not made up for */
#define FULL_PAUSE_NS	50000	/* the device does not signal free room */
#define CARRIER_NS	UINT64_C(5000000000) /* how long a carrier may be away */

struct dart_packet_socket {
	int fd;
	char interface[IFNAMSIZ];
	uint8_t mac[6];
	struct in_addr address;
	uint64_t sent;
	uint64_t refusals;
	uint64_t frame_ns;	/* between two frames */
	uint64_t due_ns;	/* when the next batch may be sent */
	uint32_t batch;		/* frames of a batch */
	uint32_t pending;
	struct mmsghdr messages[BATCH_MAX];
	struct iovec lengths[BATCH_MAX];
	uint8_t frames[BATCH_MAX][DART_PACKET_SOCKET_FRAME_MAX];
};

static void pause_until(uint64_t ns)
{
	const struct timespec until = {
		.tv_sec = ns / SECOND_NS,
		.tv_nsec = ns % SECOND_NS,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void find_address(struct dart_packet_socket *socket, const char *interface)
{
	struct ifaddrs *all, *one;

	if (getifaddrs(&all))
		return;
	for (one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET ||
		    strcmp(one->ifa_name, interface))
			continue;
		socket->address = ((struct sockaddr_in *)one->ifa_addr)->sin_addr;
		break;
	}
	freeifaddrs(all);
}

/* Binds for sending only; frames bypass queueing disciplines. */
static int socket__bind(struct dart_packet_socket *socket,
			const char *interface, struct dart_error *error)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	struct ifreq request = { .ifr_ifindex = 0 };
	const int yes = 1;

	if (strlen(interface) >= sizeof(request.ifr_name))
		return dart_error__set(error, ENODEV, "no interface '%s'", interface);
	strcpy(request.ifr_name, interface);
	strcpy(socket->interface, interface);
	if (ioctl(socket->fd, SIOCGIFHWADDR, &request))
		goto failed;
	if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return dart_error__set(error, EINVAL, "'%s' is not an Ethernet interface",
				       interface);
	memcpy(socket->mac, request.ifr_hwaddr.sa_data, sizeof(socket->mac));
	if (ioctl(socket->fd, SIOCGIFINDEX, &request))
		goto failed;
	address.sll_ifindex = request.ifr_ifindex;
	if (bind(socket->fd, (struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(socket->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof(yes)))
		goto failed;
	return 0;
failed:
	return dart_error__system(error, errno, "cannot send through '%s'", interface);
}

static void socket__set_rate(struct dart_packet_socket *socket, uint64_t rate)
{
	socket->batch = BATCH_MAX;
	if (!rate)
		return;
	socket->frame_ns = SECOND_NS / rate;
	if (socket->frame_ns * socket->batch > BATCH_NS)
		socket->batch = BATCH_NS / socket->frame_ns;
	if (!socket->batch)
		socket->batch = 1;
}

static int open_raw_socket(struct dart_error *error)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		return fd;
	return dart_error__set(error, errno, "cannot send frames: %s%s", strerror(errno),
			       errno == EPERM ? " (this needs CAP_NET_RAW)" : "");
}

int dart_packet_socket__open(const char *interface, uint64_t rate,
			     struct dart_packet_socket **result, struct dart_error *error)
{
	struct dart_packet_socket *socket = calloc(1, sizeof(*socket));
	uint32_t i;
	int ret;

	if (!socket)
		return dart_error__no_memory(error);
	socket__set_rate(socket, rate);
	for (i = 0; i < BATCH_MAX; i++) {
		socket->lengths[i].iov_base = socket->frames[i];
		socket->messages[i].msg_hdr.msg_iov = &socket->lengths[i];
		socket->messages[i].msg_hdr.msg_iovlen = 1;
	}
	find_address(socket, interface);
	socket->fd = open_raw_socket(error);
	if (socket->fd < 0) {
		ret = socket->fd;
		goto free_socket;
	}
	ret = socket__bind(socket, interface, error);
	if (ret)
		goto close_fd;
	*result = socket;
	return 0;

close_fd:
	close(socket->fd);
free_socket:
	free(socket);
	return ret;
}

void dart_packet_socket__close(struct dart_packet_socket *socket)
{
	if (!socket)
		return;
	close(socket->fd);
	free(socket);
}

const uint8_t *dart_packet_socket__mac(const struct dart_packet_socket *socket)
{
	return socket->mac;
}

struct in_addr dart_packet_socket__address(const struct dart_packet_socket *socket)
{
	return socket->address;
}

uint8_t *dart_packet_socket__next(struct dart_packet_socket *socket)
{
	return socket->frames[socket->pending];
}

int dart_packet_socket__push(struct dart_packet_socket *socket, size_t length)
{
	socket->lengths[socket->pending++].iov_len = length;
	return socket->pending < socket->batch ? 0 : dart_packet_socket__flush(socket);
}

static void socket__pace(struct dart_packet_socket *socket)
{
	uint64_t now;

	if (!socket->frame_ns)
		return;
	now = dart_clock__ns(CLOCK_MONOTONIC);
	if (now < socket->due_ns)
		pause_until(socket->due_ns);
	else if (now - socket->due_ns > LATE_MAX_NS)
		socket->due_ns = now;
	socket->due_ns += socket->frame_ns * socket->pending;
}

static bool has_carrier(const struct dart_packet_socket *socket)
{
	struct ifreq request = {};

	strcpy(request.ifr_name, socket->interface);
	return ioctl(socket->fd, SIOCGIFFLAGS, &request) || request.ifr_flags & IFF_RUNNING;
}

/*
 * Waits for room, which an interface without a carrier refuses in the same way as one with a full
 * queue.  @until is 0, or when its carrier has been away for too long.
 */
static int socket__wait(struct dart_packet_socket *socket, uint64_t *until)
{
	uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);

	socket->refusals++;
	*until = *until ?: now + CARRIER_NS;
	if (now >= *until && !has_carrier(socket))
		return -ENETDOWN;
	pause_until(now + FULL_PAUSE_NS);
	return 0;
}

int dart_packet_socket__flush(struct dart_packet_socket *socket)
{
	uint64_t until = 0;
	uint32_t done = 0;
	int ret;

	socket__pace(socket);
	while (done < socket->pending) {
		ret = sendmmsg(socket->fd, socket->messages + done, socket->pending - done, 0);
		if (ret > 0) {
			done += ret;
			socket->sent += ret;
			until = 0;
		} else if (errno == ENOBUFS) {
			ret = socket__wait(socket, &until);
			if (ret)
				return ret;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	socket->pending = 0;
	return 0;
}

uint64_t dart_packet_socket__sent(const struct dart_packet_socket *socket)
{
	return socket->sent;
}

uint64_t dart_packet_socket__refusals(const struct dart_packet_socket *socket)
{
	return socket->refusals;
}
