// SPDX-License-Identifier: GPL-2.0-only
/* Entries of flows in the table, and which flow an entry is of: see function.h. */
#include <string.h>

#include "function.h"
#include "function_type.h"

/* Keys with addresses of both families have those of IPv4 as mapped ones (RFC 4291, 2.5.5.2). */
static size_t address_length(const struct function *function)
{
	return function->policy->has_ipv6 ? ADDRESS_LENGTH : ADDRESS_LENGTH_4;
}

uint32_t function__key_length(const struct function *function)
{
	if (function->type->keys)
		return function->type->keys->length;
	return function->policy->has_ipv6 ? FLOW_KEY_LENGTH_6 : FLOW_KEY_LENGTH;
}

uint32_t function__value_length(const struct function *function)
{
	return function->policy->has_ipv6 ? function->type->value_length_6 :
					    function->type->value_length;
}

static void put_port(uint8_t *bytes, uint16_t port)
{
	bytes[0] = port >> 8;
	bytes[1] = port;
}

static void put_address(uint8_t *bytes, size_t length, address_t address)
{
	if (length == ADDRESS_LENGTH && address__is_ipv4(address))
		address |= ADDRESS_MAPPED;
	address__put(bytes, length, address);
}

/* Reads an address of a key or a value.  False: no flow has it. */
static bool get_address(const uint8_t *bytes, size_t length, address_t *address)
{
	*address = address__get(bytes, length);
	if (length == ADDRESS_LENGTH && address__is_ipv4(*address))
		return false;
	if (*address >> 32 == ADDRESS_MAPPED >> 32)
		*address ^= ADDRESS_MAPPED;
	return true;
}

void function__put_value(const struct function *function, uint8_t *value, const struct end *end,
			 uint8_t flags)
{
	const size_t length = address_length(function);

	put_address(value, length, end->address);
	put_port(value + length, end->port);
	value[length + 2] = flags;
}

uint8_t function__get_value(const struct function *function, const uint8_t *value, struct end *end)
{
	const size_t length = address_length(function);

	if (!get_address(value, length, &end->address))
		end->address = 0;
	end->port = value[length] << 8 | value[length + 1];
	return value[length + 2];
}

enum flow_direction function__first_direction(const struct function *function)
{
	return function->type->keys ? FLOW_OUT : FLOW_BACK;
}

static void put_ends(const struct function *function, const struct flow_record *record, bool is_out,
		     uint8_t *key)
{
	const struct end *source = is_out ? &record->inside : &record->remote;
	const struct end *destination = is_out ? &record->remote : &record->outside;
	const size_t length = address_length(function);

	put_address(key, length, source->address);
	put_address(key + length, length, destination->address);
	put_port(key + 2 * length, source->port);
	put_port(key + 2 * length + 2, destination->port);
	key[2 * length + 4] = record->protocol;
}

/* The ends of a key.  False: no flow has it. */
static bool get_ends(const struct function *function, const uint8_t *key, struct flow_record *ends)
{
	const size_t length = address_length(function);

	if (!get_address(key, length, &ends->inside.address) ||
	    !get_address(key + length, length, &ends->remote.address))
		return false;
	key += 2 * length;
	ends->inside.port = key[0] << 8 | key[1];
	ends->remote.port = key[2] << 8 | key[3];
	ends->protocol = key[4];
	return true;
}

void function__entry(const struct function *function, const struct flow *flow,
		     enum flow_direction direction, uint8_t key[static FLOW_KEY_MAX],
		     uint8_t value[static FLOW_VALUE_MAX])
{
	struct flow_record record;

	if (function->type->keys) {
		function->type->keys->key(flow, key);
	} else {
		record = function->type->record(flow);
		put_ends(function, &record, direction == FLOW_OUT, key);
	}
	function->type->value(function, flow, direction, value);
}

/* Finds the flow that has an entry with this key and this value.  False: remove the entry. */
static bool find_entry(const struct function *function, const uint8_t *key, const uint8_t *value,
		       struct flow **flow, enum flow_direction *direction)
{
	struct flow_record ends;

	*flow = NULL;
	if (function->type->keys) {
		*flow = function->type->keys->find(function, key);
		return *flow;
	}
	/* Somebody else's. */
	if (!get_ends(function, key, &ends))
		return true;
	*flow = function->type->flow_of_entry(function, ends.protocol, &ends.inside, &ends.remote,
					      value, direction);
	return *flow || !function->type->is_stray(function, ends.protocol, &ends.remote, value);
}

bool function__see(struct function *function, const uint8_t *key, const uint8_t *value)
{
	uint8_t right_key[FLOW_KEY_MAX], right[FLOW_VALUE_MAX];
	enum flow_direction direction = FLOW_OUT;
	struct flow *flow;

	if (!find_entry(function, key, value, &flow, &direction))
		return false;
	if (!flow)
		return true;
	function__entry(function, flow, direction, right_key, right);
	if (memcmp(value, right, function__value_length(function)) || flow->state == FLOW_KEPT ||
	    flow->state == FLOW_ASKED)
		return false;
	flow->seen |= 1 << direction;
	return true;
}
