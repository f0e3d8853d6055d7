/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixture of the tests of callers over RDMA: the agent's end of one connection.
 * Both ends are in this process, and their queue pairs are a few queues.
 */
#ifndef SERVE_RDMA_H
#define SERVE_RDMA_H

#include <stdio.h>

#include "fake_rdma.h"

#include "agent/rdma/message_qp.h"
#include "agent/serve/caller.h"
#include "served_host.h"

static struct serve_counts counts;
static struct ibv_pd pd;
static const struct device device = { .context = &fake.context,
				      .message_pd = &pd };

/* The end of the agent, for one caller. */
static struct {
	struct served_host *host;
	struct snapshots snapshots;
	struct sessions sessions;
	struct ibv_comp_channel *channel;
	struct message_qp message_qp;
	bool is_open;
	bool has_more;		/* to be served again without an event */
	const char *reason;	/* why it would disconnect; NULL */
} agent;

/* ---- the rooms around message_qp */

struct ibv_qp *device__create_qp(struct ibv_pd *of, enum ibv_qp_type type,
				 struct ibv_cq *sent, struct ibv_cq *received,
				 uint32_t sends)
{
	assert_int_equal(sends, MESSAGE_QP_SENDS + 1);
	/* One without the memory of entries. */
	assert_ptr_equal(of, device.message_pd);
	return &fake_qp__new(sent, received)->qp;
}

int device__advance_qp(struct ibv_qp *queue_pair, struct rdma_cm_id *id,
		       enum ibv_qp_state state, unsigned int access,
		       uint8_t reads)
{
	assert_int_equal(access, 0);
	queue_pair->state = state;
	return 0;
}

static int fake__accept(const void *request, size_t length, void *answer,
			struct fake_qp **qp)
{
	struct dart_control_reject *reject = answer;
	struct peer_offer offer = {};
	struct dart_error error;
	uint8_t data[56] = {};

	assert_true(length <= sizeof(data));
	memcpy(data, request, length);
	if (caller_kind.offer(&agent.sessions, data, &offer, &error)) {
		*reject = (struct dart_control_reject){
			.magic = htole64(DART_RPC_MAGIC),
			.abi_version = htole32(DART_RPC_ABI_VERSION),
		};
		snprintf(reject->reason, sizeof(reject->reason), "%.100s",
			 error.text);
		return -EPROTO;
	}
	assert_null(offer.pd);
	assert_int_equal(message_qp__open(&agent.message_qp, &device, NULL,
					  offer.messenger, agent.channel,
					  &agent),
			 0);
	agent.is_open = true;
	memcpy(answer, offer.data, offer.length);
	*qp = (struct fake_qp *)agent.message_qp.queue_pair;
	return offer.length;
}

/* ---- */

static inline int open_fixture(void **state)
{
	fake__open();
	memset(&agent, 0, sizeof(agent));
	counts = (struct serve_counts){};
	agent.host = served_host__new();
	agent.channel = ibv_create_comp_channel(&fake.context);
	snapshots__open(&agent.snapshots, &agent.host->control_region);
	sessions__open(&agent.sessions, &agent.snapshots, &counts);
	return 0;
}

static inline int close_fixture(void **state)
{
	if (agent.is_open)
		message_qp__close(&agent.message_qp);
	ibv_destroy_comp_channel(agent.channel);
	assert_int_equal(agent.snapshots.count, 0);
	served_host__free(agent.host);
	return 0;
}

/* Handles one event, or turn, of the agent like the listener; false without one. */
static inline bool run_agent(void)
{
	struct ibv_cq *cq;
	void *context;

	if (!ibv_get_cq_event(agent.channel, &cq, &context))
		assert_ptr_equal(context, &agent);
	else if (!agent.has_more)
		return false;
	agent.reason = message_qp__serve(&agent.message_qp, &agent.has_more);
	return true;
}

#define LARGE (SERVED_TABLE_MAX * 16)

/* Fills the table with random bytes for many parts, more than both sides have buffers. */
static inline void use_large_table(void)
{
	struct control_region *region = &agent.host->control_region;
	uint64_t seed = 5;
	size_t i;

	region->memory = malloc(LARGE);
	assert_non_null(region->memory);
	for (i = 0; i < LARGE; i++)
		((uint8_t *)region->memory)[i] = random__below(&seed, 256);
	region->used = LARGE;
}

#endif /* SERVE_RDMA_H */
