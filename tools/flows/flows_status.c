// SPDX-License-Identifier: GPL-2.0-only
/* What dartctl shows of the daemon. */
#include <jansson.h>
#include <libdart/json.h>

#include "flows_internal.h"

static void set_count(json_t *object, const char *name, uint64_t count)
{
	json_object_set_new(object, name, dart_json__unsigned(count));
}

static json_t *pack_packets(struct flows *flows)
{
	const struct function_counts *counts = function__counts(flows->function);
	json_t *packets = json_object();
	const char *name;
	unsigned int i;

	set_count(packets, "received", flows->received);
	for (i = 0; (name = function__verdict_name(flows->function, i)); i++)
		set_count(packets, name, counts->verdicts[i]);
	for (i = PACKET_GOOD + 1; i < PACKET_FLAWS; i++)
		set_count(packets, packet_flaw_names[i], flows->flaws[i]);
	set_count(packets, "answered", flows->answered);
	set_count(packets, "exceeded", flows->exceeded);
	set_count(packets, "followed", flows->followed);
	set_count(packets, "rate", flows->limited);
	set_count(packets, "tagged", flows->tagged);
	set_count(packets, "long", flows->long_frames);
	set_count(packets, "for_many", flows->for_many);
	set_count(packets, "unrouted", flows->unrouted);
	set_count(packets, "oversized", flows->oversized);
	set_count(packets, "mtu_told", flows->mtu_told);
	set_count(packets, "neighbours_told", flows->neighbours_told);
	set_count(packets, "unsent", flows->unsent);
	set_count(packets, "unwritten", flows->unwritten);
	set_count(packets, "overrun", port__overrun(flows->port));
	return packets;
}

static json_t *pack_flows(const struct flows *flows)
{
	const struct function_counts *counts = function__counts(flows->function);
	json_t *object = json_object();
	int i;

	set_count(object, "now", counts->flows);
	set_count(object, "begun", counts->begun);
	set_count(object, "ended", counts->ended);
	set_count(object, "refused", counts->refused);
	for (i = 0; i < FLOW_STATES; i++)
		set_count(object, flow_state_names[i], counts->by_state[i]);
	return object;
}

static json_t *pack_use(const struct flows *flows)
{
	const struct function_counts *counts = function__counts(flows->function);
	json_t *object = json_object();

	set_count(object, "asked", counts->asked);
	set_count(object, "in_use", counts->in_use);
	set_count(object, "idle", counts->idle);
	set_count(object, "unanswered", counts->unanswered);
	set_count(object, "late", counts->late);
	set_count(object, "removed", counts->removed);
	return object;
}

static json_t *pack_table(struct flows *flows)
{
	const struct change_counts *counts = table__counts(flows->table);
	json_t *object = json_object();

	json_object_set_new(object, "name", json_string(flows->policy->table));
	if (flows->policy->server.address)
		json_object_set_new(object, "server", json_string(flows->policy->server.address));
	json_object_set_new(object, "there", json_boolean(table__is_there(flows->table)));
	set_count(object, "inserted", counts->inserted);
	set_count(object, "removed", counts->removed);
	set_count(object, "full", counts->full);
	set_count(object, "foreign", counts->foreign);
	set_count(object, "requests", counts->requests);
	set_count(object, "waiting", counts->waiting);
	set_count(object, "comparisons", counts->comparisons);
	set_count(object, "stray", counts->stray);
	return object;
}

/* Counts that only this function has, in the group that it names. */
static void tell_count(void *subject, const char *group, const char *name, uint64_t count)
{
	json_t *status = subject, *object = json_object_get(status, group);

	if (!object) {
		json_object_set_new(status, group, json_object());
		object = json_object_get(status, group);
	}
	set_count(object, name, count);
}

json_t *flows__status(struct flows *flows)
{
	json_t *status;

	status = json_pack("{s:s, s:s, s:o, s:o, s:o, s:{s:s, s:o}}", "function",
			   policy_function_names[flows->policy->function], "interface",
			   flows->policy->interface, "flows", pack_flows(flows), "packets",
			   pack_packets(flows), "table", pack_table(flows), "journal", "path",
			   flows->policy->journal, "records",
			   dart_json__unsigned(journal__length(flows->journal)));
	if (status && flows->questions)
		json_object_set_new(status, "use", pack_use(flows));
	if (status)
		function__tell_counts(flows->function, tell_count, status);
	return status;
}
