// SPDX-License-Identifier: GPL-2.0-only
/* A session with ZooKeeper: see session.h. */
#include "session.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "messages.h"
#include "session_internal.h"
#include "tools/controller/base/validity.h"

/* Requests that confirm the session, in a session time-out. */
#define BEATS 6

/* ---- in threads of the library */

static void on_session(zhandle_t *handle, int type, int state, const char *path, void *data)
{
	struct session *session = data;
	struct found *found = session__lock(session);

	if (type == ZOO_SESSION_EVENT) {
		found->is_connected = state == ZOO_CONNECTED_STATE;
		found->has_connected |= found->is_connected;
		found->has_lost |= !found->is_connected;
		found->has_expired |= state == ZOO_EXPIRED_SESSION_STATE ||
				      state == ZOO_AUTH_FAILED_STATE;
		if (state == ZOO_AUTH_FAILED_STATE)
			found->rc = ZAUTHFAILED;
	}
	session__unlock(session);
}

static void on_nodes_changed(zhandle_t *handle, int type, int state, const char *path, void *data)
{
	struct session *session = data;

	if (type == ZOO_SESSION_EVENT)
		return;
	session__lock(session)->are_nodes_due = true;
	session__unlock(session);
}

static void on_data_changed(zhandle_t *handle, int type, int state, const char *path, void *data)
{
	const struct other *other = data;

	if (type == ZOO_SESSION_EVENT)
		return;
	member_set__add(&session__lock(other->session)->data_due, other->member);
	session__unlock(other->session);
}

static void on_created(int rc, const char *value, const void *data)
{
	struct session *session = (struct session *)data;
	struct found *found = session__lock(session);

	if (rc != ZOK && rc != ZNODEEXISTS)
		found__fail(found, rc);
	session__unlock(session);
}

/* The name of a node below the node of all members. */
static void take_name(struct session *session, struct found *found, const char *name)
{
	const unsigned int member = node__member(name);
	struct portion_set portions;
	unsigned int unreaching;

	if (member)
		member_set__add(&found->nodes.present, member);
	unreaching = member ? 0 : node__unreached(name, &portions);
	if (unreaching)
		roster_nodes__add(&found->nodes, unreaching, &portions);
	if (unreaching == session->settings->member && found->unreached_count < UNREACHED_NODES_MAX)
		strcpy(found->unreached[found->unreached_count++], name);
}

static void on_nodes(int rc, const struct String_vector *names, const struct Stat *stat,
		     const void *data)
{
	struct session *session = (struct session *)data;
	struct found *found = session__lock(session);
	unsigned int member;
	int i;

	found->are_nodes_asked = false;
	if (rc != ZOK) {
		found->are_nodes_due = true;
		found->nodes_ns = boottime_ns() + AGAIN_NS;
		found->is_path_missing = rc == ZNONODE;
		found__fail(found, rc);
		session__unlock(session);
		return;
	}
	found->nodes = (struct roster_nodes){ .version = stat->pzxid };
	found->unreached_count = 0;
	for (i = 0; i < names->count; i++)
		take_name(session, found, names->data[i]);
	for (member = 1; member <= SHARD_MEMBERS_MAX; member++) {
		if (!member_set__has(&found->nodes.present, member)) {
			member_set__remove(&found->data_watched, member);
			member_set__remove(&found->unknown, member);
			found->used[member - 1] = 0;
		} else if (!member_set__has(&found->data_watched, member)) {
			member_set__add(&found->data_due, member);
		}
	}
	found->has_nodes = true;
	session__unlock(session);
}

static void on_data(int rc, const char *value, int length, const struct Stat *stat,
		    const void *data)
{
	const struct other *other = data;
	struct found *found = session__lock(other->session);
	struct node node;

	member_set__remove(&found->unknown, other->member);
	if (rc == ZOK && !node__parse(value, length > 0 ? length : 0, &node))
		found->used[other->member - 1] = node.version;
	else if (rc == ZOK)
		member_set__add(&found->unknown, other->member);
	else if (found__is_loss(rc))
		member_set__add(&found->data_due, other->member);
	else if (rc != ZOK && rc != ZNONODE)
		found__fail(found, rc);
	/* ZooKeeper does not watch a node that is gone: if the next nodes have it, it is asked again. */
	if (rc != ZOK)
		member_set__remove(&found->data_watched, other->member);
	session__unlock(other->session);
}

