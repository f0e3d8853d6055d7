// SPDX-License-Identifier: GPL-2.0-only
/*
 * store_intruder NAME RKEY BASE: a reader of the store NAME on "host" that tries to
 * read other memory and to write.  RKEY and BASE belong to the store's reporters.  At
 * the end it notifies that it is ready, and stays until the agent disconnects.
 */
#include <endian.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include <dart/control.h>
#include <dart/store_access.h>

#include "selftests/lib/test.h"

#define PATTERN 0xa5

static const char *store;
static uint32_t reporters_rkey;
static uint64_t reporters_base;

struct reader {
	struct rdma_cm_id *id;
	struct ibv_mr *memory_region;
	struct dart_store_accept accept;
	uint64_t length;	/* bytes of the store */
	unsigned char bytes[4096];
};

static struct rdma_cm_id *find_host(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct rdma_cm_id *id;
	char port[8];

	snprintf(port, sizeof(port), "%d", DART_CONTROL_PORT);
	assert_int_equal(rdma_getaddrinfo("host", port, &hints, &found), 0);
	assert_int_equal(rdma_create_ep(&id, found, NULL, &attributes), 0);
	rdma_freeaddrinfo(found);
	return id;
}

static struct dart_store_request good_request(void)
{
	struct dart_store_request request = {
		.magic = htole64(DART_STORE_ACCESS_MAGIC),
		.abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION),
	};

	snprintf(request.name, sizeof(request.name), "%s", store);
	return request;
}

static int ask(struct rdma_cm_id *id, const struct dart_store_request *request)
{
	struct rdma_conn_param wanted = {
		.private_data = request,
		.private_data_len = sizeof(*request),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 1,
	};

	return rdma_connect(id, &wanted) ? -errno : 0;
}

static void refused(const struct dart_store_request *request)
{
	struct rdma_cm_id *id = find_host();

	assert_int_equal(ask(id, request), -ECONNREFUSED);
	rdma_destroy_ep(id);
}

static void test_requests(void **state)
{
	struct dart_store_request request = good_request();

	request.magic++;
	refused(&request);
	request = good_request();
	request.abi_version++;
	refused(&request);
	request = good_request();
	request.reserved = 1;
	refused(&request);
	request = good_request();
	request.name[0]++;
	refused(&request);
	request = good_request();
	request.name[0] = '\0';
	refused(&request);
	request = good_request();
	request.name[sizeof(request.name) - 1] = 'x';
	refused(&request);
	memset(request.name, 'x', sizeof(request.name));
	refused(&request);
}

static struct reader *reader_new(void)
{
	const struct dart_store_request request = good_request();
	struct reader *reader = calloc(1, sizeof(*reader));
	const struct rdma_conn_param *answer;

	assert_non_null(reader);
	reader->id = find_host();
	assert_int_equal(ask(reader->id, &request), 0);
	answer = &reader->id->event->param.conn;
	assert_true(answer->private_data_len >= sizeof(reader->accept));
	memcpy(&reader->accept, answer->private_data, sizeof(reader->accept));
	reader->length = (le32toh(reader->accept.value_length) +
			  le32toh(reader->accept.checksum_bits) / 8ull)
			 << le32toh(reader->accept.slots_log2);
	reader->memory_region = ibv_reg_mr(reader->id->pd, reader->bytes, sizeof(reader->bytes),
					   IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(reader->memory_region);
	memset(reader->bytes, PATTERN, sizeof(reader->bytes));
	return reader;
}

static void reader_free(struct reader *reader)
{
	ibv_dereg_mr(reader->memory_region);
	rdma_disconnect(reader->id);
	rdma_destroy_ep(reader->id);
	free(reader);
}

/* The status of an operation over a separate connection, which a refusal ends. */
static enum ibv_wc_status attempt(enum ibv_wr_opcode operation, uint64_t address, uint32_t rkey,
				  uint32_t length)
{
	struct reader *reader = reader_new();
	struct ibv_sge here = {
		.addr = (uintptr_t)reader->bytes,
		.length = length,
		.lkey = reader->memory_region->lkey,
	};
	struct ibv_send_wr work = {
		.sg_list = &here,
		.num_sge = 1,
		.opcode = operation,
		.wr.rdma = { .remote_addr = address, .rkey = rkey },
	}, *bad;
	struct ibv_wc completion;

	if (operation == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		work.wr.atomic.remote_addr = address;
		work.wr.atomic.rkey = rkey;
		work.wr.atomic.compare_add = 1;
	}
	assert_int_equal(ibv_post_send(reader->id->qp, &work, &bad), 0);
	assert_int_equal(rdma_get_send_comp(reader->id, &completion), 1);
	reader_free(reader);
	return completion.status;
}

static void test_reads(void **state)
{
	struct reader *reader = reader_new();
	uint64_t base = le64toh(reader->accept.base), length = reader->length;
	uint32_t rkey = le32toh(reader->accept.rkey);

	reader_free(reader);
#define READ(...) attempt(IBV_WR_RDMA_READ, __VA_ARGS__)
	assert_int_equal(READ(base, rkey, 24), IBV_WC_SUCCESS);
	assert_int_equal(READ(base + length - 24, rkey, 24), IBV_WC_SUCCESS);
	assert_int_equal(READ(base + length - 24, rkey, 25), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(READ(base - 1, rkey, 24), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(READ(base, rkey ^ 0x80, 24), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(READ(reporters_base, reporters_rkey, 24), IBV_WC_REM_ACCESS_ERR);
	/* A reader does not learn the address and rkey of reporters. */
	assert_int_not_equal(base, reporters_base);
	assert_int_not_equal(rkey, reporters_rkey);
}

static void test_writes(void **state)
{
	struct reader *reader = reader_new();
	const struct {
		uint64_t base;
		uint32_t rkey;
	} places[] = {
		{ le64toh(reader->accept.base), le32toh(reader->accept.rkey) },
		{ reporters_base, reporters_rkey },
	};

	reader_free(reader);
	for (size_t i = 0; i < 2; i++) {
		assert_int_not_equal(attempt(IBV_WR_RDMA_WRITE, places[i].base, places[i].rkey, 24),
				     IBV_WC_SUCCESS);
		assert_int_not_equal(attempt(IBV_WR_ATOMIC_FETCH_AND_ADD,
					     places[i].base, places[i].rkey, 8),
				     IBV_WC_SUCCESS);
	}
}

static void test_disconnected(void **state)
{
	struct reader *reader = reader_new();
	struct rdma_cm_event *event;

	sd_notify(0, "READY=1");
	assert_int_equal(rdma_get_cm_event(reader->id->channel, &event), 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_DISCONNECTED);
	rdma_ack_cm_event(event);
	reader_free(reader);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST("connection requests of a wrong version, name or format are refused",
		     test_requests),
		TEST("READs within the store succeed, and READs beside it or by other rkeys are refused",
		     test_reads),
		TEST("WRITEs and atomic operations are refused, also at the reporters' address",
		     test_writes),
		TEST("the agent disconnects a reader when its store is deleted", test_disconnected),
	};

	store = argv[1];
	reporters_rkey = strtoul(argv[2], NULL, 0);
	reporters_base = strtoull(argv[3], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
