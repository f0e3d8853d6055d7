/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests about sources of the kernel and their selectors. */
#ifndef REQUEST_SOURCE_H
#define REQUEST_SOURCE_H

#include "agent/follow/follower.h"
#include "agent/socket/request.h"

request_handler request__register_source;
request_handler request__follow_source;

/* An unregister request for a follow. */
int request__unfollow(struct agent *agent, const struct request *request,
		      struct follower *follower, json_t **result,
		      struct dart_error *error);

#endif /* REQUEST_SOURCE_H */