static void on_beat(int rc, const struct Stat *stat, const void *data)
{
	struct session *session = (struct session *)data;
	struct found *found = session__lock(session);

	found->is_beat_asked = false;
	if (rc == ZOK || rc == ZNONODE)
		found->confirmed_ns = found->beat_ns;
	else
		found__fail(found, rc);
	session__unlock(session);
}

static void on_set(int rc, const struct Stat *stat, const void *data)
{
	struct session *session = (struct session *)data;
	struct found *found = session__lock(session);

	found->is_node_asked = false;
	if (rc != ZOK) {
		found->set_version = 0;
		found__fail(found, rc);
	}
	session__unlock(session);
}

static void on_deleted(int rc, const void *data)
{
	struct session *session = (struct session *)data;
	struct found *found = session__lock(session);

	found->is_node_asked = false;
	if (rc == ZOK || rc == ZNONODE)
		found->may_have_node = false;
	else
		found__fail(found, rc);
	found->are_nodes_due = true;
	found->again_ns = rc == ZOK || rc == ZNONODE ? 0 : boottime_ns() + AGAIN_NS;
	session__unlock(session);
}

/* The nodes that are known may contain an earlier one of our number: they are asked for first. */
static void found__take_node(struct found *found)
{
	found->has_node = true;
	found->has_nodes = false;
	found->are_nodes_due = true;
}

/*
 * A node of our number was there before: of this session, if the answer to its making was lost; of
 * an earlier run of this program on this host, which is over; or of another host.
 */
static void on_own_data(int rc, const char *value, int length, const struct Stat *stat,
			const void *data)
{
	struct session *session = (struct session *)data;
	struct found *found = session__lock(session);
	zhandle_t *handle = session->handle;
	struct node node;
	bool is_old = false;

	found->is_node_asked = false;
	found->may_have_node = found->may_have_node && rc != ZOK && rc != ZNONODE;
	found->again_ns = rc == ZNONODE ? 0 : boottime_ns() + AGAIN_NS;
	if (rc == ZOK && stat->ephemeralOwner == zoo_client_id(handle)->client_id) {
		found__take_node(found);
		found->set_version = 0;
	} else if (rc == ZOK) {
		is_old = !node__parse(value, length > 0 ? length : 0, &node) && *session->boot_id &&
			 !strcmp(node.boot_id, session->boot_id);
		found->is_there_another = !is_old;
		found->is_node_asked = is_old;
	} else if (rc != ZNONODE) {
		found__fail(found, rc);
	}
	session__unlock(session);
	if (is_old &&
	    zoo_adelete(handle, session->node, stat->version, on_deleted, session) != ZOK) {
		session__lock(session)->is_node_asked = false;
		session__unlock(session);
	}
}

static void on_own_created(int rc, const char *value, const void *data)
{
	struct session *session = (struct session *)data;
	struct found *found = session__lock(session);

	found->is_node_asked = false;
	found->may_have_node = found__is_loss(rc);
	if (rc == ZOK) {
		found__take_node(found);
		found->is_there_another = false;
	} else if (rc == ZNODEEXISTS) {
		found->is_node_asked = zoo_awget(session->handle, session->node, NULL, NULL,
						 on_own_data, session) == ZOK;
	} else {
		found->again_ns = boottime_ns() + AGAIN_NS;
		found__fail(found, rc);
	}
	session__unlock(session);
}

/* ---- in the thread of the program */

/* Makes the node of all members, and the nodes above; they may be there. */
static void make_path(struct session *session)
{
	char path[PATH_MAX_BYTES];
	char *end = path;

	snprintf(path, sizeof(path), "%s", session->settings->path);
	while (end) {
		end = strchr(end + 1, '/');
		if (end)
			*end = '\0';
		zoo_acreate(session->handle, path, "", 0, session__acl(session), 0, on_created, session);
		if (end)
			*end = '/';
	}
}

/*
 * Gives ZooKeeper the user and password, once for each session.  The file may be missing for a
 * while, as when another program replaces it: it is read again, because no node can be made without
 * it.
 */
static void add_auth(struct session *session, struct found *found, uint64_t now_ns)
{
	char text[NODE_AUTH_MAX];
	struct dart_error error;

	/* Not before it is connected: libzookeeper may lose it while it connects. */
	if (found->has_auth || !found->is_connected || now_ns < found->auth_ns)
		return;
	found->has_auth = true;
	if (!session->settings->auth_file)
		return;
	if (node__read_auth(session->settings->auth_file, text, &error)) {
		found->has_auth = false;
		found->auth_ns = now_ns + AUTH_AGAIN_NS;
		if (!session->is_auth_said)
			messages__say("%s", error.text);
		session->is_auth_said = true;
	} else {
		zoo_add_auth(session->handle, "digest", text, strlen(text), NULL, NULL);
		session->is_auth_said = false;
	}
	explicit_bzero(text, sizeof(text));
}

