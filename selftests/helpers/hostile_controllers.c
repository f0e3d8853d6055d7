// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile_controllers HOST: controllers that the agent of HOST accepts and that use their
 * connections against <dart/control.h>, one after the other.  Tables of HOST must change meanwhile.
 */
#include <endian.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "raw_caller.h"

/* READs that are under way together, of a connection with room for 4. */
#define TOGETHER 4
#define FLOOD_SECONDS 1
#define MIRROR 65536 /* bytes */
/* In which the agent WRITEs to a mirror, on a machine that is emulated. */
#define TIMEOUT_MS 60000

struct controller {
	struct rdma_cm_id *id;
	struct dart_control_accept table; /* in the byte order of the host */
	struct ibv_mr *memory_region;
	uint8_t *memory; /* of table.length bytes */
};

static void controller__open(struct controller *controller,
			     const struct dart_control_mirror *mirror)
{
	const struct {
		struct dart_control_request request;
		struct dart_control_mirror mirror;
	} data = {
		.request = {
			.magic = htole64(DART_CONTROL_MAGIC),
			.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		},
		.mirror = mirror ? *mirror : (struct dart_control_mirror){},
	};
	struct dart_control_accept *table = &controller->table;

	controller->id = find_host();
	assert_int_equal(ask(controller->id, &data, sizeof(data)), 0);
	assert_true(controller->id->event->param.conn.private_data_len >= sizeof(*table));
	memcpy(table, controller->id->event->param.conn.private_data, sizeof(*table));
	table->address = le64toh(table->address);
	table->rkey = le32toh(table->rkey);
	table->length = le32toh(table->length);
	controller->memory = calloc(1, table->length);
	assert_non_null(controller->memory);
	controller->memory_region = ibv_reg_mr(controller->id->pd, controller->memory,
					       table->length, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(controller->memory_region);
}

static void controller__close(struct controller *controller)
{
	rdma_disconnect(controller->id);
	ibv_dereg_mr(controller->memory_region);
	rdma_destroy_ep(controller->id);
	free(controller->memory);
}

static void controller__post(struct controller *controller, enum ibv_wr_opcode operation,
			     uint64_t address, uint32_t rkey, uint32_t length)
{
	struct ibv_sge here = { .addr = (uintptr_t)controller->memory,
				.length = length,
				.lkey = controller->memory_region->lkey };
	struct ibv_send_wr work = { .sg_list = &here, .num_sge = 1, .opcode = operation }, *bad;

	if (operation == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		work.wr.atomic.remote_addr = address;
		work.wr.atomic.rkey = rkey;
		work.wr.atomic.compare_add = 1;
	} else {
		work.wr.rdma.remote_addr = address;
		work.wr.rdma.rkey = rkey;
	}
	assert_int_equal(ibv_post_send(controller->id->qp, &work, &bad), 0);
}

static enum ibv_wc_status controller__wait(struct controller *controller)
{
	struct ibv_wc completion;

	assert_int_equal(rdma_get_send_comp(controller->id, &completion), 1);
	return completion.status;
}

/* Tries the operation over a new connection, because a refusal ends the connection. */
static void expect_refused(enum ibv_wr_opcode operation, int64_t offset, uint32_t other_rkey,
			   uint32_t length)
{
	struct controller controller;
	enum ibv_wc_status status;

	controller__open(&controller, NULL);
	controller__post(&controller, operation, controller.table.address + offset,
			 controller.table.rkey ^ other_rkey, length);
	status = controller__wait(&controller);
	if (status != IBV_WC_REM_ACCESS_ERR && status != IBV_WC_REM_INV_REQ_ERR)
		fail_msg("%s", ibv_wc_status_str(status));
	controller__close(&controller);
}

static void test_outside(void **state)
{
	uint32_t bit;

	expect_refused(IBV_WR_RDMA_READ, -8, 0, 16);
	expect_refused(IBV_WR_RDMA_READ, INT64_MIN, 0, 8);
	for (bit = 0; bit < 32; bit += 5)
		expect_refused(IBV_WR_RDMA_READ, 0, 1u << bit, 8);
}

static void test_changes(void **state)
{
	expect_refused(IBV_WR_RDMA_WRITE, 0, 0, 8);
	expect_refused(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 8);
	expect_refused(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 8);
}

static void test_sends(void **state)
{
	struct controller controller;
	int i;

	controller__open(&controller, NULL);
	for (i = 0; i < TOGETHER; i++)
		controller__post(&controller, IBV_WR_SEND, 0, 0, 8);
	/* The agent has no receive for them: they are tried again until the connection ends. */
	controller__close(&controller);
}

static void test_flood(void **state)
{
	struct controller controller;
	struct timespec now;
	unsigned long reads;
	time_t end;

	controller__open(&controller, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + FLOOD_SECONDS;
	for (reads = 0; now.tv_sec < end; reads++) {
		if (reads >= TOGETHER)
			assert_int_equal(controller__wait(&controller), IBV_WC_SUCCESS);
		controller__post(&controller, IBV_WR_RDMA_READ, controller.table.address,
				 controller.table.rkey, controller.table.length);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	print_message("# %lu READs of %u bytes\n", reads, controller.table.length);
	controller__close(&controller);
}

/* The agent ends the connection, or the queue pair of this end fails. */
static void expect_ended(struct rdma_cm_id *id)
{
	struct pollfd descriptor = { .fd = id->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	assert_int_equal(poll(&descriptor, 1, TIMEOUT_MS), 1);
	assert_int_equal(rdma_get_cm_event(id->channel, &event), 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_DISCONNECTED);
	rdma_ack_cm_event(event);
}

static void test_mirrors(void **state)
{
	const struct dart_control_mirror mirrors[] = {
		{ .length = htole32(MIRROR) },
		{ .address = htole64(UINT64_MAX - MIRROR),
		  .rkey = htole32(UINT32_MAX),
		  .length = htole32(MIRROR) },
	};
	struct controller controller;
	size_t i;

	for (i = 0; i < sizeof(mirrors) / sizeof(mirrors[0]); i++) {
		controller__open(&controller, &mirrors[i]);
		expect_ended(controller.id);
		controller__close(&controller);
	}
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST("a controller that READs outside of the table, or by another rkey, is disconnected",
		     test_outside),
		TEST("a controller that WRITEs the table, or adds to a word of it, is disconnected",
		     test_changes),
		TEST("a controller that sends messages, for which the agent has no receive, disturbs nobody",
		     test_sends),
		TEST("a controller that READs the table without a pause is served", test_flood),
		TEST("a controller whose mirror does not exist is disconnected", test_mirrors),
	};

	if (argc != 2) {
		fputs("usage: hostile_controllers HOST\n", stderr);
		return 2;
	}
	host = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
