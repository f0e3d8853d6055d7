/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about entries. */
#ifndef REGISTRY_REQUESTS_H
#define REGISTRY_REQUESTS_H

#include "agent/base/request.h"

/* Their subject is the registry. */
extern const struct request_type registry_requests[];

#endif /* REGISTRY_REQUESTS_H */
