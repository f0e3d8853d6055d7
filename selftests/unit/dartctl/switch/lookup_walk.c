// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model of a switch follows the steps of random pushes, of which some end in the middle: no
 * step leaves a server that lookups reach with the PSN, entry or epoch of another queue pair,
 * or a share with a wrong server, and the last step leaves the wanted state.
 */
#include <stdbool.h>

#include "lookup_push.h"

#define ROUNDS 3000
#define SEED 0x7ea5
#define SERVERS 6
#define PORTS 3

/* The switch, and for whom its registers and shares were set. */
struct model {
	struct lookup_state state;
	struct switch_entry psn_of[DART_TEA_SERVERS_MAX];
	uint64_t server_of[DART_TEA_SHARES]; /* addresses */
	uint64_t replica_of[DART_TEA_SHARES];
	struct lookup_stashed stashed[64];
};

/* ---- wishes */

static void change_wish(struct push *push, uint64_t *random)
{
	struct dart_tea_tables *tables = &push->wish.tables;
	uint32_t i, share, first = 0, second = 0;

	tables->server_count = 1 + random__below(random, SERVERS);
	for (i = 0; i < tables->server_count; i++) {
		/* Addresses differ. */
		tables->servers[i] = push__server(10 * i + random__below(random, 12) % 10);
		tables->servers[i].qpn = 17 + random__below(random, 2);
		tables->servers[i].epoch = 1 + random__below(random, 2);
		push->wish.ports[i] = random__below(random, PORTS);
	}
	for (share = 0; share < DART_TEA_SHARES; share++) {
		if (share % 128 == 0) {
			first = random__below(random, tables->server_count + 1);
			second = random__below(random, tables->server_count + 1);
		}
		tables->shares[share] = first < tables->server_count ? first : DART_TEA_SERVER_NONE;
		tables->replicas[share] = first < tables->server_count &&
							  second < tables->server_count &&
							  first != second ?
						  second :
						  DART_TEA_SERVER_NONE;
	}
	push__stash(push, random__below(random, 8), random__below(random, 16),
		    random__below(random, 2));
	push->wish.options.otherwise[14] = random__below(random, 3) - 1;
	push->wish.options.tries = random__below(random, 2);
	push->wish.options.mtu = random__below(random, 3) * 1000;
}

/* The life of a switch between pushes. */
static void disturb(struct model *model, uint64_t *random)
{
	struct lookup_state *state = &model->state;
	uint32_t number = random__below(random, SERVERS);

	switch (random__below(random, 5)) {
	case 0:
		state->states[number] = LOOKUP_SILENT;
		break;
	case 1:
		switch_entry__set(&state->sessions[random__below(random, PORTS)], SWITCH_FOREIGN);
		break;
	case 2:
		state->groups[random__below(random, PORTS)].there = false;
		break;
	case 3:
		state->self.there = false;
		break;
	case 4:
		state->cached_count = 1;
		break;
	}
}

/* ---- steps */

static void replace(struct switch_entry *entry, enum switch_verb verb,
		    const struct switch_entry *new)
{
	/* A switch adds only new entries, and changes existing ones. */
	assert_int_equal(entry->there, verb != SWITCH_ADD);
	if (verb == SWITCH_REMOVE)
		entry->there = false;
	else
		*entry = *new;
}

static void follow_from(struct lookup_state *state, const struct push *push,
			const struct switch_step *step)
{
	const struct switch_entry *new = &push->wanted->from[step->first];
	const bool leaves = step->verb == SWITCH_REMOVE;
	const uint32_t ip = leaves ? push->now->from[step->first].key : new->key;
	struct switch_entry *from = state->from;

	while (from < state->from + DART_TEA_SERVERS_MAX && !(from->there && from->key == ip))
		from++;
	assert_int_equal(from < state->from + DART_TEA_SERVERS_MAX, step->verb != SWITCH_ADD);
	if (step->verb == SWITCH_ADD)
		for (from = state->from; from->there; from++)
			assert_true(from < state->from + DART_TEA_SERVERS_MAX - 1);
	if (leaves)
		from->there = false;
	else
		*from = *new;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, DART_TEA_KEY_MAX);
}

static void follow_stash(struct lookup_state *state, const struct push *push,
			 const struct switch_step *step, uint32_t index)
{
	const struct dart_tea_stashed *entry = step->verb == SWITCH_REMOVE ?
						       &push->now->stashed[index].entry :
						       &push->wanted->stashed[index].entry;
	ptrdiff_t found = lookup_state__stashed(state, entry);

	assert_int_equal(found < 0, step->verb == SWITCH_ADD);
	if (step->verb == SWITCH_ADD) {
		found = state->stashed_count++;
		assert_true(state->stashed_count <= 64);
	}
	if (step->verb == SWITCH_REMOVE)
		state->stashed[found] = state->stashed[--state->stashed_count];
	else
		state->stashed[found] = push->wanted->stashed[index];
	qsort(state->stashed, state->stashed_count, sizeof(*state->stashed), compare);
}

