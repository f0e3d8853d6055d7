// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_arp.h>
#include <linux/if_packet.h>

#include <libdart/error.h>

#include "packet_socket.h"

#define SECOND_NS	UINT64_C(1000000000)
#define BATCH_MAX	64	/* frames in one system call */
#define BATCH_NS	1000000	/* and no more than this much time's worth */
#define LATE_MAX_NS	10000000 /* what is made up for, after a delay */
#define FULL_PAUSE_NS	50000	/* nobody tells when there is room again */

struct dart_packet_socket {
	int socket;
	uint8_t mac[6];
	struct in_addr address;
	uint64_t sent;
	uint64_t refusals;
	uint64_t frame_ns;	/* from one frame to the next */
	uint64_t due_ns;	/* when the next batch may go */
	uint32_t batch;		/* frames that make one */
	uint32_t pending;
	struct mmsghdr messages[BATCH_MAX];
	struct iovec lengths[BATCH_MAX];
	uint8_t frames[BATCH_MAX][DART_WIRE_FRAME_MAX];
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void pause_until(uint64_t ns)
{
	const struct timespec until = {
		.tv_sec = ns / SECOND_NS,
		.tv_nsec = ns % SECOND_NS,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until,
			       NULL) == EINTR)
		;
}

static void find_address(struct dart_packet_socket *wire, const char *interface)
{
	struct ifaddrs *all, *one;

	if (getifaddrs(&all))
		return;
	for (one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET ||
		    strcmp(one->ifa_name, interface))
			continue;
		wire->address =
			((struct sockaddr_in *)one->ifa_addr)->sin_addr;
		break;
	}
	freeifaddrs(all);
}

/* Frames go from here to the driver: no queueing discipline, no receiving. */
static int wire__bind(struct dart_packet_socket *wire, const char *interface,
		      struct dart_error *error)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	struct ifreq request = { .ifr_ifindex = 0 };
	const int yes = 1;

	if (strlen(interface) >= sizeof(request.ifr_name))
		return dart_error__set(error, ENODEV, "no interface '%s'",
				       interface);
	strcpy(request.ifr_name, interface);
	if (ioctl(wire->socket, SIOCGIFHWADDR, &request))
		goto failed;
	if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return dart_error__set(error, EINVAL,
				       "%s is no Ethernet interface",
				       interface);
	memcpy(wire->mac, request.ifr_hwaddr.sa_data, sizeof(wire->mac));
	if (ioctl(wire->socket, SIOCGIFINDEX, &request))
		goto failed;
	address.sll_ifindex = request.ifr_ifindex;
	if (bind(wire->socket, (struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(wire->socket, SOL_PACKET, PACKET_QDISC_BYPASS, &yes,
		       sizeof(yes)))
		goto failed;
	return 0;
failed:
	return dart_error__set(error, errno, "cannot send through %s: %s",
			       interface, strerror(errno));
}

static void wire__set_rate(struct dart_packet_socket *wire, uint64_t rate)
{
	wire->batch = BATCH_MAX;
	if (!rate)
		return;
	wire->frame_ns = SECOND_NS / rate;
	if (wire->frame_ns * wire->batch > BATCH_NS)
		wire->batch = BATCH_NS / wire->frame_ns;
	if (!wire->batch)
		wire->batch = 1;
}

int dart_packet_socket__open(const char *interface, uint64_t rate,
			     struct dart_packet_socket **result,
			     struct dart_error *error)
{
	struct dart_packet_socket *wire = calloc(1, sizeof(*wire));
	uint32_t i;
	int ret;

	if (!wire)
		return dart_error__no_memory(error);
	wire__set_rate(wire, rate);
	for (i = 0; i < BATCH_MAX; i++) {
		wire->lengths[i].iov_base = wire->frames[i];
		wire->messages[i].msg_hdr.msg_iov = &wire->lengths[i];
		wire->messages[i].msg_hdr.msg_iovlen = 1;
	}
	find_address(wire, interface);
	wire->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (wire->socket < 0) {
		ret = dart_error__set(error, errno, "cannot send frames: %s%s",
				      strerror(errno),
				      errno == EPERM ?
					      " (this needs CAP_NET_RAW)" :
					      "");
		goto free_wire;
	}
	ret = wire__bind(wire, interface, error);
	if (ret)
		goto close_socket;
	*result = wire;
	return 0;

close_socket:
	close(wire->socket);
free_wire:
	free(wire);
	return ret;
}

void dart_packet_socket__close(struct dart_packet_socket *wire)
{
	if (!wire)
		return;
	close(wire->socket);
	free(wire);
}

const uint8_t *dart_packet_socket__mac(const struct dart_packet_socket *wire)
{
	return wire->mac;
}

struct in_addr
dart_packet_socket__address(const struct dart_packet_socket *wire)
{
	return wire->address;
}

uint8_t *dart_packet_socket__next(struct dart_packet_socket *wire)
{
	return wire->frames[wire->pending];
}

int dart_packet_socket__push(struct dart_packet_socket *wire, size_t length)
{
	wire->lengths[wire->pending++].iov_len = length;
	return wire->pending < wire->batch ? 0 :
					     dart_packet_socket__flush(wire);
}

static void wire__pace(struct dart_packet_socket *wire)
{
	uint64_t now;

	if (!wire->frame_ns)
		return;
	now = now_ns();
	if (now < wire->due_ns)
		pause_until(wire->due_ns);
	else if (now - wire->due_ns > LATE_MAX_NS)
		wire->due_ns = now;
	wire->due_ns += wire->frame_ns * wire->pending;
}

int dart_packet_socket__flush(struct dart_packet_socket *wire)
{
	uint32_t done = 0;
	int ret;

	wire__pace(wire);
	while (done < wire->pending) {
		ret = sendmmsg(wire->socket, wire->messages + done,
			       wire->pending - done, 0);
		if (ret > 0) {
			done += ret;
			wire->sent += ret;
		} else if (errno == ENOBUFS) {
			wire->refusals++;
			pause_until(now_ns() + FULL_PAUSE_NS);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	wire->pending = 0;
	return 0;
}

uint64_t dart_packet_socket__sent(const struct dart_packet_socket *wire)
{
	return wire->sent;
}

uint64_t dart_packet_socket__refusals(const struct dart_packet_socket *wire)
{
	return wire->refusals;
}
