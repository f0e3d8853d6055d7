/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of the RDMA CM as a controller needs to connect to many hosts, which are memory of
 * this process, and to READ from them: see simulated_verbs.h.  The address of host i is
 * 10.0.0.0 + i.
 *
 * There is one network in a program, because the functions of librdmacm, which the file
 * defines, do not name a network.
 */
#ifndef BENCH_SIMULATED_NETWORK_H
#define BENCH_SIMULATED_NETWORK_H

#include "simulated_verbs.h"

/* @hosts, @count of them, stay the caller's.  No connection may exist any more. */
void simulated_network__open(struct simulated_host **hosts, uint32_t count);
const struct simulated_adapter *simulated_network__adapter(void);
/* How many connected at the same time, at most. */
unsigned int simulated_network__asking_max(void);

#endif /* BENCH_SIMULATED_NETWORK_H */
