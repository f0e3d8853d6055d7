// SPDX-License-Identifier: GPL-2.0-only
/*
 * bare_read: a lower bound for dart-controller's latency.  Posts the same READs
 * in the same chain on the same kind of connection, waits in the same way, and
 * ignores the returned bytes.  Uses bare verbs; libdart only plans the READs.
 */
#include <endian.h>
#include <err.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <rdma/rdma_cma.h>

#include <libdart/error.h>
#include <libdart/rdma/read_plan.h>

#include "timing.h"

#define READS_MAX	1024
#define TIMEOUT_MS	10000

struct bare {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	int epoll;
	struct dart_control_accept accept;
	struct ibv_mr *mr;
	char *landing;
	struct ibv_send_wr requests[READS_MAX];
	struct ibv_sge pieces[READS_MAX];
};

static void check(bool good, const char *call)
{
	if (!good)
		err(EXIT_FAILURE, "%s", call);
}

static void await(struct bare *bare, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	check(!rdma_get_cm_event(bare->channel, &event), "connection");
	if (event->event != wanted)
		errx(EXIT_FAILURE, "connection: %s", rdma_event_str(event->event));
	if (wanted == RDMA_CM_EVENT_ESTABLISHED) {
		if (event->param.conn.private_data_len < sizeof(bare->accept))
			errx(EXIT_FAILURE, "handshake: too short");
		memcpy(&bare->accept, event->param.conn.private_data, sizeof(bare->accept));
	}
	rdma_ack_cm_event(event);
}

static void make_queue_pair(struct bare *bare)
{
	struct epoll_event readable = { .events = EPOLLIN };
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = READS_MAX,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	bare->pd = ibv_alloc_pd(bare->id->verbs);
	check(bare->pd, "protection domain");
	bare->completions = ibv_create_comp_channel(bare->id->verbs);
	check(bare->completions, "completion channel");
	bare->cq = ibv_create_cq(bare->id->verbs, READS_MAX, NULL, bare->completions, 0);
	check(bare->cq, "completion queue");
	attributes.send_cq = bare->cq;
	attributes.recv_cq = bare->cq;
	check(!rdma_create_qp(bare->id, bare->pd, &attributes), "queue pair");

	bare->epoll = epoll_create1(EPOLL_CLOEXEC);
	check(bare->epoll >= 0, "epoll");
	check(!epoll_ctl(bare->epoll, EPOLL_CTL_ADD, bare->completions->fd, &readable), "epoll");
}

static void connect_to(struct bare *bare, const char *host, const char *port)
{
	const struct dart_control_request request = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	};
	struct rdma_conn_param parameters = {
		.private_data = &request,
		.private_data_len = sizeof(request),
		.initiator_depth = 16,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct addrinfo *address;
	int ret;

	ret = getaddrinfo(host, port, NULL, &address);
	if (ret)
		errx(EXIT_FAILURE, "%s: %s", host, gai_strerror(ret));
	bare->channel = rdma_create_event_channel();
	check(bare->channel, "RDMA connection manager");
	check(!rdma_create_id(bare->channel, &bare->id, NULL, RDMA_PS_TCP), "identifier");
	check(!rdma_resolve_addr(bare->id, NULL, address->ai_addr, 2000), "address");
	freeaddrinfo(address);
	await(bare, RDMA_CM_EVENT_ADDR_RESOLVED);
	check(!rdma_resolve_route(bare->id, 2000), "route");
	await(bare, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_queue_pair(bare);
	check(!rdma_connect(bare->id, &parameters), "connect");
	await(bare, RDMA_CM_EVENT_ESTABLISHED);
}

static void reserve(struct bare *bare, size_t size)
{
	if (bare->mr)
		ibv_dereg_mr(bare->mr);
	free(bare->landing);
	bare->landing = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
	check(bare->landing, "memory");
	bare->mr = ibv_reg_mr(bare->pd, bare->landing, size, IBV_ACCESS_LOCAL_WRITE);
	check(bare->mr, "memory region");
}

static void prepare(struct bare *bare, const struct dart_read *reads, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		bare->pieces[i] = (struct ibv_sge){
			.addr = (uintptr_t)bare->landing + reads[i].landing,
			.length = reads[i].length,
			.lkey = bare->mr->lkey,
		};
		bare->requests[i] = (struct ibv_send_wr){
			.next = &bare->requests[i + 1],
			.sg_list = &bare->pieces[i],
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_READ,
			.wr.rdma = { reads[i].address, reads[i].rkey },
		};
	}
	bare->requests[count - 1].next = NULL;
	bare->requests[count - 1].send_flags = IBV_SEND_SIGNALED;
}

