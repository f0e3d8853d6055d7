// SPDX-License-Identifier: GPL-2.0-only
/* Reads the lookup tables of simple_switch by its Thrift interface. */
#include <stdlib.h>
#include <string.h>

#include "bmv2.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"

static int read_table(struct thrift *thrift, enum lookup_table number,
		      struct switch_entry *entries, struct dart_error *error)
{
	return bmv2_table__read_numbers(thrift, &lookup_tables[number], entries,
					error);
}

static bool take_from(void *subject, const struct bmv2_entry *entry)
{
	const uint64_t ip = bmv2_bytes__number(&entry->key);
	struct lookup_state *state = subject;
	struct lookup_from *from;

	if (ip > UINT32_MAX || state->from_count == DART_TEA_SERVERS_MAX ||
	    lookup_state__from(state, ip) < state->from_count)
		return false;
	from = &state->from[state->from_count++];
	from->ip = ip;
	bmv2_entry__numbers(entry, &from->entry);
	return true;
}

static int read_from(struct thrift *thrift, struct lookup_state *state,
		     struct dart_error *error)
{
	const struct switch_table *table = &lookup_tables[LOOKUP_FROM];

	return bmv2_table__read(thrift, table->name, table->action,
				table->entries, take_from, state, error);
}

/* ---- the stash */

struct stash {
	const struct lookup_sizes *sizes;
	struct lookup_state *state;
	size_t room;
	bool is_out_of_memory;
};

/* Adds the leading zeros that are missing. */
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
	if (!widen(&entry->key, stashed.entry.key, stash->sizes->key_length) ||
	    (stashed.is_ours && !widen(&entry->values[0], stashed.entry.value,
				       stash->sizes->value_length)))
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

	return memcmp(first->entry.key, second->entry.key,
		      sizeof(first->entry.key));
}

static int read_stash(struct thrift *thrift, const struct lookup_sizes *sizes,
		      struct lookup_state *state, struct dart_error *error)
{
	struct stash stash = { .sizes = sizes, .state = state };
	int ret;

	ret = bmv2_table__read(thrift, LOOKUP_STASH, LOOKUP_STASHED,
			       sizes->stash_room, take_stashed, &stash, error);
	if (stash.is_out_of_memory)
		return dart_error__no_memory(error);
	if (!ret && state->stashed_count)
		qsort(state->stashed, state->stashed_count,
		      sizeof(*state->stashed), compare_stashed);
	return ret;
}

/* ---- ports and registers */

static int read_ways(struct thrift *thrift, const struct lookup_wish *wish,
		     struct lookup_state *state, struct dart_error *error)
{
	uint32_t i, port;
	json_t *groups;
	int32_t to;
	int ret;

	ret = bmv2_group__read(thrift, &groups, error);
	if (ret)
		return ret;
	for (i = 0; !ret && i < wish->tables.server_count; i++) {
		port = wish->ports[i];
		if (bmv2_group__is_right(groups, 1 + port, port))
			state->groups[port] = LOOKUP_WAY_RIGHT;
		else if (bmv2_group__is_there(groups, 1 + port))
			state->groups[port] = LOOKUP_WAY_OTHER;
		ret = bmv2_session__read(thrift, 1 + port, &to, error);
		if (!ret && to != BMV2_SESSION_NONE)
			state->sessions[port] = to == (int32_t)port ?
							LOOKUP_WAY_RIGHT :
							LOOKUP_WAY_OTHER;
	}
	json_decref(groups);
	return ret;
}

static int read_states(struct thrift *thrift, struct lookup_state *state,
		       struct dart_error *error)
{
	uint64_t value;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < DART_TEA_SERVERS_MAX; i++) {
		ret = bmv2_register__read(thrift, LOOKUP_STATE, i, &value,
					  error);
		state->states[i] = value > LOOKUP_STOPPED ? LOOKUP_STOPPED :
							    value;
	}
	return ret;
}

static int read_cache(struct thrift *thrift, const struct lookup_wish *wish,
		      const struct lookup_sizes *sizes,
		      struct lookup_state *state, struct dart_error *error)
{
	uint64_t count;
	int ret;

	if (wish->keeps_cache || !sizes->cache_room)
		return 0;
	ret = bmv2_table__count(thrift, LOOKUP_CACHE, &count, error);
	state->cached_count = count > UINT32_MAX ? UINT32_MAX : count;
	return ret;
}

int lookup_bmv2__read(struct thrift *thrift, const struct lookup_wish *wish,
		      const struct lookup_sizes *sizes,
		      struct lookup_state *state, struct dart_error *error)
{
	return read_table(thrift, LOOKUP_SELF, &state->self, error) ?:
		       read_table(thrift, LOOKUP_SHARES, state->shares, error) ?:
		       read_from(thrift, state, error) ?:
		       read_table(thrift, LOOKUP_SERVERS, state->servers, error) ?:
		       read_table(thrift, LOOKUP_OTHERWISE, state->otherwise, error) ?:
		       read_stash(thrift, sizes, state, error) ?:
		       read_cache(thrift, wish, sizes, state, error) ?:
		       read_ways(thrift, wish, state, error) ?:
		       read_states(thrift, state, error);
}
