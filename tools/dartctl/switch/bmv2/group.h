/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mirror sessions and multicast groups of simple_switch.  All functions return 0, or -errno
 * with a sentence in @error.
 */
#ifndef BMV2_GROUP_H
#define BMV2_GROUP_H

#include <jansson.h>

#include <libdart/error.h>

#include "table.h"

/*
 * Reads the mirror session @number to @session, whose value becomes the port that the session leads
 * to, or SWITCH_FOREIGN if it does not lead to one port.
 */
int bmv2_session__read(struct thrift *thrift, uint32_t number, struct switch_entry *session,
		       struct dart_error *error);
int bmv2_session__set(struct thrift *thrift, uint32_t session, uint32_t port,
		      struct dart_error *error);

/* Reads all groups, as the switch describes them; the caller owns the reference. */
int bmv2_group__read(struct thrift *thrift, json_t **groups, struct dart_error *error);
/* Is the group among @groups?  Does it consist of two nodes, as bmv2_group__make() makes them? */
bool bmv2_group__is_there(const json_t *groups, uint32_t group);
bool bmv2_group__is_right(const json_t *groups, uint32_t group, uint32_t port);
/*
 * Makes a group of two nodes, both with @port alone, the first one with the replication ID 1,
 * the second one with 2.  Destroys an existing group of this number first, with its nodes.
 */
int bmv2_group__make(struct thrift *thrift, uint32_t group, uint32_t port,
		     struct dart_error *error);

#endif /* BMV2_GROUP_H */
