/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A controller inside one process: RDMA READs of memory registered in @pd, through a
 * queue pair that is connected to itself.
 */
#ifndef DART_TEST_LOOPBACK_H
#define DART_TEST_LOOPBACK_H

#include <infiniband/verbs.h>

#define LOOPBACK_READ_MAX 4096

struct loopback {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *landing;
	char bytes[LOOPBACK_READ_MAX];
};

/* On the first RDMA device. */
struct loopback *loopback__new(void);
void loopback__free(struct loopback *loopback);

/* @length bytes at @address, valid until the next READ. */
const void *loopback__read(struct loopback *loopback, uint64_t address,
			   uint32_t rkey, uint32_t length);

/* A separate context: the processes of a test do not share one. */
struct ibv_context *loopback__open_device(void);

#endif /* DART_TEST_LOOPBACK_H */
