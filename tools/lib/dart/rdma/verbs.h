/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Differences between the providers of libibverbs. */
#ifndef DART_VERBS_H
#define DART_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdlib.h>

/* The DSCP is the upper six bits of a traffic class; the two below are for congestion (ECN). */
#define DART_VERBS_DSCP_SHIFT 2
#define DART_VERBS_DSCP_MAX 63

/*
 * The result of a call that returns a code, such as ibv_post_send(3) or ibv_modify_qp(3), as 0 or
 * -errno: most providers return errno, as the manual pages say, and libsiw returns -errno.
 */
static inline int dart_verbs__result(int code)
{
	return -abs(code);
}

/* Do the packets of the device of @verbs travel over TCP, as iWARP (RFC 5040)? */
static inline bool dart_verbs__is_iwarp(const struct ibv_context *verbs)
{
	return verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

#endif /* DART_VERBS_H */
