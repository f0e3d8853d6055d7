/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about stores and their reporters. */
#ifndef STORE_REQUESTS_H
#define STORE_REQUESTS_H

#include "agent/base/request.h"

/* Their subject are the stores. */
extern const struct request_type store_requests[];

#endif /* STORE_REQUESTS_H */
