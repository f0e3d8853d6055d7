/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ten hosts in virtual time, each with a controller and the program that lists members, and a
 * coordinator as ZooKeeper.  Roster and membership are the real code; sessions, requests and answers
 * follow session.c, member_watch.c and question.c.
 */
#ifndef MEMBERS_SCENE_H
#define MEMBERS_SCENE_H

#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/settings/shard.h"
#include "tools/members/roster.h"

#define HOSTS 10
#define TARGETS 10000
/* Of each schedule these are looked at. */
#define WATCHED 8
#define STEPS 40
/* In ms, as all times here. */
#define SESSION 4000
#define SECOND 1000
/* Of one message, and of a file that is read. */
#define DELAY 25
/* A controller that starts connects to all its targets within, longer than a target may be left. */
#define CONNECT (2 * SESSION)
#define INTERVAL 200
#define TICK 200
#define NEVER UINT64_MAX

static char names[TARGETS][24];

/* Steps of a host that are due at a time.  The processes that take them may be stopped. */
enum step {
	/* Of the program that lists members. */
	ASK, /* its controller */
	HEAR, /* the answer */
	BEAT, /* a request to the coordinator */
	BEATEN, /* the answer */
	NODES, /* the answer to which nodes there are */
	NODE, /* the answer to a request for its own node */
	CONNECTED, /* another connection */
	/* Of its controller. */
	ASKED,
	READ, /* the list */
	CHANGE, /* a role, without another list */
	END, /* after it handed over */
	/* Of the coordinator. */
	BEAT_SERVED,
	NODES_SERVED,
	NODE_SERVED,
	CONNECT_SERVED,
	STEPS_OF_HOST,
};

#define IS_OF_CONTROLLER(step) ((step) >= ASKED && (step) <= END)
#define IS_OF_SERVER(step) ((step) >= BEAT_SERVED)

struct process {
	bool runs, is_stopped;
};

struct host {
	struct process controller, writer;
	uint64_t due[STEPS_OF_HOST];
	bool is_cut;
	struct member_list file; /* without members: no file was written */

	struct membership membership;
	uint64_t ready; /* it is connected then */
	bool is_leaving, was_left;

	struct roster roster;
	struct roster_answer answer; /* to the question under way */
	uint64_t session; /* of the program; 0: none */
	bool is_connected, is_closed; /* by the coordinator */
	uint64_t heard; /* from the coordinator */
	uint64_t last_request, last_answer; /* they overtake none */
	uint64_t beat; /* when the request under way was begun */
	uint64_t confirmed; /* when the request was begun that was answered; 0: that is known */
	bool has_node, makes_node; /* by the request under way, and its result */
	bool may_have_node; /* the answer was lost */
	struct member_set nodes, known; /* the answer under way, and the last one */
	uint64_t version, known_version; /* of these answers; 0: no answer in this session */
	bool is_told; /* of nodes, by this connection */
	bool asks_again; /* which nodes there are, after the answer under way */
	uint64_t set; /* in its node */
};

struct node {
	uint64_t session; /* 0: the node does not exist */
	uint64_t heard; /* from this session, if it is of an earlier run of the program; or 0 */
	uint64_t used;
};

static struct {
	struct host hosts[HOSTS];
	/* The coordinator. */
	struct node nodes[HOSTS];
	uint64_t heard[HOSTS], sessions[HOSTS]; /* from a session, of the host; 0: it is over */
	uint64_t version, next_session, quorum_since;
	bool has_quorum, goes_on;

	uint64_t now, random;
	uint64_t disturbed; /* the last fault, or its end */
	unsigned int watched[WATCHED];
	uint64_t pushed[WATCHED]; /* it had a pusher then */
	unsigned long events, takes, expired, handed_over;
	uint64_t longest;
} world;

static unsigned int below(unsigned int limit)
{
	return random__below(&world.random, limit);
}

static void later(struct host *host, enum step step, uint64_t delay)
{
	host->due[step] = world.now + delay;
}

static uint64_t delay(void)
{
	return 1 + below(DELAY);
}

