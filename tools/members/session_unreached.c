// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes PATH/N.unreached.DIGITS of a session: see session.h.  Which of them there are is always
 * taken from the last answer of ZooKeeper, so nothing is lost with an answer.
 */
#include <stdio.h>
#include <string.h>

#include "session_internal.h"
#include "tools/controller/base/validity.h"

/* Such a node changes at most as often in a session time-out. */
#define CHANGES 16

static void session__take_result(struct session *session, int rc)
{
	struct found *found = session__lock(session);

	found->is_unreached_asked = false;
	found->is_unreached_refused = rc != ZOK && rc != ZNODEEXISTS && rc != ZNONODE;
	if (found->is_unreached_refused) {
		found->unreached_ns = boottime_ns() + AGAIN_NS;
		found__fail(found, rc);
	}
	found->are_nodes_due = true;
	session__unlock(session);
}

static void on_made(int rc, const char *value, const void *data)
{
	session__take_result((struct session *)data, rc);
}

static void on_deleted(int rc, const void *data)
{
	session__take_result((struct session *)data, rc);
}

/* The first own node with another name than @name; NULL: there is none. */
static const char *found__other_node(const struct found *found, const char *name, bool *is_there)
{
	const char *other = NULL;
	unsigned int i;

	*is_there = false;
	for (i = 0; i < found->unreached_count; i++) {
		if (!strcmp(found->unreached[i], name))
			*is_there = true;
		else if (!other)
			other = found->unreached[i];
	}
	return other;
}

bool session__keep_unreached(struct session *session, struct found *found,
			     const struct roster *roster, uint64_t now_ns)
{
	const struct portion_set *portions = &roster->answer.unreached;
	const unsigned int member = session->settings->member;
	const bool has_controller = roster__has_controller(roster, now_ns);
	char name[NODE_UNREACHED_MAX] = "", path[PATH_MAX_BYTES + NODE_UNREACHED_MAX];
	const char *other;
	bool is_there;
	int rc;

	if (has_controller && member <= SHARD_UNREACHED_MEMBERS && !portion_set__is_empty(portions))
		node__print_unreached(member, portions, name);
	other = found__other_node(found, name, &is_there);
	/* Others take the agents of a member that leaves when its node is gone, and not before. */
	if ((!*name || is_there) && (!other || (!has_controller && found->has_node)))
		return true;
	if (found->is_unreached_asked || now_ns < found->unreached_ns || !found->has_nodes ||
	    found->are_nodes_due || found->are_nodes_asked)
		return found->is_unreached_refused;
	/* The new node comes before the old one goes, so that no list lacks both. */
	snprintf(path, sizeof(path), "%s/%s", session->settings->path,
		 *name && !is_there ? name : other);
	if (*name && !is_there)
		rc = zoo_acreate(session->handle, path, "", 0, session__acl(session), ZOO_EPHEMERAL,
				 on_made, session);
	else
		rc = zoo_adelete(session->handle, path, -1, on_deleted, session);
	found->is_unreached_asked = rc == ZOK;
	found->unreached_ns = now_ns + roster->session_ns / CHANGES;
	return found->is_unreached_refused;
}
