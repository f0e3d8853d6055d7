// SPDX-License-Identifier: GPL-2.0-only
/* RDMA READs by a queue pair that is connected to itself. */
#include "loopback.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define PORT 1

struct ibv_context *loopback__open_device(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context;

	assert_non_null(devices);
	assert_non_null(devices[0]);
	context = ibv_open_device(devices[0]);
	ibv_free_device_list(devices);
	assert_non_null(context);
	return context;
}

/* The index of the IPv4 address: an IPv6 address may not be usable yet. */
static int find_gid(struct ibv_context *context, union ibv_gid *gid)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };

	for (int i = 0; !ibv_query_gid(context, PORT, i, gid); i++) {
		if (!memcmp(gid->raw, ipv4, sizeof(ipv4)))
			return i;
	}
	fail_msg("the RDMA device has no IPv4 address");
	return -1;
}

static void connect_to_itself(struct loopback *loopback)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ,
	};

	assert_int_equal(ibv_modify_qp(loopback->qp, &attributes,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				       IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
	attributes = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = loopback->qp->qp_num,
		.max_dest_rd_atomic = 1,
		.ah_attr = { .is_global = 1, .port_num = PORT },
	};
	attributes.ah_attr.grh.hop_limit = 1;
	attributes.ah_attr.grh.sgid_index =
		find_gid(loopback->context, &attributes.ah_attr.grh.dgid);
	assert_int_equal(ibv_modify_qp(loopback->qp, &attributes,
				       IBV_QP_STATE | IBV_QP_AV |
				       IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER |
				       IBV_QP_MAX_DEST_RD_ATOMIC), 0);
	attributes = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		/*
		 * 4.096 us * 2^22, 17 s: no packet is lost here, and a READ that
		 * is repeated may arrive after its memory region was removed.
		 */
		.timeout = 22,
		.retry_cnt = 7,
		.max_rd_atomic = 1,
	};
	assert_int_equal(ibv_modify_qp(loopback->qp, &attributes,
				       IBV_QP_STATE | IBV_QP_TIMEOUT |
				       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_SQ_PSN |
				       IBV_QP_MAX_QP_RD_ATOMIC), 0);
}

struct loopback *loopback__new(void)
{
	struct loopback *loopback = calloc(1, sizeof(*loopback));
	struct ibv_qp_init_attr attributes = {
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	assert_non_null(loopback);
	loopback->context = loopback__open_device();
	loopback->pd = ibv_alloc_pd(loopback->context);
	assert_non_null(loopback->pd);
	loopback->channel = ibv_create_comp_channel(loopback->context);
	assert_non_null(loopback->channel);
	loopback->cq = ibv_create_cq(loopback->context, 1, NULL, loopback->channel, 0);
	assert_non_null(loopback->cq);
	loopback->landing = ibv_reg_mr(loopback->pd, loopback->bytes, sizeof(loopback->bytes),
				       IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(loopback->landing);
	attributes.send_cq = loopback->cq;
	attributes.recv_cq = loopback->cq;
	loopback->qp = ibv_create_qp(loopback->pd, &attributes);
	assert_non_null(loopback->qp);
	connect_to_itself(loopback);
	return loopback;
}

void loopback__free(struct loopback *loopback)
{
	assert_int_equal(ibv_destroy_qp(loopback->qp), 0);
	assert_int_equal(ibv_dereg_mr(loopback->landing), 0);
	assert_int_equal(ibv_destroy_cq(loopback->cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(loopback->channel), 0);
	assert_int_equal(ibv_dealloc_pd(loopback->pd), 0);
	assert_int_equal(ibv_close_device(loopback->context), 0);
	free(loopback);
}

const void *loopback__read(struct loopback *loopback, uint64_t address,
			   uint32_t rkey, uint32_t length)
{
	struct ibv_sge landing = {
		.addr = (uintptr_t)loopback->bytes,
		.length = length,
		.lkey = loopback->landing->lkey,
	};
	struct ibv_send_wr *bad, read = {
		.sg_list = &landing,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { .remote_addr = address, .rkey = rkey },
	};
	struct ibv_wc completion = {};
	struct ibv_cq *cq;
	void *unused;

	assert_true(length <= LOOPBACK_READ_MAX);
	assert_int_equal(ibv_req_notify_cq(loopback->cq, 0), 0);
	assert_int_equal(ibv_post_send(loopback->qp, &read, &bad), 0);
	assert_int_equal(ibv_get_cq_event(loopback->channel, &cq, &unused), 0);
	ibv_ack_cq_events(cq, 1);
	assert_int_equal(ibv_poll_cq(cq, 1, &completion), 1);
	if (completion.status != IBV_WC_SUCCESS)
		fail_msg("READ: %s", ibv_wc_status_str(completion.status));
	return loopback->bytes;
}
