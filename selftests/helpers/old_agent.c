// SPDX-License-Identifier: GPL-2.0-only
/*
 * old_agent: listens for controllers as dartd did before they could tell their interval: it rejects a
 * request in which a reserved member is not 0.  Prints "told N ms" or "told nothing" for each
 * request, and rejects the latter, too, for another reason.  Runs until a test kills it.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <rdma/rdma_cma.h>
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

static void answer(struct rdma_cm_id *id, const struct dart_control_request *request)
{
	struct dart_control_reject reject = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.reason = "it is a test",
	};

	if (request->interval_ms) {
		printf("told %u ms\n", le32toh(request->interval_ms));
		strcpy(reject.reason, "a reserved member of its request is not 0");
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
			memcpy(&request, event->param.conn.private_data, sizeof(request));
		}
		rdma_ack_cm_event(event);
		if (!id)
			continue;
		answer(id, &request);
		rdma_destroy_id(id);
	}
	fail("read an event");
}