static void session__open(struct session *session, uint64_t now_ns)
{
	const struct settings *settings = session->settings;

	session->opened_ns = now_ns;
	session->handle = zookeeper_init2(settings->servers, on_session,
					  settings->session_ns / 1000000, NULL, session, 0,
					  messages__take_line);
	if (!session->handle)
		messages__say("cannot use the servers '%s': %s", settings->servers,
			      strerror(errno));
}

static void session__close(struct session *session)
{
	if (session->handle)
		zookeeper_close(session->handle);
	session->handle = NULL;
}

static void ask_nodes(struct session *session, struct found *found)
{
	found->are_nodes_due = false;
	found->are_nodes_asked = zoo_awget_children2(session->handle, session->settings->path,
						     on_nodes_changed, session, on_nodes,
						     session) == ZOK;
	found->are_nodes_due = !found->are_nodes_asked;
}

static void ask_data(struct session *session, struct found *found)
{
	char path[PATH_MAX_BYTES + 8];
	unsigned int i;

	for (i = 1; i <= SHARD_MEMBERS_MAX; i++) {
		if (!member_set__has(&found->data_due, i))
			continue;
		member_set__remove(&found->data_due, i);
		if (i == session->settings->member)
			continue;
		snprintf(path, sizeof(path), "%s/%u", session->settings->path, i);
		if (zoo_awget(session->handle, path, on_data_changed, &session->others[i - 1],
			      on_data, &session->others[i - 1]) == ZOK)
			member_set__add(&found->data_watched, i);
		else
			member_set__add(&found->data_due, i);
	}
}

static void beat(struct session *session, struct found *found, const struct roster *roster,
		 uint64_t now_ns)
{
	if (found->is_beat_asked || now_ns < found->beat_ns + roster->session_ns / BEATS)
		return;
	found->beat_ns = now_ns;
	found->is_beat_asked =
		zoo_aexists(session->handle, session->settings->path, 0, on_beat, session) == ZOK;
}

static void keep_node(struct session *session, struct found *found, const struct roster *roster,
		      uint64_t now_ns)
{
	const bool is_wanted = roster__wants_node(roster, now_ns);
	char data[NODE_DATA_MAX];
	int rc = ZINVALIDSTATE;

	if (found->is_node_asked || now_ns < found->again_ns)
		return;
	node__print(session->boot_id, roster->answer.used, data);
	if (is_wanted && !found->has_node) {
		rc = zoo_acreate(session->handle, session->node, data, strlen(data), session__acl(session),
				 ZOO_EPHEMERAL, on_own_created, session);
		found->set_version = roster->answer.used;
	} else if (!is_wanted && found->has_node) {
		rc = zoo_adelete(session->handle, session->node, -1, on_deleted, session);
		/* No list names this member from now on, whenever the node is deleted. */
		found->may_have_node = rc == ZOK;
		found->has_node = rc != ZOK;
	} else if (!is_wanted && found->may_have_node) {
		rc = zoo_awget(session->handle, session->node, NULL, NULL, on_own_data, session);
	} else if (found->has_node && roster->answer.used > found->set_version) {
		rc = zoo_aset(session->handle, session->node, data, strlen(data), -1, on_set,
			      session);
		found->set_version = roster->answer.used;
	}
	found->is_node_asked = rc == ZOK;
}

/* A member whose version is not known uses no list: no list is agreed on before it is. */
static void session__say_unknown(struct session *session, const struct found *found)
{
	unsigned int i;

	if (!memcmp(&found->unknown, &session->unknown_said, sizeof(found->unknown)))
		return;
	for (i = 1; i <= SHARD_MEMBERS_MAX; i++)
		if (member_set__has(&found->unknown, i) &&
		    !member_set__has(&session->unknown_said, i))
			messages__say(
				"node %s/%u lacks the version of the list of member %u: the members agree on no list, and new members wait for the hand-over time (delete the node unless it belongs to a member)",
				session->settings->path, i, i);
	session->unknown_said = found->unknown;
}

