/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session with ZooKeeper, which holds the node of this host below the node of all members, and
 * follows which others are there.  Its threads are libzookeeper's; the functions are called in one
 * thread, by which the news is taken.
 *
 * The node of member N is PATH/N, ephemeral; its data is a JSON object:
 *
 *   boot_id  /proc/sys/kernel/random/boot_id of its host
 *   version  the version of the list that its controller uses; 0: none so far
 *
 * Its controller may fail to reach agents: then PATH/N.unreached.DIGITS, ephemeral and empty, names
 * their portions (tools/controller/settings/shard.h).  A change makes another such node, and then
 * deletes the old one.
 *
 * A version of the list is the transaction that last changed which children PATH has (pzxid).
 */
#ifndef MEMBERS_SESSION_H
#define MEMBERS_SESSION_H

#include <libdart/error.h>

#include "options.h"
#include "roster.h"

struct session;

/*
 * Starts to connect.  @settings outlives the session.  @fd becomes readable with news.  Returns 0,
 * or -errno with a sentence in @error.
 */
int session__new(const struct settings *settings, struct session **session, int *fd,
		 struct dart_error *error);
/* Ends the session in ZooKeeper, too, if a server can be reached.  NULL is allowed. */
void session__free(struct session *session);

/* Tells @roster of the answers since the last call, and sends the requests that are due. */
void session__run(struct session *session, struct roster *roster, uint64_t now_ns);

#endif /* MEMBERS_SESSION_H */
