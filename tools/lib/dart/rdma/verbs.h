/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Differences between the providers of libibverbs. */
#ifndef DART_VERBS_H
#define DART_VERBS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

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

/* GIDs for which there is room at first, and at most: the kernel tells all, or none. */
#define DART_VERBS_GIDS 256
#define DART_VERBS_GIDS_MAX 65536

/*
 * Sets *@gids to the valid GIDs of all ports of a device, one for each address of an interface and
 * each version of RoCE.  Returns their number, and the caller frees *@gids; or -errno.
 */
static inline ssize_t dart_verbs__gids(struct ibv_context *verbs, struct ibv_gid_entry **gids)
{
	ssize_t count = -EINVAL;
	size_t room;

	for (room = DART_VERBS_GIDS; count == -EINVAL && room <= DART_VERBS_GIDS_MAX; room *= 2) {
		*gids = calloc(room, sizeof(**gids));
		if (!*gids)
			return -ENOMEM;
		count = ibv_query_gid_table(verbs, *gids, room, 0);
		if (count < 0)
			free(*gids);
	}
	return count;
}

/* Do the packets of the device of @verbs travel over TCP, as iWARP (RFC 5040)? */
static inline bool dart_verbs__is_iwarp(const struct ibv_context *verbs)
{
	return verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

#endif /* DART_VERBS_H */
