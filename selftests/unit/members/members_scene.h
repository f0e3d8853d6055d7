/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each of the ten hosts has a controller and the program that lists members.  Roster and membership
 * are the real code; sessions, requests and answers follow session.c, session_unreached.c, member_watch.c and
 * question.c.
 */
#ifndef MEMBERS_SCENE_H
#define MEMBERS_SCENE_H

#include "members_world.h"

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

static bool is_under_way(const struct host *host, enum step asked, enum step answered)
{
	return host->due[asked] != NEVER || host->due[answered] != NEVER;
}

/* As session_unreached.c does.  True if the coordinator has been told. */
static bool writer__tell(struct host *host)
{
	const unsigned int own = host->roster.member - 1;
	const bool has_controller = roster__has_controller(&host->roster, world.now);
	const struct portion_set *told = &host->known.unreached[own];
	struct portion_set wanted = {}, both;
	unsigned int i;

	if (has_controller)
		wanted = host->roster.answer.unreached;
	both = wanted;
	for (i = 0; i < SHARD_PORTIONS / 64; i++)
		both.bits[i] |= told->bits[i];
	if (!memcmp(&wanted, told, sizeof(wanted)) || (!has_controller && host->roster.has_node))
		return true;
	if (!host->is_connected || !host->known_version || world.now < host->told ||
	    is_under_way(host, TELL_SERVED, TOLD) || is_under_way(host, NODES_SERVED, NODES))
		return false;
	host->tells = memcmp(&both, told, sizeof(both)) ? both : wanted;
	host->told = world.now + SESSION / 16;
	send(host, TELL_SERVED, delay());
	return false;
}

/* The requests that are due, as session.c sends them. */
static void writer__request(struct host *host)
{
	struct roster *roster = &host->roster;
	const bool wants = roster__wants_node(roster, world.now);
	unsigned int k;

	for (k = 0; k < HOSTS && !is_under_way(host, NODES_SERVED, NODES); k++)
		if (member_set__has(&roster->present, k + 1))
			roster->used[k] = world.nodes[k].used;
	if (!writer__tell(host) && !roster->has_node)
		return;
	if (!host->is_connected || is_under_way(host, NODE_SERVED, NODE))
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

	/* The host cannot know whether its request was served: it sends it again. */
	if (is_under_way(host, NODE_SERVED, NODE)) {
		host->may_have_node = true;
		host->set = 0;
	}
	for (step = BEAT_SERVED; step <= CONNECT_SERVED; step++)
		host->due[step] = NEVER;
	host->due[BEATEN] = host->due[NODES] = host->due[NODE] = host->due[CONNECTED] = NEVER;
	host->due[TOLD] = NEVER;
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
		if (world.told[i].session && !world.told[i].heard)
			world.told[i].heard = world.heard[i];
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
		host->known_version = host->known.version;
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
	case TOLD:
		ask_nodes(host, delay());
		break;
	default:
		writer__connect(host, i);
		break;
	}
	/* As session.c does. */
	if (host->known_version && host->session)
		roster__take(roster, &host->known);
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
		.replication = REPLICATION,
		.file = file,
		.handover_ns = SESSION,
	};

	membership__begin(&host->membership, &shard);
	host->controller = (struct process){ .runs = true };
	host->is_leaving = host->was_left = false;
	host->ready = 0;
	memset(host->since, 0, sizeof(host->since));
	memset(host->has, 0, sizeof(host->has));
	host->unreached = (struct portion_set){};
	later(host, LOOK, LOOK_PAUSE);
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
	host->due[CHANGE] = host->due[LOOK] = NEVER;
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
	answer->unreached = host->unreached;
	answer->stage = host->ready <= world.now ? ROSTER_RUNS : ROSTER_STARTS;
	if (host->is_leaving)
		answer->stage = ROSTER_LEAVES;
	answer->is_named = membership__is_valid(membership, world.now) &&
			   member_set__has(&membership->present, membership->shard.member);
}

/* As fleet/unreached.c does, with values of a target that stands by READ seldom. */
static void controller__look(struct host *host)
{
	const struct membership *membership = &host->membership;
	const unsigned int own = membership->shard.member;
	enum shard_role role;
	const char *name;
	uint64_t after;
	unsigned int k;

	for (k = 0; k < WATCHED; k++) {
		name = names[world.watched[k]];
		role = membership__role(membership, name, world.now);
		after = AFTER;
		if (world.is_silent)
			after += role == SHARD_OWN ? INTERVAL : 4 * SESSION;
		if (!host->misses[k] || role == SHARD_LEFT ||
		    membership__rank(membership, name, own) >= REPLICATION)
			host->since[k] = 0;
		else if (!host->since[k] || (world.is_silent && role == SHARD_OWN && !host->has[k]))
			host->since[k] = world.now;
		host->has[k] = role == SHARD_OWN;
		if (host->since[k] &&
		    (world.now > host->since[k] + after ||
		     portion_set__has(&host->unreached, portions[world.watched[k]])))
			host->missed[k] = world.now;
	}
	host->unreached = (struct portion_set){};
	for (k = 0; k < WATCHED; k++)
		if (host->missed[k] && world.now < host->missed[k] + SESSION)
			portion_set__add(&host->unreached, portions[world.watched[k]]);
	later(host, LOOK, LOOK_PAUSE);
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
	case LOOK:
		controller__look(host);
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
