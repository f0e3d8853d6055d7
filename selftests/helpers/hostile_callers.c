// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile_callers HOST: peers that call the agent of HOST by RDMA and break the rules of
 * <dart/rpc.h>, one after the other.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/rpc/message.h>
#include <libdart/table/table.h>

#include "selftests/lib/test.h"

#define RECEIVES 4
#define ANSWER_MAX 4096
#define LONG 8192	/* bytes, more than a request may have */

/* Longer than a lease, on a machine that is emulated. */
#define TIMEOUT_MS 60000

static const char *host;

struct caller {
	struct rdma_cm_id *id;
	struct ibv_mr *memory_region;
	uint8_t answers[RECEIVES][ANSWER_MAX];
	uint8_t request[LONG];
};

static struct rdma_cm_id *find_host(void)
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

static int ask(struct rdma_cm_id *id, const struct dart_rpc_hello *hello)
{
	struct rdma_conn_param wanted = {
		.private_data = hello,
		.private_data_len = sizeof(*hello),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 1,
		.rnr_retry_count = 7,
	};

	return rdma_connect(id, &wanted) ? -errno : 0;
}

/* The agent rejects this hello with these words. */
static void rejected(const struct dart_rpc_hello *hello, const char *words)
{
	struct rdma_cm_id *id = find_host();
	struct dart_control_reject reject;

	assert_int_equal(ask(id, hello), -ECONNREFUSED);
	assert_true(id->event->param.conn.private_data_len >= sizeof(reject));
	memcpy(&reject, id->event->param.conn.private_data, sizeof(reject));
	assert_int_equal(le64toh(reject.magic), DART_RPC_MAGIC);
	assert_int_equal(le32toh(reject.abi_version), DART_RPC_ABI_VERSION);
	if (!strstr(reject.reason, words))
		fail_msg("\"%s\" instead of \"%s\"", reject.reason, words);
	rdma_destroy_ep(id);
}

/* One that posts @receives receives, of those that it announces. */
static struct caller *caller_new(uint32_t answer_max, int receives)
{
	const struct dart_rpc_hello hello =
		dart_rpc_hello__make(answer_max, RECEIVES);
	struct caller *caller = calloc(1, sizeof(*caller));
	int i;

	assert_non_null(caller);
	caller->id = find_host();
	caller->memory_region = ibv_reg_mr(caller->id->pd, caller,
					   sizeof(*caller),
					   IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(caller->memory_region);
	for (i = 0; i < receives; i++)
		assert_int_equal(rdma_post_recv(caller->id,
						caller->answers[i],
						caller->answers[i], ANSWER_MAX,
						caller->memory_region),
				 0);
	assert_int_equal(ask(caller->id, &hello), 0);
	return caller;
}

static void caller_free(struct caller *caller)
{
	rdma_disconnect(caller->id);
	ibv_dereg_mr(caller->memory_region);
	rdma_destroy_ep(caller->id);
	free(caller);
}

static void send_request(struct caller *caller, size_t length)
{
	assert_int_equal(rdma_post_send(caller->id, NULL, caller->request,
					length, caller->memory_region, 0),
			 0);
}

static struct dart_rpc_message receive(struct caller *caller)
{
	struct dart_rpc_message message;
	struct ibv_wc completion;
	struct dart_error error;

	assert_int_equal(rdma_get_recv_comp(caller->id, &completion), 1);
	assert_int_equal(completion.status, IBV_WC_SUCCESS);
	if (dart_rpc_message__decode((void *)(uintptr_t)completion.wr_id,
				     completion.byte_len, &message, &error))
		fail_msg("%s", error.text);
	return message;
}

static void expect_disconnected(struct caller *caller)
{
	struct pollfd descriptor = { .fd = caller->id->channel->fd,
				     .events = POLLIN };
	struct rdma_cm_event *event;

	assert_int_equal(poll(&descriptor, 1, TIMEOUT_MS), 1);
	assert_int_equal(rdma_get_cm_event(caller->id->channel, &event), 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_DISCONNECTED);
	rdma_ack_cm_event(event);
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
	struct dart_rpc_hello hello = dart_rpc_hello__make(ANSWER_MAX, 1);

	hello.abi_version = htole32(DART_RPC_ABI_VERSION + 1);
	rejected(&hello, "it speaks version 2 of the protocol, not 1");
	hello = dart_rpc_hello__make(ANSWER_MAX, 0);
	rejected(&hello, "it has no receives");
	hello = dart_rpc_hello__make(ANSWER_MAX, DART_RPC_RECEIVES_MAX + 1);
	rejected(&hello, "it has 65 receives");
	hello = dart_rpc_hello__make(DART_RPC_ANSWER_MIN - 1, 1);
	rejected(&hello, "it takes messages of 511 bytes");
	hello = dart_rpc_hello__make(UINT32_MAX, 1);
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
	size_t length = dart_rpc__put_get_table(caller->request, 1,
						DART_CONTROL_LENGTH_MAX);

	/* The answer has more parts than there are receives. */
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

	send_request(caller,
		     dart_rpc__put_get_table(caller->request, 1,
					     DART_CONTROL_LENGTH_MAX));
	assert_int_equal(receive(caller).type, DART_RPC_PART);
	expect_disconnected(caller);
}

/* The status of an operation on the first memory region of the table. */
static enum ibv_wc_status attempt(enum ibv_wr_opcode operation)
{
	struct caller *caller = caller_new(ANSWER_MAX, RECEIVES);
	struct dart_control_memory_region region;
	struct dart_control_header header;
	struct dart_rpc_message message;
	struct ibv_send_wr work = { .num_sge = 1, .opcode = operation }, *bad;
	struct ibv_wc completion;
	struct ibv_sge here;
	size_t length;

	length = dart_rpc__put_get_table(caller->request, 1, ANSWER_MAX / 2);
	send_request(caller, length);
	assert_int_equal(rdma_get_send_comp(caller->id, &completion), 1);
	message = receive(caller);
	assert_int_equal(message.type, DART_RPC_PART);
	memcpy(&header, message.part.data, sizeof(header));
	memcpy(&region,
	       message.part.data + le32toh(header.memory_regions.offset),
	       sizeof(region));
	here = (struct ibv_sge){
		.addr = (uintptr_t)caller->request,
		.length = 8,
		.lkey = caller->memory_region->lkey,
	};
	work.sg_list = &here;
	work.wr.rdma.remote_addr = le64toh(region.address);
	work.wr.rdma.rkey = le32toh(region.rkey);
	assert_int_equal(ibv_post_send(caller->id->qp, &work, &bad), 0);
	assert_int_equal(rdma_get_send_comp(caller->id, &completion), 1);
	caller_free(caller);
	return completion.status;
}

static void test_access(void **state)
{
	assert_int_not_equal(attempt(IBV_WR_RDMA_READ), IBV_WC_SUCCESS);
	assert_int_not_equal(attempt(IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS);
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
		TEST("a caller with a request longer than a receive is disconnected",
		     test_long),
		TEST("a caller that does not take its answer is disconnected",
		     test_slow),
		TEST("a caller may neither READ nor WRITE the memory that controllers READ",
		     test_access),
	};

	if (argc != 2) {
		fputs("usage: hostile_callers HOST\n", stderr);
		return 2;
	}
	host = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