/* A message of a connection, after all before. */
static void send(struct host *host, enum step step, uint64_t wait)
{
	uint64_t *last = IS_OF_SERVER(step) ? &host->last_request : &host->last_answer;

	host->due[step] = world.now + wait > *last ? world.now + wait : *last + 1;
	*last = host->due[step];
}

/* ---- the coordinator */

/* One question at a time. */
static void ask_nodes(struct host *host, uint64_t wait)
{
	if (host->due[NODES] != NEVER)
		host->asks_again = true;
	else if (host->due[NODES_SERVED] == NEVER)
		send(host, NODES_SERVED, wait);
}

/* All hosts that are connected are told of nodes that came or went. */
static void server__changed(void)
{
	unsigned int i;

	world.version++;
	for (i = 0; i < HOSTS; i++)
		if (world.hosts[i].is_connected)
			ask_nodes(&world.hosts[i], 2 * delay());
}

static void server__expire(void)
{
	struct node *node;
	unsigned int i;

	for (i = 0; world.has_quorum && i < HOSTS; i++) {
		node = &world.nodes[i];
		if (node->heard && world.now >= node->heard + SESSION) {
			*node = (struct node){};
			server__changed();
		}
		if (!world.sessions[i] || world.now < world.heard[i] + SESSION)
			continue;
		world.expired++;
		if (node->session == world.sessions[i]) {
			*node = (struct node){};
			server__changed();
		}
		world.sessions[i] = 0;
		world.hosts[i].is_closed = world.hosts[i].is_connected;
		later(&world.hosts[i], BEAT, delay());
	}
}

static uint64_t server__next(void)
{
	uint64_t next = NEVER;
	unsigned int i;

	for (i = 0; world.has_quorum && i < HOSTS; i++) {
		if (world.sessions[i] && world.heard[i] + SESSION < next)
			next = world.heard[i] + SESSION;
		if (world.nodes[i].heard && world.nodes[i].heard + SESSION < next)
			next = world.nodes[i].heard + SESSION;
	}
	return next;
}

static void server__set_quorum(bool has_quorum)
{
	unsigned int i;

	if (has_quorum == world.has_quorum)
		return;
	world.has_quorum = has_quorum;
	world.quorum_since = world.now;
	/* A new leader gives all sessions their whole time again. */
	for (i = 0; has_quorum && i < HOSTS; i++) {
		world.heard[i] = world.now;
		if (world.nodes[i].heard)
			world.nodes[i].heard = world.now;
	}
}

/* The request of @host to make, to delete or to write its node. */
static void server__take_node(struct host *host, unsigned int i)
{
	struct node *node = &world.nodes[i];

	if (world.sessions[i] != host->session)
		return;
	world.heard[i] = world.now;
	if (!host->makes_node || (node->session && node->session != host->session)) {
		/* Also the node of an earlier run on this host, which is made again afterwards. */
		if (node->session)
			server__changed();
		*node = (struct node){};
		host->has_node = false;
	} else {
		if (!node->session)
			server__changed();
		*node = (struct node){ .session = host->session, .used = host->roster.answer.used };
		host->has_node = true;
	}
	send(host, NODE, delay());
}

static void server__serve(struct host *host, unsigned int i, enum step step)
{
	unsigned int k;

	switch (step) {
	case BEAT_SERVED:
		if (world.sessions[i] == host->session) {
			world.heard[i] = world.now;
			send(host, BEATEN, delay());
		}
		break;
	case NODES_SERVED:
		host->nodes = (struct member_set){};
		host->version = world.version;
		for (k = 0; k < HOSTS; k++)
			if (world.nodes[k].session)
				member_set__add(&host->nodes, k + 1);
		send(host, NODES, delay());
		break;
	case NODE_SERVED:
		server__take_node(host, i);
		break;
	default:
		if (world.sessions[i] == host->session)
			world.heard[i] = world.now;
		later(host, CONNECTED, delay());
		break;
	}
}

/* ---- the program that lists members */

