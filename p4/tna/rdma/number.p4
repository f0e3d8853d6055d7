// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of requests in registers, and the port of frames that pass ingress again. */
#ifndef DART_TNA_RDMA_NUMBER_P4
#define DART_TNA_RDMA_NUMBER_P4

/*
 * A PSN in a register is in the highest 24 bits, so that it wraps as 32 bits do, and the
 * lowest bit is 1, so that it is never 0.
 */
#define PSN(n)		((bit<32>)(n) << 8)

/* The port in each pipe from which recirculated and generated packets and clones come. */
#define LOOP_PORT	9w68 &&& 9w0x7f

#endif /* DART_TNA_RDMA_NUMBER_P4 */
