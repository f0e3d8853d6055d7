/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mirror sessions and multicast groups of simple_switch.  All functions return 0, or -errno
 * with a sentence in @error.
 */
#ifndef SWITCH_BMV2_GROUP_H
#define SWITCH_BMV2_GROUP_H

#include <jansson.h>

#include <libdart/error.h>

#include "tools/dartctl/switch/thrift/thrift.h"

/* In place of a port. */
#define BMV2_SESSION_NONE (-1)
#define BMV2_SESSION_OTHER (-2)

/* The port that a session leads to, or one of the above. */
int bmv2_session__read(struct thrift *thrift, uint32_t session, int32_t *port,
		       struct dart_error *error);
int bmv2_session__set(struct thrift *thrift, uint32_t session, uint32_t port,
		      struct dart_error *error);

/* All groups, as the switch describes them; the caller has the reference. */
int bmv2_group__read(struct thrift *thrift, json_t **groups,
		     struct dart_error *error);
/* Does @groups have this group?  Does it have two nodes, as bmv2_group__make() makes them? */
bool bmv2_group__is_there(const json_t *groups, uint32_t group);
bool bmv2_group__is_right(const json_t *groups, uint32_t group, uint32_t port);
/*
 * Makes a group of two nodes, both with @port alone, the first one with the replication ID 1,
 * the second one with 2.  One that is there is destroyed before, its nodes as well.
 */
int bmv2_group__make(struct thrift *thrift, uint32_t group, uint32_t port,
		     struct dart_error *error);

#endif /* SWITCH_BMV2_GROUP_H */
