/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests about sources of the kernel and their selectors. */
#ifndef REGISTRY_REQUESTS_H
#define REGISTRY_REQUESTS_H

#include "agent/follow/follower.h"
#include "agent/base/request.h"

request_handler request__register_source;
request_handler request__follow_source;

/* An unregister request for a follow. */
int request__unfollow(struct agent *agent, const struct request *request,
		      struct follower *follower, json_t **result,
		      struct dart_error *error);

#endif /* REGISTRY_REQUESTS_H */
