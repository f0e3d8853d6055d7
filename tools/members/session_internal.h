/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the parts of a session with ZooKeeper: see session.h. */
#ifndef MEMBERS_SESSION_INTERNAL_H
#define MEMBERS_SESSION_INTERNAL_H

#include <pthread.h>
#include <sys/eventfd.h>
#include <zookeeper/zookeeper.h>

#include "node.h"
#include "session.h"

#define PATH_MAX_BYTES 256
/* A node that could not be made or deleted is tried again after it. */
#define AGAIN_NS 200000000ULL
/* A file with a password that could not be read is read again after it. */
#define AUTH_AGAIN_NS 1000000000ULL
/* One, and the one that replaces it; an earlier run of this program may have left as many. */
#define UNREACHED_NODES_MAX 4

struct other {
	struct session *session;
	unsigned int member;
};

/* Results of the threads of the library, and the requests that they have not answered yet. */
struct found {
	bool is_connected, has_connected, has_lost, has_expired;
	bool are_nodes_due, are_nodes_asked, has_nodes, is_path_missing, has_auth;
	uint64_t auth_ns; /* not before: the file with the password is read, after a failure */
	uint64_t nodes_ns; /* not before: the nodes are asked for, after a failure */
	struct roster_nodes nodes;
	/* Of the own number, with what the controller does not reach; more are left for later. */
	char unreached[UNREACHED_NODES_MAX][NODE_UNREACHED_MAX];
	unsigned int unreached_count;
	bool is_unreached_asked, is_unreached_refused;
	uint64_t unreached_ns; /* not before: such a node is made or deleted */
	struct member_set data_due, data_watched;
	struct member_set unknown; /* others whose data lacks the version of their list */
	uint64_t used[SHARD_MEMBERS_MAX];
	bool is_beat_asked;
	uint64_t beat_ns; /* when the last one was begun */
	uint64_t confirmed_ns;
	bool has_node; /* ours, of this session */
	bool may_have_node; /* the answer to its making or deletion was lost, or is on its way */
	bool is_node_asked;
	bool is_there_another; /* node of our number */
	uint64_t again_ns; /* not before: a node is made or deleted */
	uint64_t set_version; /* in the data of our node */
	int rc; /* of the request that failed last; 0: none */
};

struct session {
	const struct settings *settings;
	int event_fd;
	zhandle_t *handle; /* NULL: it is made again */
	uint64_t opened_ns;
	struct other others[SHARD_MEMBERS_MAX];
	char boot_id[NODE_BOOT_ID_MAX];
	char node[PATH_MAX_BYTES];
	uint64_t said; /* reasons of refusals, a bit of each */
	bool is_other_said, is_auth_said;
	struct member_set unknown_said;

	pthread_mutex_t lock;
	struct found found; /* under the lock */
};

static inline void session__wake(struct session *session)
{
	eventfd_write(session->event_fd, 1);
}

/* Takes the lock, or gives it back and wakes the thread of the program. */
static inline struct found *session__lock(struct session *session)
{
	pthread_mutex_lock(&session->lock);
	return &session->found;
}

static inline void session__unlock(struct session *session)
{
	pthread_mutex_unlock(&session->lock);
	session__wake(session);
}

/* The connection was lost before the answer: it is asked again, and nobody is told. */
static inline bool found__is_loss(int rc)
{
	return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONEXPIRED ||
	       rc == ZCLOSING || rc == ZINVALIDSTATE;
}

/* Keeps the reason of a failed request, unless the connection was lost, which nobody is told. */
static inline void found__fail(struct found *found, int rc)
{
	if (!found__is_loss(rc))
		found->rc = rc;
}

/* The rights to nodes that this program makes. */
static inline struct ACL_vector *session__acl(const struct session *session)
{
	return session->settings->auth_file ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

/*
 * session_unreached.c: makes the node that says what the controller does not reach, before the node
 * of the member; or deletes the ones that say anything else.  Under the lock, connected.  True if
 * ZooKeeper contains what it should, or refuses it.
 */
bool session__keep_unreached(struct session *session, struct found *found,
			     const struct roster *roster, uint64_t now_ns);

#endif /* MEMBERS_SESSION_INTERNAL_H */
