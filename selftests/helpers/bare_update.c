// SPDX-License-Identifier: GPL-2.0-only
/*
 * bare_update ADDRESS COUNT INTERVAL_MS [spans]: how long the least takes that a mirror needs to bring a
 * value.  One end of a connection of this machine with itself WRITEs a block and a WRITE with
 * immediate data, the other end, woken by it, READs 64 bytes and is woken when they have landed.
 * COUNT times, one each interval; prints the times in ms as a line of JSON.  "spans": when each began
 * and ended instead, [BEGIN, END] in ns of CLOCK_MONOTONIC.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <error.h>
#include <inttypes.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dart/control.h>
#include <libdart/clock.h>

#define PORT 4999

static struct {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *agent, *controller;
	struct ibv_comp_channel *events; /* of the controller */
	struct ibv_cq *done; /* there */
	struct ibv_cq *sent; /* of the agent */
	struct ibv_mr *memory;
	_Alignas(4096) uint8_t bytes[4096];
} bed;

static void must(int code, const char *step)
{
	if (code)
		error(1, code > 0 ? code : errno, "%s", step);
}

static void make_qp(struct rdma_cm_id *id, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	must(rdma_create_qp(id, bed.memory->pd, &attributes), "queue pair");
}

static void make_objects(struct ibv_context *verbs)
{
	struct ibv_pd *pd = ibv_alloc_pd(verbs);

	if (!pd)
		error(1, errno, "protection domain");
	bed.memory = ibv_reg_mr(pd, bed.bytes, sizeof(bed.bytes),
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					IBV_ACCESS_REMOTE_READ);
	bed.events = ibv_create_comp_channel(verbs);
	bed.done = ibv_create_cq(verbs, 16, NULL, bed.events, 0);
	bed.sent = ibv_create_cq(verbs, 16, NULL, NULL, 0);
	if (!bed.memory || !bed.events || !bed.done || !bed.sent)
		error(1, errno, "objects");
}

/* Both ends, in the order of their events. */
static void handle(enum rdma_cm_event_type event, struct rdma_cm_id *id)
{
	struct rdma_conn_param parameters = {
		.initiator_depth = 1,
		.responder_resources = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
	};

	switch (event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		must(rdma_resolve_route(id, 2000), "route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		make_objects(id->verbs);
		make_qp(id, bed.done);
		must(rdma_connect(id, &parameters), "connect");
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		bed.agent = id;
		make_qp(id, bed.sent);
		must(rdma_accept(id, &parameters), "accept");
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		break;
	default:
		error(1, 0, "%s", rdma_event_str(event));
	}
}

static void connect_both(const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener, *id;
	int established = 0;

	if (inet_pton(AF_INET, text, &address.sin_addr) != 1)
		error(1, 0, "'%s' is not an address", text);
	bed.channel = rdma_create_event_channel();
	if (!bed.channel)
		error(1, errno, "RDMA CM");
	must(rdma_create_id(bed.channel, &listener, NULL, RDMA_PS_TCP), "identifier");
	must(rdma_bind_addr(listener, (struct sockaddr *)&address), "bind");
	must(rdma_listen(listener, 1), "listen");
	must(rdma_create_id(bed.channel, &bed.controller, NULL, RDMA_PS_TCP), "identifier");
	must(rdma_resolve_addr(bed.controller, NULL, (struct sockaddr *)&address, 2000), "address");
	while (established < 2) {
		must(rdma_get_cm_event(bed.channel, &event), "event");
		type = event->event;
		id = event->id;
		rdma_ack_cm_event(event);
		handle(type, id);
		established += type == RDMA_CM_EVENT_ESTABLISHED;
	}
}

/* Sleeps until the controller has a completion. */
static void await_completion(void)
{
	struct ibv_wc completion;
	struct ibv_cq *cq;
	void *context;

	must(ibv_get_cq_event(bed.events, &cq, &context), "completion event");
	ibv_ack_cq_events(cq, 1);
	if (ibv_poll_cq(bed.done, 1, &completion) != 1)
		error(1, 0, "an event without a completion");
	if (completion.status != IBV_WC_SUCCESS)
		error(1, 0, "%s", ibv_wc_status_str(completion.status));
}

static void post(struct rdma_cm_id *id, enum ibv_wr_opcode opcode, uint32_t length)
{
	struct ibv_sge place = {
		.addr = (uintptr_t)bed.bytes,
		.length = length,
		.lkey = bed.memory->lkey,
	};
	struct ibv_send_wr request = {
		.sg_list = &place,
		.num_sge = !!length,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = (uintptr_t)bed.bytes + 2048,
		.wr.rdma.rkey = bed.memory->rkey,
	};
	struct ibv_send_wr *bad;

	must(ibv_post_send(id->qp, &request, &bad), "send");
}

struct span {
	uint64_t begin_ns, end_ns;
};

static struct span measure(void)
{
	struct ibv_recv_wr nothing = {}, *bad;
	struct ibv_wc completion;
	struct span span;
	int sent = 0;

	must(ibv_post_recv(bed.controller->qp, &nothing, &bad), "receive");
	must(ibv_req_notify_cq(bed.done, 0), "event");
	span.begin_ns = dart_clock__ns(CLOCK_MONOTONIC);
	post(bed.agent, IBV_WR_RDMA_WRITE, DART_CONTROL_BLOCK);
	post(bed.agent, IBV_WR_RDMA_WRITE_WITH_IMM, 0);
	await_completion();
	must(ibv_req_notify_cq(bed.done, 0), "event");
	post(bed.controller, IBV_WR_RDMA_READ, 64);
	await_completion();
	span.end_ns = dart_clock__ns(CLOCK_MONOTONIC);
	while (sent < 2)
		sent += ibv_poll_cq(bed.sent, 1, &completion) == 1;
	return span;
}

int main(int argc, char *argv[])
{
	const int count = argc > 3 ? atoi(argv[2]) : 0, interval_ms = argc > 3 ? atoi(argv[3]) : 0;
	const struct timespec interval = { interval_ms / 1000, interval_ms % 1000 * 1000000L };
	const bool has_spans = argc > 4 && !strcmp(argv[4], "spans");
	struct span span;

	if (count <= 0 || interval_ms <= 0 || argc > 4 + has_spans)
		error(1, 0, "usage: bare_update ADDRESS COUNT INTERVAL_MS [spans]");
	connect_both(argv[1]);
	printf("[");
	for (int i = 0; i < count; i++) {
		span = measure();
		printf("%s", i ? ", " : "");
		if (has_spans)
			printf("[%" PRIu64 ", %" PRIu64 "]", span.begin_ns, span.end_ns);
		else
			printf("%.3f", (span.end_ns - span.begin_ns) / 1e6);
		nanosleep(&interval, NULL);
	}
	printf("]\n");
	return 0;
}
