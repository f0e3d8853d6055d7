/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about followers; as groups of entries the registry lists them. */
#ifndef FOLLOWER_REQUESTS_H
#define FOLLOWER_REQUESTS_H

#include "agent/base/request.h"

/* Their subject are the followers. */
extern const struct request_type follower_requests[];

#endif /* FOLLOWER_REQUESTS_H */
