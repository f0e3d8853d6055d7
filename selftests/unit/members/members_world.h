/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ten hosts in virtual time, and a coordinator as ZooKeeper: the state of all, and the steps of the
 * coordinator.
 */
#ifndef MEMBERS_WORLD_H
#define MEMBERS_WORLD_H

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

/* A target is not reached: until its portion is told, and looks of a controller at its targets. */
#define AFTER (SESSION / 3)
#define LOOK_PAUSE (SESSION / 32)
#define REPLICATION 2

static char names[TARGETS][24];
static unsigned int portions[TARGETS];
static unsigned int partners[TARGETS]; /* another target of the portion; the target itself: none */

/* Steps of a host that are due at a time.  The processes that take them may be stopped. */
enum step {
	/* Of the program that lists members. */
	ASK, /* its controller */
	HEAR, /* the answer */
	BEAT, /* a request to the coordinator */
	BEATEN, /* the answer */
	NODES, /* the answer to which nodes there are */
	NODE, /* the answer to a request for its own node */
	TOLD, /* the answer to a request for the node of what the controller does not reach */
	CONNECTED, /* another connection */
	/* Of its controller. */
	ASKED,
	READ, /* the list */
	CHANGE, /* a role, without another list */
	LOOK, /* at its targets */
	END, /* after it handed over */
	/* Of the coordinator. */
	BEAT_SERVED,
	NODES_SERVED,
	NODE_SERVED,
	TELL_SERVED,
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
	bool misses[WATCHED]; /* the watched targets that it cannot reach */
	uint64_t since[WATCHED]; /* when it had to reach one that it misses; 0: it need not */
	uint64_t missed[WATCHED]; /* when its portion was last added */
	bool has[WATCHED]; /* it scraped this one at the last look */
	struct portion_set unreached;

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
	struct roster_nodes nodes, known; /* the answer under way, and the last one */
	uint64_t known_version; /* of the last one; 0: no answer in this session */
	struct portion_set tells; /* by the request under way */
	uint64_t told; /* when it was begun */
	bool is_told; /* of nodes, by this connection */
	bool asks_again; /* which nodes there are, after the answer under way */
	uint64_t set; /* in its node */
};

struct node {
	uint64_t session; /* 0: the node does not exist */
	uint64_t heard; /* from this session, if it is of an earlier run of the program; or 0 */
	uint64_t used;
};

/* The nodes that say what a member does not reach, of one session: they are made and deleted at once. */
struct told {
	uint64_t session, heard; /* as of a node */
	struct portion_set portions;
};

static struct {
	struct host hosts[HOSTS];
	/* The coordinator. */
	struct node nodes[HOSTS];
	struct told told[HOSTS];
	uint64_t heard[HOSTS], sessions[HOSTS]; /* from a session, of the host; 0: it is over */
	uint64_t version, next_session, quorum_since;
	bool has_quorum, goes_on;

	uint64_t now, random;
	uint64_t disturbed; /* the last fault, or its end */
	unsigned int watched[WATCHED]; /* two of each portion */
	unsigned int order[WATCHED][HOSTS]; /* hosts in the plain order */
	bool is_silent; /* a connection to a target that is missed stays */
	uint64_t pushed[WATCHED]; /* it had a pusher then */
	unsigned long events, takes, expired, handed_over, tellings;
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
	struct told *told;
	unsigned int i;

	for (i = 0; world.has_quorum && i < HOSTS; i++) {
		node = &world.nodes[i];
		told = &world.told[i];
		if (told->heard && world.now >= told->heard + SESSION) {
			*told = (struct told){};
			server__changed();
		}
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
		if (told->session == world.sessions[i]) {
			*told = (struct told){};
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
		if (world.told[i].heard && world.told[i].heard + SESSION < next)
			next = world.told[i].heard + SESSION;
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
		if (world.told[i].heard)
			world.told[i].heard = world.now;
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

static void server__take_told(struct host *host, unsigned int i)
{
	struct told *told = &world.told[i];

	if (world.sessions[i] != host->session)
		return;
	world.heard[i] = world.now;
	if (memcmp(&told->portions, &host->tells, sizeof(told->portions)))
		server__changed();
	*told = (struct told){ .session = host->session, .portions = host->tells };
	world.tellings++;
	send(host, TOLD, delay());
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
		host->nodes = (struct roster_nodes){ .version = world.version };
		for (k = 0; k < HOSTS; k++) {
			if (!portion_set__is_empty(&world.told[k].portions))
				roster_nodes__add(&host->nodes, k + 1, &world.told[k].portions);
			if (world.nodes[k].session)
				member_set__add(&host->nodes.present, k + 1);
		}
		send(host, NODES, delay());
		break;
	case NODE_SERVED:
		server__take_node(host, i);
		break;
	case TELL_SERVED:
		server__take_told(host, i);
		break;
	default:
		if (world.sessions[i] == host->session)
			world.heard[i] = world.now;
		later(host, CONNECTED, delay());
		break;
	}
}

#endif /* MEMBERS_WORLD_H */
