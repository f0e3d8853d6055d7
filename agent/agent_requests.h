/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about the agent as a whole. */
#ifndef AGENT_REQUESTS_H
#define AGENT_REQUESTS_H

#include "agent/base/request.h"

/* Their subject is the agent. */
extern const struct request_type agent_requests[];

#endif /* AGENT_REQUESTS_H */