static void writer__write(struct host *host)
{
	struct member_list list;

	if (!roster__list(&host->roster, world.now, &list))
		return;
	host->file = list;
	roster__set_written(&host->roster, &list);
	if (host->controller.runs)
		later(host, READ, delay());
}

/* The requests that are due, as session.c sends them. */
static void writer__request(struct host *host)
{
	struct roster *roster = &host->roster;
	const bool wants = roster__wants_node(roster, world.now);
	unsigned int k;

	for (k = 0; k < HOSTS; k++)
		if (member_set__has(&roster->present, k + 1))
			roster->used[k] = world.nodes[k].used;
	if (!host->is_connected || host->due[NODE] != NEVER || host->due[NODE_SERVED] != NEVER)
		return;
	if (wants == roster->has_node &&
	    !(wants ? roster->answer.used > host->set : host->may_have_node))
		return;
	host->makes_node = wants;
	if (!wants) {
		roster->has_node = false;
		host->may_have_node = true;
	}
	host->set = roster->answer.used;
	send(host, NODE_SERVED, delay());
}

static void writer__run(struct host *host)
{
	writer__write(host);
	writer__request(host);
	writer__write(host);
}

static void writer__drop(struct host *host)
{
	enum step step;

	/* The host cannot know whether its requests were served. */
	host->may_have_node |= host->due[NODE] != NEVER || host->due[NODE_SERVED] != NEVER;
	for (step = BEAT_SERVED; step <= CONNECT_SERVED; step++)
		host->due[step] = NEVER;
	host->due[BEATEN] = host->due[NODES] = host->due[NODE] = host->due[CONNECTED] = NEVER;
	host->is_connected = host->is_closed = host->asks_again = host->is_told = false;
}

/* The library gives a silent connection up, and tries the next server. */
static void writer__beat(struct host *host)
{
	if (host->is_connected &&
	    (world.now >= host->heard + SESSION * 2 / 3 || (host->is_closed && !host->is_cut))) {
		writer__drop(host);
		roster__disconnect(&host->roster);
	}
	if (!host->is_connected && host->due[CONNECTED] == NEVER)
		later(host, CONNECT_SERVED, delay());
	if (host->is_connected && host->due[BEATEN] == NEVER && host->due[BEAT_SERVED] == NEVER) {
		host->beat = world.now;
		send(host, BEAT_SERVED, delay());
	}
	later(host, BEAT, SESSION / 6);
}

static void writer__connect(struct host *host, unsigned int i)
{
	struct roster *roster = &host->roster;

	host->heard = world.now;
	if (host->session && world.sessions[i] != host->session) {
		roster__expire(roster);
		host->session = 0;
		later(host, BEAT, SESSION / 6);
		return;
	}
	if (!host->session) {
		if (world.nodes[i].session && !world.nodes[i].heard)
			world.nodes[i].heard = world.heard[i];
		host->session = world.sessions[i] = ++world.next_session;
		world.heard[i] = world.now;
		host->has_node = host->may_have_node = roster->has_node = false;
		host->set = host->known_version = 0;
	}
	host->is_connected = true;
	host->confirmed = 0;
	roster__connect(roster, SESSION);
	later(host, BEAT, 0);
	ask_nodes(host, delay());
}

static void writer__take(struct host *host, unsigned int i, enum step step)
{
	struct roster *roster = &host->roster;

	host->heard = step >= BEATEN && step <= CONNECTED ? world.now : host->heard;
	switch (step) {
	case ASK:
		later(host, ASK, SESSION / 20);
		if (host->answer.begun_ns)
			break;
		if (host->controller.runs) {
			host->answer.begun_ns = world.now;
			later(host, ASKED, delay());
		} else {
			roster__lose_controller(roster);
		}
		break;
	case HEAR:
		roster__hear(roster, &host->answer);
		host->answer.begun_ns = 0;
		break;
	case BEAT:
		writer__beat(host);
		break;
	case BEATEN:
		host->confirmed = host->beat;
		break;
	case NODES:
		host->known = host->nodes;
		host->known_version = host->version;
		host->is_told = true;
		if (host->asks_again)
			ask_nodes(host, delay());
		host->asks_again = false;
		break;
	case NODE:
		roster->has_node = host->has_node;
		host->may_have_node = false;
		/* The nodes that are known may contain an earlier one. */
		if (host->has_node)
			host->known_version = 0;
		ask_nodes(host, delay());
		break;
	default:
		writer__connect(host, i);
		break;
	}
	/* As session.c does. */
	if (host->known_version && host->session)
		roster__take(roster, &host->known, host->known_version);
	if (host->confirmed && host->is_connected && host->due[NODES_SERVED] == NEVER &&
	    host->due[NODES] == NEVER) {
		roster__confirm(roster, host->confirmed);
		host->confirmed = 0;
	}
	writer__run(host);
}

