/* SPDX-License-Identifier: GPL-2.0-only */
/* A caller over RDMA whose messages and receives the test chooses one by one. */
#ifndef RAW_CALLER_H
#define RAW_CALLER_H

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>

#include <dart/control.h>
#include <libdart/rpc/message.h>

#include "selftests/lib/test.h"

#define RECEIVES 4
#define ANSWER_MAX 4096
#define LONG 8192	/* bytes, longer than any valid request */

static const char *host;

struct caller {
	struct rdma_cm_id *id;
	struct ibv_mr *memory_region;
	uint8_t *last;		/* the last received message */
	uint8_t answers[RECEIVES][ANSWER_MAX];
	uint8_t request[LONG];
};

static inline struct rdma_cm_id *find_host(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = RECEIVES,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct rdma_cm_id *id;
	char port[8];

	snprintf(port, sizeof(port), "%d", DART_CONTROL_PORT);
	assert_int_equal(rdma_getaddrinfo(host, port, &hints, &found), 0);
	assert_int_equal(rdma_create_ep(&id, found, NULL, &attributes), 0);
	rdma_freeaddrinfo(found);
	return id;
}

/* Connects with this private data. */
static inline int ask(struct rdma_cm_id *id, const void *data, size_t length)
{
	struct rdma_conn_param wanted = {
		.private_data = data,
		.private_data_len = length,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 1,
		.rnr_retry_count = 7,
	};

	return rdma_connect(id, &wanted) ? -errno : 0;
}

static inline void post_receive(struct caller *caller, uint8_t *answer)
{
	assert_int_equal(
		rdma_post_recv(caller->id, answer, answer, ANSWER_MAX, caller->memory_region), 0);
}

/*
 * An agent that sends a message before this caller posts a receive tries it again after
 * 0.01 ms (1; IBTA 1.4, 9.7.5.2.8), not after the 655 ms of the CM: an answer of many
 * parts would come too late.
 */
static inline void retry_soon(struct caller *caller)
{
	struct ibv_qp_attr attributes = { .min_rnr_timer = 1 };

	assert_int_equal(ibv_modify_qp(caller->id->qp, &attributes, IBV_QP_MIN_RNR_TIMER), 0);
}

/* A caller that posts @receives of the receives that it announces. */
static inline struct caller *caller_new(uint32_t answer_max, int receives)
{
	const struct dart_rpc_hello hello = dart_rpc_hello__make(answer_max, RECEIVES, 0);
	struct caller *caller = calloc(1, sizeof(*caller));
	int i;

	assert_non_null(caller);
	caller->id = find_host();
	caller->memory_region =
		ibv_reg_mr(caller->id->pd, caller, sizeof(*caller), IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(caller->memory_region);
	for (i = 0; i < receives; i++)
		post_receive(caller, caller->answers[i]);
	assert_int_equal(ask(caller->id, &hello, sizeof(hello)), 0);
	retry_soon(caller);
	return caller;
}

/* A rejected caller has no connection to end: rdma_disconnect() would wait for ever. */
static inline void caller_forget(struct caller *caller)
{
	ibv_dereg_mr(caller->memory_region);
	rdma_destroy_ep(caller->id);
	free(caller);
}

static inline void caller_free(struct caller *caller)
{
	rdma_disconnect(caller->id);
	caller_forget(caller);
}

static inline void send_request(struct caller *caller, size_t length)
{
	assert_int_equal(rdma_post_send(caller->id, NULL, caller->request,
					length, caller->memory_region, 0),
			 0);
}

static inline struct dart_rpc_message receive(struct caller *caller)
{
	struct dart_rpc_message message;
	struct ibv_wc completion;
	struct dart_error error;

	assert_int_equal(rdma_get_recv_comp(caller->id, &completion), 1);
	assert_int_equal(completion.status, IBV_WC_SUCCESS);
	caller->last = (uint8_t *)(uintptr_t)completion.wr_id;
	if (dart_rpc_message__decode(caller->last, completion.byte_len, &message, &error))
		fail_msg("%s", error.text);
	return message;
}

#endif /* RAW_CALLER_H */
