/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about probes. */
#ifndef PROBE_REQUESTS_H
#define PROBE_REQUESTS_H

#include "agent/base/request.h"

/* Their subject are the probes. */
extern const struct request_type probe_requests[];

#endif /* PROBE_REQUESTS_H */
