// SPDX-License-Identifier: GPL-2.0-only
/*
 * old_agent: listens for controllers as dartd did before they could tell their interval, or offer a
 * mirror: it rejects a request in which a reserved member or a byte after the request is not 0.
 * Prints "told N ms", "offered a mirror" or "told nothing" for each request, and rejects the
 * latter, too, for another reason.  Runs until a test kills it.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include <dart/control.h>

static void fail(const char *step)
{
	fprintf(stderr, "old_agent: %s: %m\n", step);
	exit(EXIT_FAILURE);
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
	while (length && !bytes[length - 1])
		length--;
	return !length;
}

static void answer(struct rdma_cm_id *id, const struct dart_control_request *request,
		   const uint8_t *tail, size_t length)
{
	struct dart_control_reject reject = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.reason = "it is a test",
	};

	if (request->interval_ms) {
		printf("told %u ms\n", le32toh(request->interval_ms));
		strcpy(reject.reason, "a reserved member of its request is not 0");
	} else if (!is_zero(tail, length)) {
		puts("offered a mirror");
		strcpy(reject.reason,
		       "byte 16 of its private data is not 0, but its request has 16 bytes");
	} else {
		puts("told nothing");
	}
	if (rdma_reject(id, &reject, sizeof(reject)))
		fail("reject");
}

int main(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(DART_CONTROL_PORT),
	};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct dart_control_request request;
	uint8_t data[256];
	size_t length = 0;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&address) || rdma_listen(id, 8))
		fail("listen");
	sd_notify(0, "READY=1");
	while (!rdma_get_cm_event(channel, &event)) {
		id = NULL;
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST &&
		    event->param.conn.private_data_len >= sizeof(request)) {
			id = event->id;
			length = event->param.conn.private_data_len;
			memcpy(data, event->param.conn.private_data, length);
			memcpy(&request, data, sizeof(request));
		}
		rdma_ack_cm_event(event);
		if (!id)
			continue;
		answer(id, &request, data + sizeof(request), length - sizeof(request));
		rdma_destroy_id(id);
	}
	fail("read an event");
}
