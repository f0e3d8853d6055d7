// SPDX-License-Identifier: GPL-2.0-only
/* Entries of flows in the table, and which flow an entry is of: see function.h. */
#include <string.h>

#include "function.h"
#include "function_type.h"

uint32_t function__key_length(const struct function *function)
{
	return function->type->keys ? function->type->keys->length : FLOW_KEY_LENGTH;
}

uint32_t function__value_length(const struct function *function)
{
	return function->type->value_length;
}

static void put_end(uint8_t *bytes, size_t port, const struct end *end)
{
	bytes[0] = end->address >> 24;
	bytes[1] = end->address >> 16;
	bytes[2] = end->address >> 8;
	bytes[3] = end->address;
	bytes[port] = end->port >> 8;
	bytes[port + 1] = end->port;
}

void function__put_value(uint8_t *value, const struct end *end, uint8_t flags)
{
	put_end(value, 4, end);
	value[6] = flags;
}

static struct end get_end(const uint8_t *bytes, const uint8_t *port)
{
	return (struct end){ (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3],
			     port[0] << 8 | port[1] };
}

enum flow_direction function__first_direction(const struct function *function)
{
	return function->type->keys ? FLOW_OUT : FLOW_BACK;
}

static void put_ends(const struct flow_record *record, bool is_out, uint8_t *key)
{
	put_end(key, 8, is_out ? &record->inside : &record->remote);
	put_end(key + 4, 6, is_out ? &record->remote : &record->outside);
	key[12] = record->protocol;
}

void function__entry(const struct function *function, const struct flow *flow,
		     enum flow_direction direction, uint8_t key[static FLOW_KEY_LENGTH],
		     uint8_t value[static FLOW_VALUE_MAX])
{
	struct flow_record record;

	if (function->type->keys) {
		function->type->keys->key(flow, key);
	} else {
		record = function->type->record(flow);
		put_ends(&record, direction == FLOW_OUT, key);
	}
	function->type->value(flow, direction, value);
}

/* The flow that has an entry with this key and this value. */
static struct flow *find_entry(const struct function *function, const uint8_t *key,
			       const uint8_t *value, enum flow_direction *direction)
{
	const struct end source = get_end(key, key + 8), destination = get_end(key + 4, key + 10);

	return function->type->flow_of_entry(function, key[12], &source, &destination, value,
					     direction);
}

/* Without a flow: is it the entry of a flow that was lost? */
static bool is_stray(const struct function *function, const uint8_t *key, const uint8_t *value)
{
	const struct end destination = get_end(key + 4, key + 10);

	return function->type->is_stray(function, key[12], &destination, value);
}

bool function__see(struct function *function, const uint8_t *key, const uint8_t *value)
{
	uint8_t right_key[FLOW_KEY_LENGTH], right[FLOW_VALUE_MAX];
	const struct function_type *type = function->type;
	enum flow_direction direction = FLOW_OUT;
	struct flow *flow;

	flow = type->keys ? type->keys->find(function, key) :
			    find_entry(function, key, value, &direction);
	if (!flow)
		return !type->keys && !is_stray(function, key, value);
	function__entry(function, flow, direction, right_key, right);
	if (memcmp(value, right, type->value_length) || flow->state == FLOW_KEPT ||
	    flow->state == FLOW_ASKED)
		return false;
	flow->seen |= 1 << direction;
	return true;
}