static void session__say(struct session *session, const struct found *found)
{
	const uint64_t bit = found->rc ? 1ULL << (-found->rc & 63) : 0;

	if (bit & ~session->said)
		messages__say("ZooKeeper refuses a request at %s: %s", session->settings->path,
			      zerror(found->rc));
	session->said |= bit;
	if (found->is_there_another && !session->is_other_said)
		messages__say("another host is member %u: this one waits until its node is gone",
			      session->settings->member);
	session->is_other_said = found->is_there_another;
	session__say_unknown(session, found);
}

static void session__take(struct session *session, struct found *found, struct roster *roster)
{
	if (found->has_lost && roster->has_session) {
		messages__say("no server of ZooKeeper answers; %s",
			      roster->goes_on ? "the last list of members counts on" :
						"the last list of members counts until its end");
		roster__disconnect(roster);
	}
	if (found->has_connected && found->is_connected) {
		messages__say("connected to ZooKeeper, for a session time-out of %d ms",
			      zoo_recv_timeout(session->handle));
		roster__connect(roster, zoo_recv_timeout(session->handle) * 1000000ULL);
		if (!found->has_nodes) {
			make_path(session);
			found->are_nodes_due = true;
		}
		found->confirmed_ns = 0;
		found->is_beat_asked = false;
		found->beat_ns = 0;
	}
	found->has_lost = found->has_connected = false;
	roster->has_node = found->has_node;
	if (found->has_nodes && roster->has_session)
		roster__take(roster, &found->nodes);
	/* Others may use a list of nodes that this program is about to be told. */
	if (!found->are_nodes_due && !found->are_nodes_asked)
		memcpy(roster->used, found->used, sizeof(roster->used));
	/*
	 * ZooKeeper tells of changes before it answers later requests: a session whose nodes are
	 * not asked for was confirmed with the nodes that are known.
	 */
	if (found->confirmed_ns && found->is_connected && !found->are_nodes_due &&
	    !found->are_nodes_asked)
		roster__confirm(roster, found->confirmed_ns);
}

static void session__expire(struct session *session, struct roster *roster)
{
	messages__say(
		"the session with ZooKeeper is over; no agent is scraped before the next one");
	session__say(session, &session->found);
	roster__expire(roster);
	session__close(session);
	session->found = (struct found){};
}

void session__run(struct session *session, struct roster *roster, uint64_t now_ns)
{
	struct found *found;
	bool has_expired;
	eventfd_t count;

	eventfd_read(session->event_fd, &count);
	has_expired = session__lock(session)->has_expired;
	pthread_mutex_unlock(&session->lock);
	if (has_expired)
		session__expire(session, roster);
	if (!session->handle) {
		if (now_ns >= session->opened_ns + roster->session_ns / BEATS)
			session__open(session, now_ns);
		return;
	}
	found = session__lock(session);
	add_auth(session, found, now_ns);
	session__take(session, found, roster);
	if (found->is_connected) {
		if (found->is_path_missing)
			make_path(session);
		found->is_path_missing = false;
		if (found->are_nodes_due && !found->are_nodes_asked && now_ns >= found->nodes_ns)
			ask_nodes(session, found);
		ask_data(session, found);
		beat(session, found, roster, now_ns);
		if (session__keep_unreached(session, found, roster, now_ns) || found->has_node)
			keep_node(session, found, roster, now_ns);
	}
	session__say(session, found);
	pthread_mutex_unlock(&session->lock);
}

int session__new(const struct settings *settings, struct session **sessionp, int *fd,
		 struct dart_error *error)
{
	struct session *session = calloc(1, sizeof(*session));
	unsigned int i;

	if (!session)
		return dart_error__no_memory(error);
	session->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (session->event_fd < 0) {
		free(session);
		return dart_error__system(error, errno, "cannot make an eventfd");
	}
	pthread_mutex_init(&session->lock, NULL);
	session->settings = settings;
	node__read_boot_id(session->boot_id);
	snprintf(session->node, sizeof(session->node), "%s/%u", settings->path, settings->member);
	for (i = 0; i < SHARD_MEMBERS_MAX; i++)
		session->others[i] = (struct other){ session, i + 1 };
	zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
	session__wake(session);
	*sessionp = session;
	*fd = session->event_fd;
	return 0;
}

void session__free(struct session *session)
{
	if (!session)
		return;
	session__close(session);
	close(session->event_fd);
	pthread_mutex_destroy(&session->lock);
	free(session);
}
