// SPDX-License-Identifier: GPL-2.0-only
/* Callers by RDMA that keep the rules of their own queue pair only. */
#include "serve_rdma.h"

#define PEER_DEPTH 60

static uint8_t peer_memory[DART_RPC_ANSWER_MIN], peer_request[64];

/* A caller that posts @receives of the receives that it announces. */
static struct fake_qp *connect_peer(unsigned int receives)
{
	const struct dart_rpc_hello hello = dart_rpc_hello__make(
		DART_RPC_ANSWER_MIN, DART_RPC_RECEIVES_MAX);
	struct ibv_recv_wr receive = { .num_sge = 1 }, *bad;
	struct ibv_sge place = { .addr = (uintptr_t)peer_memory,
				 .length = sizeof(peer_memory) };
	uint8_t answer[PEER_OFFER_MAX];
	struct fake_qp *own, *other;

	receive.sg_list = &place;
	own = fake_qp__new(ibv_create_cq(&fake.context, PEER_DEPTH, NULL, NULL,
					 0),
			   ibv_create_cq(&fake.context, PEER_DEPTH, NULL, NULL,
					 0));
	assert_true(fake__accept(&hello, sizeof(hello), answer, &other) > 0);
	own->peer = other;
	other->peer = own;
	for (; receives; receives--)
		assert_int_equal(fake__post_recv(&own->qp, &receive, &bad), 0);
	return own;
}

static void free_peer(struct fake_qp *own)
{
	struct ibv_cq *sent = own->qp.send_cq, *received = own->qp.recv_cq;

	message_qp__close(&agent.message_qp);
	agent.is_open = false;
	fake_qp__free(&own->qp);
	ibv_destroy_cq(sent);
	ibv_destroy_cq(received);
}

/* Sends @count requests for @bytes of the table at once. */
static void send_requests(struct fake_qp *own, unsigned int count,
			  uint32_t bytes)
{
	const struct ibv_sge place = {
		.addr = (uintptr_t)peer_request,
		.length = dart_rpc__put_get_table(peer_request, 1, bytes),
	};
	struct ibv_send_wr request = {
		.sg_list = (struct ibv_sge *)&place,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;

	for (; count; count--)
		assert_int_equal(fake__post_send(&own->qp, &request, &bad), 0);
}

static void test_not_taken(void **state)
{
	struct fake_qp *own = connect_peer(0);

	send_requests(own, 1, sizeof(struct dart_control_header));
	assert_true(run_agent());
	assert_false(agent.has_more);
	assert_null(agent.reason);
	/* All is sent, and nothing taken: the listener begins a lease. */
	assert_true(message_qp__is_busy(&agent.message_qp));
	assert_int_equal(counts.cut_off, 0);
	assert_string_equal(message_qp__expire(&agent.message_qp),
			    "disconnected: it is too slow with an answer");
	assert_int_equal(counts.cut_off, 1);
	free_peer(own);
}

static void test_turns_of_parts(void **state)
{
	struct fake_qp *own = connect_peer(PEER_DEPTH);
	uint64_t parts = 0;

	use_large_table();
	send_requests(own, 1, LARGE);
	while (parts < PEER_DEPTH) {
		assert_true(run_agent());
		assert_true(own->receives_count + parts + MESSAGE_QP_SENDS >=
			    PEER_DEPTH);
		parts = PEER_DEPTH - own->receives_count;
	}
	assert_true(message_qp__is_busy(&agent.message_qp));
	free(agent.host->control_region.memory);
	agent.host->control_region.memory = agent.host->table;
	free_peer(own);
}

static void test_turns_of_requests(void **state)
{
	struct fake_qp *own = connect_peer(PEER_DEPTH);
	uint64_t i;

	send_requests(own, 20, sizeof(struct dart_control_header));
	for (i = 1; i <= 20; i++) {
		assert_true(run_agent());
		assert_null(agent.reason);
		assert_int_equal(counts.requests, i);
		assert_int_equal(agent.message_qp.requests, i);
		assert_int_equal(agent.has_more, i < 20);
	}
	assert_false(run_agent());
	free_peer(own);
}

static void test_after_the_error(void **state)
{
	struct fake_qp *own = connect_peer(PEER_DEPTH);

	send_requests(own, 20, 0);
	while (run_agent() && !agent.reason)
		;
	assert_string_equal(agent.reason,
			    "disconnected: it broke a rule of the protocol");
	assert_int_equal(counts.errors, 1);
	assert_int_equal(own->receives_count, PEER_DEPTH - 1);
	free_peer(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a caller that takes no message of an answer that was sent whole is cut off",
			     test_not_taken, open_fixture, close_fixture),
		TEST_FIXTURE("an answer that is taken at once is sent four messages at a turn",
			     test_turns_of_parts, open_fixture, close_fixture),
		TEST_FIXTURE("requests that come one behind the other are taken one at a turn",
			     test_turns_of_requests, open_fixture, close_fixture),
		TEST_FIXTURE("behind the error no request is taken, and no second error sent",
			     test_after_the_error, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