static void writer__start(struct host *host, unsigned int i)
{
	host->writer = (struct process){ .runs = true };
	host->session = host->answer.begun_ns = 0;
	writer__drop(host);
	roster__begin(&host->roster, i + 1, SESSION, world.goes_on);
	later(host, ASK, delay());
	later(host, BEAT, delay());
}

/* ---- its controller */

static void controller__start(struct host *host, unsigned int i)
{
	static char file[] = "list";
	const struct shard shard = {
		.member = i + 1,
		.replication = 2,
		.file = file,
		.handover_ns = SESSION,
	};

	membership__begin(&host->membership, &shard);
	host->controller = (struct process){ .runs = true };
	host->is_leaving = host->was_left = false;
	host->ready = 0;
	if (member_set__count(&host->file.present)) {
		host->ready = NEVER;
		later(host, READ, delay());
	}
}

static void controller__kill(struct host *host)
{
	host->controller = (struct process){};
	host->answer.begun_ns = 0;
	host->due[ASKED] = host->due[HEAR] = host->due[READ] = host->due[END] = NEVER;
	host->due[CHANGE] = NEVER;
}

/* As member_watch.c does. */
static void controller__read(struct host *host)
{
	struct membership *membership = &host->membership;
	struct member_list list = host->file;
	uint64_t change;

	/* It was there when the controller started. */
	if (host->ready == NEVER)
		member_set__remove(&list.present, membership->shard.member);
	if (host->ready == NEVER || (!host->ready && !membership->is_known))
		host->ready = world.now + below(CONNECT);
	if (host->is_leaving && !member_set__has(&list.present, membership->shard.member)) {
		membership->valid_ns = list.valid_ns;
		if (list.is_agreed && !host->was_left) {
			host->was_left = true;
			later(host, END, INTERVAL);
			world.handed_over++;
		}
		return;
	}
	world.takes += membership__take(membership, &list, world.now);
	change = membership__change_ns(membership, world.now);
	host->due[CHANGE] = change ?: NEVER;
}

/* As the status of the controller tells. */
static void controller__answer(struct host *host)
{
	const struct membership *membership = &host->membership;
	struct roster_answer *answer = &host->answer;

	answer->used = membership->version;
	answer->stage = host->ready <= world.now ? ROSTER_RUNS : ROSTER_STARTS;
	if (host->is_leaving)
		answer->stage = ROSTER_LEAVES;
	answer->is_named = membership__is_valid(membership, world.now) &&
			   member_set__has(&membership->present, membership->shard.member);
}

static void controller__take(struct host *host, enum step step)
{
	uint64_t change;

	switch (step) {
	case ASKED:
		controller__answer(host);
		later(host, HEAR, delay());
		break;
	case READ:
		controller__read(host);
		break;
	case CHANGE:
		change = membership__change_ns(&host->membership, world.now);
		host->due[CHANGE] = change ?: NEVER;
		break;
	default:
		controller__kill(host);
		break;
	}
}

static void controller__leave(struct host *host)
{
	struct membership *membership = &host->membership;

	if (!membership->is_known || !membership__is_valid(membership, world.now) ||
	    !member_set__has(&membership->present, membership->shard.member) ||
	    member_set__count(&membership->present) < 2) {
		controller__kill(host);
		return;
	}
	host->is_leaving = true;
	later(host, END, SESSION);
}

#endif /* MEMBERS_SCENE_H */
