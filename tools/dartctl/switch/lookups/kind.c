// SPDX-License-Identifier: GPL-2.0-only
/* The kind of P4 programs with lookup tables: all that is not an entry of numbers. */
#include <stdlib.h>
#include <string.h>

#include <dart/tea.h>

#include "kind.h"
#include "steps.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"

static const struct switch_register registers[] = {
	{ LOOKUP_REGISTER_PSN, DART_TEA_SERVERS_MAX },
	{ LOOKUP_REGISTER_OUTSTANDING, DART_TEA_SERVERS_MAX },
	{ LOOKUP_REGISTER_PROVEN, DART_TEA_SERVERS_MAX },
	{ LOOKUP_REGISTER_STATE, DART_TEA_SERVERS_MAX },
};

static const struct switch_polynomial polynomials[] = {
	{ "tea_row0", DART_TEA_ROW_0, true },
	{ "tea_row1", DART_TEA_ROW_1, true },
	{ "tea_check", DART_TEA_CHECK, true },
	{ "tea_share", DART_TEA_SHARE, true },
};

static int check(const struct switch_program *program, const void *context,
		 struct dart_error *error)
{
	const struct lookup_wish *wish = context;

	return lookup_program__check(program, &wish->tables, error);
}

/* ---- reading the stash */

struct stash {
	struct lookup_state *state;
	size_t room;
	bool is_out_of_memory;
};

/* Adds leading zeros, which a switch omits. */
static bool widen(const struct bmv2_bytes *from, uint8_t *to, uint32_t length)
{
	if (from->length > length)
		return false;
	memcpy(to + length - from->length, from->bytes, from->length);
	return true;
}

static bool take_stashed(void *subject, const struct bmv2_entry *entry)
{
	struct lookup_stashed stashed = { .handle = entry->handle };
	struct stash *stash = subject;
	struct lookup_state *state = stash->state;
	size_t room = stash->room ? 2 * stash->room : 64;
	struct lookup_stashed *list;

	stashed.is_ours = entry->is_ours && entry->value_count == 1;
	if (!widen(&entry->key, stashed.entry.key, state->sizes.key_length) ||
	    (stashed.is_ours &&
	     !widen(&entry->values[0], stashed.entry.value, state->sizes.value_length)))
		return false;
	if (state->stashed_count == stash->room) {
		list = reallocarray(state->stashed, room, sizeof(*list));
		if (!list) {
			stash->is_out_of_memory = true;
			return false;
		}
		state->stashed = list;
		stash->room = room;
	}
	state->stashed[state->stashed_count++] = stashed;
	return true;
}

static int compare_stashed(const void *a, const void *b)
{
	const struct lookup_stashed *first = a, *second = b;

	return memcmp(first->entry.key, second->entry.key, sizeof(first->entry.key));
}

static int read_stash(struct thrift *thrift, struct lookup_state *state, struct dart_error *error)
{
	struct stash stash = { .state = state };
	int ret;

	ret = bmv2_table__read(thrift, LOOKUP_TABLE_STASH, LOOKUP_ACTION_STASH,
			       state->sizes.stash_room, take_stashed, &stash, error);
	if (stash.is_out_of_memory)
		return dart_error__no_memory(error);
	if (!ret && state->stashed_count)
		qsort(state->stashed, state->stashed_count, sizeof(*state->stashed),
		      compare_stashed);
	return ret;
}

/* ---- reading the rest */

static int read_cache(struct thrift *thrift, const struct lookup_wish *wish,
		      struct lookup_state *state, struct dart_error *error)
{
	uint64_t count;
	int ret;

	if (wish->keeps_cache || !state->sizes.cache_room)
		return 0;
	ret = bmv2_table__count(thrift, LOOKUP_TABLE_CACHE, &count, error);
	state->cached_count = count > UINT32_MAX ? UINT32_MAX : count;
	return ret;
}

/* Only the groups and sessions of the ports of @wish matter. */
static int read_ways(struct thrift *thrift, const struct lookup_wish *wish,
		     struct lookup_state *state, struct dart_error *error)
{
	struct switch_entry *group;
	uint32_t i, port;
	json_t *groups;
	int ret;

	ret = bmv2_group__read(thrift, &groups, error);
	if (ret)
		return ret;
	for (i = 0; !ret && i < wish->tables.server_count; i++) {
		port = wish->ports[i];
		group = &state->groups[port];
		switch_entry__set(group, bmv2_group__is_right(groups, 1 + port, port) ?
						 port : SWITCH_FOREIGN);
		group->there = bmv2_group__is_there(groups, 1 + port);
		ret = bmv2_session__read(thrift, 1 + port, &state->sessions[port], error);
	}
	json_decref(groups);
	return ret;
}