static void follow_share(struct model *model, const struct push *push,
			 const struct switch_step *step, uint32_t share)
{
	const struct switch_entry *new = &push->wanted->shares[share];
	const struct switch_entry *servers = push->wanted->servers;

	replace(&model->state.shares[share], step->verb, new);
	if (step->verb == SWITCH_REMOVE)
		return;
	model->server_of[share] = servers[new->values[LOOKUP_SHARE_FIRST]].values[SERVER_IP];
	model->replica_of[share] = servers[new->values[LOOKUP_SHARE_SECOND]].values[SERVER_IP];
}

static void follow(struct model *model, const struct push *push,
		   const struct switch_step *step, uint32_t number)
{
	const struct lookup_state *wanted = push->wanted;
	struct lookup_state *state = &model->state;

	switch (step->object) {
	case LOOKUP_SELF:
		state->self = wanted->self;
		break;
	case LOOKUP_SHARE:
		follow_share(model, push, step, number);
		break;
	case LOOKUP_FROM:
		follow_from(state, push, step);
		break;
	case LOOKUP_SERVER:
		if (step->verb == SWITCH_STOP || step->verb == SWITCH_START)
			state->states[number] = step->verb == SWITCH_STOP ? LOOKUP_STOPPED :
									    LOOKUP_UP;
		else
			replace(&state->servers[number], step->verb, &wanted->servers[number]);
		break;
	case LOOKUP_OTHERWISE:
		replace(&state->otherwise[number], step->verb, &wanted->otherwise[number]);
		break;
	case LOOKUP_MTU:
		state->mtu = wanted->mtu;
		break;
	case LOOKUP_STASH:
		follow_stash(state, push, step, number);
		break;
	case LOOKUP_CACHE:
		state->cached_count = 0;
		break;
	case LOOKUP_SESSION:
		state->sessions[number] = wanted->sessions[number];
		break;
	case LOOKUP_GROUP:
		state->groups[number] = wanted->groups[number];
		break;
	case LOOKUP_PSN:
		assert_int_equal(state->states[number], LOOKUP_STOPPED);
		model->psn_of[number] = wanted->servers[number];
		break;
	}
}

/* ---- conditions after each step */

static void check_server(const struct model *model, uint64_t number, uint64_t wanted_ip)
{
	const struct lookup_state *state = &model->state;
	const struct switch_entry *server, *from, *psn;

	assert_true(number < DART_TEA_SERVERS_MAX);
	server = &state->servers[number];
	if (!server->there || state->states[number] == LOOKUP_STOPPED)
		return;
	psn = &model->psn_of[number];
	assert_true(server->values[SERVER_IP] == wanted_ip);
	assert_true(psn->values[SERVER_IP] == wanted_ip);
	assert_true(psn->values[SERVER_QPN] == server->values[SERVER_QPN]);
	assert_true(psn->values[SERVER_EPOCH] == server->values[SERVER_EPOCH]);
	from = lookup_state__from(state, wanted_ip);
	assert_non_null(from);
	assert_true(from->values[FROM_SERVER] == number);
	assert_true(from->values[FROM_EPOCH] == server->values[SERVER_EPOCH]);
}

static void check_share(const struct model *model, uint32_t share)
{
	const struct switch_entry *entry = &model->state.shares[share];

	if (!entry->there)
		return;
	check_server(model, entry->values[LOOKUP_SHARE_FIRST], model->server_of[share]);
	check_server(model, entry->values[LOOKUP_SHARE_SECOND], model->replica_of[share]);
}

/* Returns false if the push ended in the middle. */
static bool walk(struct model *model, const struct push *push, size_t count)
{
	const struct switch_step *step = push->steps.list;
	uint32_t number, share;
	size_t i;

	for (i = 0; i < push->steps.count && i < count; i++, step++) {
		for (number = step->first; number <= step->last; number++)
			follow(model, push, step, number);
		/* Shares change in blocks of 128. */
		for (share = i % 128; share < DART_TEA_SHARES; share += 128)
			check_share(model, share);
	}
	return i == push->steps.count;
}

static void test_every_step(void **state)
{
	struct push *push = push__new(1);
	struct model *model = calloc(1, sizeof(*model));
	struct lookup_state *unused = push->now;
	uint32_t round, ended = 0;
	uint64_t random = SEED;
	struct model *before;
	size_t count;

	assert_non_null(model);
	push__free_state(unused);
	model->state.stashed = model->stashed;
	before = malloc(sizeof(*before));
	assert_non_null(before);
	for (round = 0; round < ROUNDS; round++) {
		change_wish(push, &random);
		if (!random__below(&random, 3))
			disturb(model, &random);
		*before = *model;
		before->state.stashed = before->stashed;
		push->now = &before->state;
		push__plan(push);
		count = random__below(&random, 3) ? SIZE_MAX :
						    random__below(&random, push->steps.count + 1);
		if (!walk(model, push, count)) {
			ended++;
			continue;
		}
		assert_int_equal(
			lookup_steps__compute(&model->state, push->wanted, NULL, &push->steps), 0);
		assert_int_equal(push->steps.count, 0);
	}
	assert_in_range(ended, ROUNDS / 6, ROUNDS / 2);
	free(before);
	free(model);
	push->now = NULL;
	push__free(push);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("after every step of pushes, some of which end in the middle, lookups reach servers with their own PSNs, entries and epochs",
		     test_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
