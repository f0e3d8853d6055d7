// SPDX-License-Identifier: GPL-2.0-only
/* What dartctl shows of the daemon. */
#include <jansson.h>
#include <libdart/json.h>
#include <netinet/in.h>

#include "flows_internal.h"

static void set_count(json_t *object, const char *name, uint64_t count)
{
	json_object_set_new(object, name, dart_json__unsigned(count));
}

static json_t *pack_packets(struct flows *flows, const struct nat_counts *counts)
{
	json_t *packets = json_object();
	int i;

	set_count(packets, "received", flows->received);
	for (i = 0; i < NAT_VERDICTS; i++)
		set_count(packets, nat_verdict_names[i], counts->verdicts[i]);
	for (i = PACKET_GOOD + 1; i < PACKET_FLAWS; i++)
		set_count(packets, packet_flaw_names[i], flows->flaws[i]);
	set_count(packets, "rate", flows->limited);
	set_count(packets, "tagged", flows->tagged);
	set_count(packets, "long", flows->long_frames);
	set_count(packets, "unrouted", flows->unrouted);
	set_count(packets, "unsent", flows->unsent);
	set_count(packets, "unwritten", flows->unwritten);
	set_count(packets, "overrun", port__overrun(flows->port));
	return packets;
}

static json_t *pack_flows(const struct nat_counts *counts)
{
	json_t *object = json_object();
	int i;

	set_count(object, "now", counts->flows);
	set_count(object, "begun", counts->begun);
	set_count(object, "ended", counts->ended);
	set_count(object, "refused", counts->refused);
	set_count(object, "mappings", counts->mappings);
	set_count(object, "subscribers", counts->subscribers);
	for (i = 0; i < FLOW_STATES; i++)
		set_count(object, flow_state_names[i], counts->by_state[i]);
	return object;
}

static json_t *pack_table(struct flows *flows)
{
	const struct table_counts *counts = table__counts(flows->table);
	json_t *object = json_object();

	json_object_set_new(object, "name", json_string(flows->policy->table));
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

json_t *flows__status(struct flows *flows)
{
	static const uint8_t protocols[POLICY_CLASSES] = {
		[POLICY_TCP] = IPPROTO_TCP,
		[POLICY_UDP] = IPPROTO_UDP,
		[POLICY_ICMP] = IPPROTO_ICMP,
	};
	json_t *ports = json_object();
	struct nat_counts counts;
	int kind;

	nat__count(flows->nat, &counts);
	set_count(ports, "of_each", counts.port_places);
	for (kind = 0; kind < POLICY_CLASSES; kind++)
		set_count(ports, policy__protocol_name(protocols[kind]), counts.ports[kind]);
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:{s:s, s:o}}", "interface",
			 flows->policy->interface, "flows", pack_flows(&counts), "packets",
			 pack_packets(flows, &counts), "table", pack_table(flows), "ports", ports,
			 "journal", "path", flows->policy->journal, "records",
			 dart_json__unsigned(journal__length(flows->journal)));
}
