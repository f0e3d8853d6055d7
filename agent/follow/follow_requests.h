/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about followers; those about groups of entries serve them, too. */
#ifndef FOLLOW_REQUESTS_H
#define FOLLOW_REQUESTS_H

#include "agent/base/request.h"

/* Their subject are the followers. */
extern const struct request_type follow_requests[];

#endif /* FOLLOW_REQUESTS_H */