/* Posts the chain and waits until its data land; returns the time in ns. */
static uint64_t run_once(void *of)
{
	struct bare *bare = of;
	struct epoll_event event;
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *context;
	uint64_t start = timing__now_ns();

	check(!ibv_req_notify_cq(bare->cq, 0), "notification");
	check(!ibv_post_send(bare->id->qp, bare->requests, &bad), "post");
	if (epoll_wait(bare->epoll, &event, 1, TIMEOUT_MS) != 1)
		errx(EXIT_FAILURE, "READ: no answer");
	check(!ibv_get_cq_event(bare->completions, &cq, &context), "completion");
	ibv_ack_cq_events(cq, 1);
	if (ibv_poll_cq(bare->cq, 1, &wc) != 1)
		errx(EXIT_FAILURE, "READ: no completion");
	if (wc.status != IBV_WC_SUCCESS)
		errx(EXIT_FAILURE, "READ: %s", ibv_wc_status_str(wc.status));
	return timing__now_ns() - start;
}

static struct dart_table *fetch_table(struct bare *bare)
{
	struct dart_read read = {
		.address = le64toh(bare->accept.address),
		.rkey = le32toh(bare->accept.rkey),
		.length = le32toh(bare->accept.used),
	};
	struct dart_table *table;
	struct dart_error error;

	if (le64toh(bare->accept.magic) != DART_CONTROL_MAGIC || !read.length ||
	    read.length > DART_CONTROL_LENGTH_MAX)
		errx(EXIT_FAILURE, "handshake: not a dart agent");
	reserve(bare, read.length);
	prepare(bare, &read, 1);
	run_once(bare);
	if (dart_table__decode(bare->landing, read.length, &table, NULL, &error))
		errx(EXIT_FAILURE, "table: %s", error.text);
	return table;
}

/* Plans the READs of dart-controller: all entries, then the header. */
static void plan_reads(struct bare *bare, uint32_t *count, uint64_t *bytes)
{
	struct dart_read reads[READS_MAX];
	const struct dart_read *planned;
	struct dart_read_plan *plan;
	struct dart_table *table;
	uint32_t i;

	table = fetch_table(bare);
	if (dart_read_plan__new(table, NULL, 0, &plan))
		errx(EXIT_FAILURE, "plan: too much to READ");
	planned = dart_read_plan__reads(plan, count);
	if (*count >= READS_MAX)
		errx(EXIT_FAILURE, "plan: too many READs");
	memcpy(reads, planned, *count * sizeof(*reads));
	reads[*count] = (struct dart_read) {
		.address = le64toh(bare->accept.address),
		.rkey = le32toh(bare->accept.rkey),
		.length = sizeof(struct dart_control_header),
		.landing = dart_read_plan__landing_size(plan),
	};
	++*count;
	for (i = 0, *bytes = 0; i < *count; i++)
		*bytes += reads[i].length;
	reserve(bare, reads[*count - 1].landing + reads[*count - 1].length);
	prepare(bare, reads, *count);
	dart_read_plan__free(plan);
	dart_table__free(table);
}

int main(int argc, char *argv[])
{
	static struct bare bare;
	struct timing timing;
	int first = timing__parse(&timing, argc, argv);
	uint64_t bytes;
	uint32_t reads;
	char *port;

	if (first < 0 || argc != first + 1)
		errx(EXIT_FAILURE, "usage: bare_read [--count N] [--interval 100ms] HOST[:PORT]");
	port = strrchr(argv[first], ':');
	if (port)
		*port++ = '\0';

	connect_to(&bare, argv[first], port ? port : "4792");
	plan_reads(&bare, &reads, &bytes);
	printf("{\"reads\": %u, \"bytes\": %llu, ", reads, (unsigned long long)bytes);
	timing__run(&timing, run_once, &bare);
	printf("}\n");
	rdma_disconnect(bare.id);
	return 0;
}
