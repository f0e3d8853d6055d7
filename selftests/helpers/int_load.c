// SPDX-License-Identifier: GPL-2.0-only
/*
 * int_load IFACE MAC KIND COUNT [SEED]: sends a frame with INT-MD for each of
 * COUNT flows (uniform, zipf, fat-tree) to MAC, as the last switch before an INT
 * sink would: what dart_flows__get() says of flow i is what a store should know.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <dart/flows.h>

#include "int_frame.h"

#define BATCH		64
#define FAT_TREE_K	16
#define PAYLOAD		18

struct batch {
	uint8_t frames[BATCH][INT_FRAME_MAX];
	struct iovec vectors[BATCH];
	struct mmsghdr messages[BATCH];
};

static int open_socket(const char *interface)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(interface),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0 || !address.sll_ifindex ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return -1;
	return fd;
}

static void put_frame(struct batch *batch, uint32_t i,
		      const struct dart_flow *flow, const uint8_t mac[6])
{
	const struct int_frame frame = {
		.key = flow->key,
		.key_length = sizeof(flow->key),
		.path = flow->path,
		.hops = flow->hops,
		.hop_words = 1,
		.payload = PAYLOAD,
	};
	struct iovec *vector = &batch->vectors[i];

	vector->iov_base = batch->frames[i];
	vector->iov_len = int_frame__build(&frame, batch->frames[i]);
	memcpy(batch->frames[i], mac, 6);
	batch->messages[i].msg_hdr = (struct msghdr){
		.msg_iov = vector,
		.msg_iovlen = 1,
	};
}

/* A queue that is full for the moment is no error. */
static int send_batch(int fd, struct batch *batch, uint32_t count)
{
	uint32_t sent = 0;
	int ret;

	while (sent < count) {
		ret = sendmmsg(fd, batch->messages + sent, count - sent, 0);
		if (ret > 0)
			sent += ret;
		else if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			return -1;
	}
	return 0;
}

static int send_all(int fd, const struct dart_flows *flows, uint64_t count,
		    const uint8_t mac[6])
{
	struct batch *batch = calloc(1, sizeof(*batch));
	struct dart_flow flow;
	uint32_t filled = 0;
	uint64_t i;
	int ret = batch ? 0 : -1;

	for (i = 0; !ret && i < count; i++) {
		dart_flows__get(flows, i, &flow);
		put_frame(batch, filled++, &flow, mac);
		if (filled == BATCH || i + 1 == count) {
			ret = send_batch(fd, batch, filled);
			filled = 0;
		}
	}
	free(batch);
	return ret;
}

int main(int argc, char **argv)
{
	struct dart_flows_options options = { .k = FAT_TREE_K, .skew = 1 };
	struct dart_flows *flows;
	uint8_t mac[6];
	int fd, ret;

	if (argc < 5 || argc > 6 ||
	    sscanf(argv[2], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1],
		   &mac[2], &mac[3], &mac[4], &mac[5]) != 6 ||
	    dart_flows_kind__find(argv[3], &options.kind)) {
		fprintf(stderr, "Usage: int_load IFACE MAC KIND COUNT [SEED]\n");
		return 2;
	}
	options.count = strtoull(argv[4], NULL, 10);
	options.seed = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;

	ret = dart_flows__new(&options, &flows);
	if (ret) {
		fprintf(stderr, "int_load: no such flows: %s\n",
			strerror(-ret));
		return 1;
	}
	fd = open_socket(argv[1]);
	if (fd < 0 || send_all(fd, flows, options.count, mac)) {
		perror("int_load");
		return 1;
	}
	dart_flows__free(flows);
	return 0;
}