static int read_states(struct thrift *thrift, struct lookup_state *state, struct dart_error *error)
{
	uint64_t value;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < DART_TEA_SERVERS_MAX; i++) {
		ret = bmv2_register__read(thrift, LOOKUP_REGISTER_STATE, i, &value, error);
		state->states[i] = value > LOOKUP_STOPPED ? LOOKUP_STOPPED : value;
	}
	return ret;
}

static int read_rest(struct thrift *thrift, const void *wish, void *state, struct dart_error *error)
{
	return read_stash(thrift, state, error) ?: read_cache(thrift, wish, state, error) ?:
	       read_ways(thrift, wish, state, error) ?: read_states(thrift, state, error);
}

/* ---- changes */

static int change_stash(const struct switch_change *change, enum switch_verb verb, uint32_t index)
{
	const struct lookup_state *now = change->now, *wanted = change->wanted;
	struct bmv2_entry entry = { .value_count = 1 };
	const struct lookup_stashed *stashed;
	ptrdiff_t there;

	if (verb == SWITCH_REMOVE)
		return bmv2_table__remove(change->thrift, LOOKUP_TABLE_STASH,
					  now->stashed[index].handle, change->error);
	stashed = &wanted->stashed[index];
	entry.key.length = now->sizes.key_length;
	memcpy(entry.key.bytes, stashed->entry.key, entry.key.length);
	entry.values[0].length = now->sizes.value_length;
	memcpy(entry.values[0].bytes, stashed->entry.value, entry.values[0].length);
	if (verb == SWITCH_ADD)
		return bmv2_table__add(change->thrift, LOOKUP_TABLE_STASH, LOOKUP_ACTION_STASH,
				       &entry, change->error);
	there = lookup_state__stashed(now, &stashed->entry);
	if (there >= 0)
		entry.handle = now->stashed[there].handle;
	return bmv2_table__change(change->thrift, LOOKUP_TABLE_STASH, LOOKUP_ACTION_STASH, &entry,
				  change->error);
}

static int write_register(const struct switch_change *change, const char *name, uint32_t server,
			  uint64_t value)
{
	return bmv2_register__write(change->thrift, name, server, value, change->error);
}

static int apply(const struct switch_change *change, const struct switch_step *step,
		 uint32_t number)
{
	const struct lookup_state *wanted = change->wanted;

	switch (step->object) {
	case LOOKUP_STASH:
		return change_stash(change, step->verb, number);
	case LOOKUP_CACHE:
		return bmv2_table__clear(change->thrift, LOOKUP_TABLE_CACHE, change->error);
	case LOOKUP_GROUP:
		return bmv2_group__make(change->thrift, 1 + number, number, change->error);
	case LOOKUP_PSN:
		return write_register(change, LOOKUP_REGISTER_PSN, number,
				      wanted->first_psns[number].values[0]) ?:
		       write_register(change, LOOKUP_REGISTER_PROVEN, number,
				      wanted->first_psns[number].values[0]) ?:
		       write_register(change, LOOKUP_REGISTER_OUTSTANDING, number, 0);
	default: /* a server is stopped or started */
		return write_register(change, LOOKUP_REGISTER_STATE, number,
				      step->verb == SWITCH_STOP ? LOOKUP_STOPPED : LOOKUP_UP);
	}
}

/* ---- the kind */

static int prepare(void *context, const struct switch_program *program, struct dart_error *error)
{
	struct lookup_state *state = context;

	return lookup_program__sizes(program, &state->sizes, error);
}

static void release(void *state)
{
	lookup_state__release(state);
}

static int want(const void *wish, const void *now, void *wanted)
{
	return lookup_state__want(wish, now, wanted);
}

static int compute(const void *now, const void *wanted, const void *last,
		   struct switch_steps *steps)
{
	return lookup_steps__compute(now, wanted, last, steps);
}

const struct switch_kind lookup_kind = {
	.needs = {
		.tables = lookup_tables,
		.table_count = LOOKUP_TABLES,
		.registers = registers,
		.register_count = sizeof(registers) / sizeof(registers[0]),
		.polynomials = polynomials,
		.polynomial_count = sizeof(polynomials) / sizeof(polynomials[0]),
	},
	.objects = lookup_objects,
	.object_count = LOOKUP_OBJECTS,
	.state_size = sizeof(struct lookup_state),
	.check = check,
	.prepare = prepare,
	.release = release,
	.read = read_rest,
	.want = want,
	.compute = compute,
	.apply = apply,
};
