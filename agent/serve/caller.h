/* SPDX-License-Identifier: GPL-2.0-only */
/* Callers by RDMA: peers that send requests of <dart/rpc.h> instead of READs. */
#ifndef CALLER_H
#define CALLER_H

#include "agent/base/peer_kind.h"
#include "session.h"

/* Its subject is a struct sessions, whose counts are the counts of callers over RDMA. */
extern const struct peer_kind caller_kind;

#endif /* CALLER_H */
