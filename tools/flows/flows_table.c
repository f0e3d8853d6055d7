// SPDX-License-Identifier: GPL-2.0-only
/* Between the function and its table: entries of flows that begin, end, or are compared. */
#include <systemd/sd-daemon.h>

#include "flows_internal.h"

/* ---- flows that begin and end */

static bool enter(void *subject, struct flow *flow)
{
	struct flows *flows = subject;
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	enum flow_direction direction;

	/* An answer to a packet that is translated finds its entry. */
	for (direction = function__first_direction(flows->function); direction <= FLOW_OUT;
	     direction++) {
		function__entry(flows->function, flow, direction, key, value);
		table__insert(flows->table, key, value, direction == FLOW_OUT ? flow : NULL);
	}
	return table__is_there(flows->table);
}

/* @token: see table__remove() */
static void remove_entries(struct flows *flows, struct flow *flow, struct flow *token)
{
	const int first = function__first_direction(flows->function);
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	int direction;

	for (direction = FLOW_OUT; direction >= first; direction--) {
		function__entry(flows->function, flow, direction, key, value);
		table__remove(flows->table, key, direction == first ? token : NULL);
	}
}

static bool leave(void *subject, struct flow *flow)
{
	struct flows *flows = subject;

	remove_entries(flows, flow, flow);
	return table__is_there(flows->table);
}

/* Or its connection was closed. */
static void begun(void *subject, const struct flow *flow)
{
	flows__record(subject, flow, false);
}

static void ended(void *subject, const struct flow *flow)
{
	flows__record(subject, flow, true);
}

const struct function_handlers flows__function_handlers = {
	.begun = begun,
	.closed = begun,
	.ended = ended,
	.enter = enter,
	.leave = leave,
	.ask = flows__ask,
};

/* ---- the table */

/* Removes an entry that the table should not have alone: the flow is translated here. */
static void on_changed(void *subject, void *token, bool is_inserted, bool is_there)
{
	struct flows *flows = subject;
	struct flow *flow = token;

	if (!is_inserted) {
		function__left(flows->function, flow, flows__now_ns());
		return;
	}
	if (!is_there && function__waits_for(flow))
		remove_entries(flows, flow, NULL);
	function__entered(flows->function, flow, is_there, flows__now_ns());
}

static bool on_see(void *subject, const uint8_t *key, const uint8_t *value)
{
	struct flows *flows = subject;

	return function__see(flows->function, key, value);
}

static void on_compare(void *subject)
{
	struct flows *flows = subject;

	function__compare(flows->function);
}

static void on_connected(void *subject, bool is_there, const char *reason)
{
	struct flows *flows = subject;

	if (!is_there)
		function__lose_table(flows->function, flows__now_ns());
	if (is_there)
		flows__say("table '%s' is there", flows->policy->table);
	else
		flows__say("%s: all packets are handled here meanwhile", reason);
	sd_notifyf(0, "STATUS=%s", is_there ? "the table is there" : reason);
}

const struct table_handlers flows__table_handlers = { on_see, on_compare, on_changed,
						      on_connected };

void flows__name_table(struct flows *flows)
{
	const struct policy_dartd *server = &flows->policy->server;

	flows->table_settings.name = flows->policy->table;
	flows->table_settings.socket = flows->policy->dartd;
	flows->table_settings.way = server->address ? &table_remote : &table_socket;
	flows->table_settings.server = server->address ? &flows->table_server : NULL;
	flows->table_server = (struct table_server){
		.address = server->address,
		.port = server->port,
		.name = server->name,
		.files = { server->certificate, server->key, server->authorities, server->revoked },
	};
}
