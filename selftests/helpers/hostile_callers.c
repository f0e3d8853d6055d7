// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile_callers HOST: peers that call the agent of HOST over RDMA and break the rules
 * of <dart/rpc.h>, one after the other.
 */
#include <endian.h>
#include <poll.h>
#include <string.h>

#include "raw_caller.h"

/* Longer than a lease, on a machine that is emulated. */
#define TIMEOUT_MS 60000

/* The agent rejects this hello with these words. */
static void rejected(const struct dart_rpc_hello *hello, const char *words)
{
	struct rdma_cm_id *id = find_host();
	struct dart_control_reject reject;

	assert_int_equal(ask(id, hello, sizeof(*hello)), -ECONNREFUSED);
	assert_true(id->event->param.conn.private_data_len >= sizeof(reject));
	memcpy(&reject, id->event->param.conn.private_data, sizeof(reject));
	assert_int_equal(le64toh(reject.magic), DART_RPC_MAGIC);
	assert_int_equal(le32toh(reject.abi_version), DART_RPC_ABI_VERSION);
	if (!strstr(reject.reason, words))
		fail_msg("\"%s\" instead of \"%s\"", reject.reason, words);
	rdma_destroy_ep(id);
}

static void expect_disconnected(struct caller *caller)
{
	struct pollfd descriptor = { .fd = caller->id->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	bool is_rejected;

	assert_int_equal(poll(&descriptor, 1, TIMEOUT_MS), 1);
	assert_int_equal(rdma_get_cm_event(caller->id->channel, &event), 0);
	/*
	 * The agent rejects the connection if the caller ends it before the agent sees its first
	 * use.
	 */
	is_rejected = event->event == RDMA_CM_EVENT_REJECTED;
	assert_true(is_rejected || event->event == RDMA_CM_EVENT_DISCONNECTED);
	rdma_ack_cm_event(event);
	if (is_rejected)
		caller_forget(caller);
	else
		caller_free(caller);
}

static void expect_refused(struct caller *caller, const char *words)
{
	const struct dart_rpc_message message = receive(caller);

	assert_int_equal(message.type, DART_RPC_ERROR);
	assert_int_equal(message.error.code, DART_RPC_ERROR_MALFORMED);
	if (!strstr(message.error.reason, words))
		fail_msg("\"%s\" instead of \"%s\"", message.error.reason, words);
	expect_disconnected(caller);
}

static void test_hello(void **state)
{
	struct dart_rpc_hello hello = dart_rpc_hello__make(ANSWER_MAX, 1, 0);

	hello.abi_version = htole32(DART_RPC_ABI_VERSION + 1);
	rejected(&hello, "it speaks version 2 of the protocol, not 1");
	hello = dart_rpc_hello__make(ANSWER_MAX, 0, 0);
	rejected(&hello, "it has no receives");
	hello = dart_rpc_hello__make(ANSWER_MAX, DART_RPC_RECEIVES_MAX + 1, 0);
	rejected(&hello, "it has 65 receives");
	hello = dart_rpc_hello__make(DART_RPC_ANSWER_MIN - 1, 1, 0);
	rejected(&hello, "it takes messages of 511 bytes");
	hello = dart_rpc_hello__make(UINT32_MAX, 1, 0);
	rejected(&hello, "it takes messages of 4294967295 bytes");
}

static void test_bytes(void **state)
{
	struct caller *caller = caller_new(ANSWER_MAX, RECEIVES);

	memset(caller->request, 0xff, 100);
	send_request(caller, 100);
	expect_refused(caller, "breaks a rule");
	caller = caller_new(ANSWER_MAX, RECEIVES);
	send_request(caller, 0);
	expect_refused(caller, "has no header");
	caller = caller_new(ANSWER_MAX, RECEIVES);
	dart_rpc__put_get_table(caller->request, 1, 4096);
	caller->request[0] = 0xff;
	send_request(caller, 24);
	expect_refused(caller, "breaks a rule");
}

static void test_early(void **state)
{
	struct caller *caller = caller_new(DART_RPC_ANSWER_MIN, 1);
	size_t length = dart_rpc__put_get_table(caller->request, 1, DART_CONTROL_LENGTH_MAX);

	/* The answer consists of more parts than the caller posted receives. */
	send_request(caller, length);
	send_request(caller, length);
	expect_disconnected(caller);
}

static void test_long(void **state)
{
	struct caller *caller = caller_new(ANSWER_MAX, RECEIVES);

	dart_rpc__put_get_table(caller->request, 1, 4096);
	send_request(caller, LONG);
	expect_disconnected(caller);
}

/* It takes the first part of its table, and no other. */
static void test_slow(void **state)
{
	struct caller *caller = caller_new(DART_RPC_ANSWER_MIN, 1);

	send_request(caller, dart_rpc__put_get_table(caller->request, 1, DART_CONTROL_LENGTH_MAX));
	assert_int_equal(receive(caller).type, DART_RPC_PART);
	expect_disconnected(caller);
}

/* It posts no receive, and the agent has sent everything. */
static void test_not_taken(void **state)
{
	struct caller *caller = caller_new(DART_RPC_ANSWER_MIN, 0);

	send_request(caller, dart_rpc__put_get_table(caller->request, 1,
						     sizeof(struct dart_control_header)));
	expect_disconnected(caller);
}

/* Behind the first of several requests that break a rule, nothing is answered. */
static void test_after_the_error(void **state)
{
	struct caller *caller = caller_new(ANSWER_MAX, RECEIVES);
	struct pollfd descriptor = { .fd = caller->id->channel->fd, .events = POLLIN };
	struct dart_rpc_message message;
	struct ibv_wc completion;
	int i;

	memset(caller->request, 0xff, 100);
	for (i = 0; i < 3; i++)
		send_request(caller, 100);
	message = receive(caller);
	assert_int_equal(message.type, DART_RPC_ERROR);
	assert_int_equal(poll(&descriptor, 1, TIMEOUT_MS), 1);
	while (ibv_poll_cq(caller->id->recv_cq, 1, &completion) > 0)
		assert_int_not_equal(completion.status, IBV_WC_SUCCESS);
	expect_disconnected(caller);
}

/* The first memory region of the table. */
static struct dart_control_memory_region find_memory(struct caller *caller)
{
	struct dart_control_memory_region region;
	struct dart_control_header header;
	struct dart_rpc_message message;
	struct ibv_wc completion;

	send_request(caller, dart_rpc__put_get_table(caller->request, 1, ANSWER_MAX / 2));
	assert_int_equal(rdma_get_send_comp(caller->id, &completion), 1);
	message = receive(caller);
	assert_int_equal(message.type, DART_RPC_PART);
	memcpy(&header, message.part.data, sizeof(header));
	memcpy(&region, message.part.data + le32toh(header.memory_regions.offset), sizeof(region));
	return region;
}

/* The status of an operation of 8 bytes. */
static enum ibv_wc_status attempt(struct rdma_cm_id *id, enum ibv_wr_opcode operation,
				  const struct dart_control_memory_region *region)
{
	uint64_t memory = 0;
	struct ibv_mr *own = ibv_reg_mr(id->pd, &memory, sizeof(memory),
					IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge here = { .addr = (uintptr_t)&memory,
				.length = sizeof(memory) };
	struct ibv_send_wr work = { .sg_list = &here, .num_sge = 1,
				    .opcode = operation }, *bad;
	struct ibv_wc completion;

	assert_non_null(own);
	here.lkey = own->lkey;
	work.wr.rdma.remote_addr = le64toh(region->address);
	work.wr.rdma.rkey = le32toh(region->rkey);
	assert_int_equal(ibv_post_send(id->qp, &work, &bad), 0);
	assert_int_equal(rdma_get_send_comp(id, &completion), 1);
	ibv_dereg_mr(own);
	return completion.status;
}

static void test_access(void **state)
{
	static const enum ibv_wr_opcode operations[] = { IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE };
	const struct dart_control_request request = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	};
	struct dart_control_memory_region region;
	struct rdma_cm_id *controller = find_host();
	enum ibv_wc_status status;
	struct caller *caller;
	size_t i;

	for (i = 0; i < 2; i++) {
		caller = caller_new(ANSWER_MAX, RECEIVES);
		region = find_memory(caller);
		status = attempt(caller->id, operations[i], &region);
		if (status != IBV_WC_REM_ACCESS_ERR && status != IBV_WC_REM_INV_REQ_ERR)
			fail_msg("%s", ibv_wc_status_str(status));
		caller_free(caller);
	}
	/* The entry exists for callers with permission. */
	assert_int_equal(ask(controller, &request, sizeof(request)), 0);
	assert_int_equal(attempt(controller, IBV_WR_RDMA_READ, &region), IBV_WC_SUCCESS);
	rdma_disconnect(controller);
	rdma_destroy_ep(controller);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST("hellos of another version, or with members outside their limits, are rejected with the reason",
		     test_hello),
		TEST("bytes that are not a request are answered with the reason, and the caller is disconnected",
		     test_bytes),
		TEST("a caller with a second request before the answer is disconnected",
		     test_early),
		TEST("a caller with a request longer than a receive is disconnected", test_long),
		TEST("a caller that does not take its answer is disconnected", test_slow),
		TEST("a caller that takes no message of a short answer is disconnected",
		     test_not_taken),
		TEST("behind the error no request is answered, and no second error sent",
		     test_after_the_error),
		TEST("a caller may neither READ nor WRITE the memory that a controller READs",
		     test_access),
	};

	if (argc != 2) {
		fputs("usage: hostile_callers HOST\n", stderr);
		return 2;
	}
	host = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
