// SPDX-License-Identifier: GPL-2.0-only
/* Zones and rules in the file of a policy. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "policy_file.h"

/* ---- zones */

static int take_zone_name(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = policy_file__text(node);

	if (!*text || strlen(text) >= POLICY_ZONE_NAME_MAX)
		return dart_yaml__refuse(yaml, node, "'%s' is not a name of 1 to %d bytes", text,
					 POLICY_ZONE_NAME_MAX - 1);
	strcpy(into, text);
	return 0;
}

static int find_zone(const struct policy *policy, const char *name)
{
	size_t i;

	for (i = 0; i < policy->zone_count; i++)
		if (!strcmp(policy->zones[i], name))
			return i;
	return POLICY_ANY;
}

static int take_zone_range(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct policy *policy = into;
	struct policy_range range = { .zone = policy->zone_count - 1 };
	size_t i;
	int ret;

	ret = policy_file__take_range(yaml, node, &range.range);
	if (ret)
		return ret;
	for (i = 0; i < policy->range_count; i++)
		if (policy->ranges[i].range.first == range.range.first &&
		    policy->ranges[i].range.mask == range.range.mask)
			return dart_yaml__refuse(yaml, node, "'%s' is in a zone already",
						 policy_file__text(node));
	ret = policy_file__grow(yaml, node, &policy->ranges, sizeof(range), policy->range_count, 1,
				POLICY_RANGES_MAX);
	if (ret)
		return ret;
	for (i = policy->range_count++; i && policy->ranges[i - 1].range.mask < range.range.mask;
	     i--)
		policy->ranges[i] = policy->ranges[i - 1];
	policy->ranges[i] = range;
	return 0;
}

static int take_zone_ranges(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_zone_range, into);
}

struct zone {
	struct policy *policy;
	char name[POLICY_ZONE_NAME_MAX];
	const yaml_node_t *addresses;
};

static int take_addresses(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct zone *zone = into;

	zone->addresses = node;
	return 0;
}

static int take_zone(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = { { "name", take_zone_name,
							     offsetof(struct zone, name) },
							   { "addresses", take_addresses, 0 },
							   {} };
	struct policy *policy = into;
	struct zone zone = {};
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &zone);
	if (ret)
		return ret;
	if (!*zone.name || !zone.addresses)
		return dart_yaml__refuse(yaml, node, "a zone has 'name' and 'addresses'");
	if (find_zone(policy, zone.name) != POLICY_ANY)
		return dart_yaml__refuse(yaml, node, "two zones have the name '%s'", zone.name);
	ret = policy_file__grow(yaml, node, &policy->zones, sizeof(*policy->zones),
				policy->zone_count, 1, POLICY_ZONES_MAX);
	if (ret)
		return ret;
	strcpy(policy->zones[policy->zone_count++], zone.name);
	return take_zone_ranges(yaml, zone.addresses, policy);
}

int policy_file__take_zones(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_zone, into);
}

/* ---- rules */

static int take_action(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const char *const names[] = {
		[POLICY_ACCEPT] = "accept", [POLICY_DROP] = "drop", [POLICY_REJECT] = "reject"
	};
	enum policy_action *action = into;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], policy_file__text(node))) {
			*action = i;
			return 0;
		}
	return dart_yaml__refuse(yaml, node, "'%s' is neither accept, drop nor reject",
				 policy_file__text(node));
}

static int take_protocol(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint8_t *protocol = into;

	*protocol = policy__protocol(policy_file__text(node));
	if (*protocol)
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is neither tcp, udp nor icmp",
				 policy_file__text(node));
}

struct rule {
	struct policy_rule rule;
	const yaml_node_t *ports;
};

static int take_port_list(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct rule *rule = into;

	rule->ports = node;
	return 0;
}

static int take_port(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = policy_file__text(node);
	struct policy *policy = into;
	unsigned int first = 0, last;
	int end = 0, ret;

	if (sscanf(text, "%5u%n", &first, &end) == 1 && text[end] == '-')
		sscanf(text, "%5u-%5u%n", &first, &last, &end);
	else
		last = first;
	if (!end || text[end] || *text < '0' || *text > '9' || first > last || last > UINT16_MAX)
		return dart_yaml__refuse(
			yaml, node, "'%s' is not a port or a range of ports, as 8000-8099", text);
	ret = policy_file__grow(yaml, node, &policy->ports, sizeof(*policy->ports),
				policy->port_count, 1, POLICY_PORTS_MAX);
	if (!ret)
		policy->ports[policy->port_count++] = (struct policy_ports){ first, last };
	return ret;
}

static int take_rule(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "from", take_zone_name, offsetof(struct rule, rule.from_name) },
		{ "to", take_zone_name, offsetof(struct rule, rule.to_name) },
		{ "protocol", take_protocol, offsetof(struct rule, rule.protocol) },
		{ "ports", take_port_list, 0 },
		{ "action", take_action, offsetof(struct rule, rule.action) },
		{}
	};
	struct rule rule = { .rule.action = POLICY_ACCEPT };
	struct policy *policy = into;
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &rule);
	if (ret)
		return ret;
	rule.rule.first_port = policy->port_count;
	if (rule.ports) {
		if (rule.rule.protocol != IPPROTO_TCP && rule.rule.protocol != IPPROTO_UDP)
			return dart_yaml__refuse(yaml, node, "'ports' need 'protocol', tcp or udp");
		ret = dart_yaml__take_list(yaml, rule.ports, take_port, policy);
		rule.rule.port_count = policy->port_count - rule.rule.first_port;
		if (!ret && !rule.rule.port_count)
			ret = dart_yaml__refuse(yaml, node, "'ports' without a port");
	}
	ret = ret   ?:
		      policy_file__grow(yaml, node, &policy->rules, sizeof(*policy->rules),
					policy->rule_count, 1, POLICY_RULES_MAX);
	if (!ret)
		policy->rules[policy->rule_count++] = rule.rule;
	return ret;
}

int policy_file__take_rules(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_rule, into);
}

int policy_file__take_refusal(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const enum policy_action *action = into;
	int ret;

	ret = take_action(yaml, node, into);
	if (!ret && *action == POLICY_ACCEPT)
		return dart_yaml__refuse(yaml, node, "'accept' is neither drop nor reject");
	return ret;
}

int policy_file__take_reverse_path(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_choice(yaml, node, "off", "strict", into);
}

/* ---- the whole */

static int resolve(struct policy *policy, struct dart_yaml *yaml, const yaml_node_t *root,
		   const char *name, int *zone)
{
	*zone = find_zone(policy, name);
	if (!*name || *zone != POLICY_ANY)
		return 0;
	return dart_yaml__refuse(yaml, root, "a rule is about '%s', which is not a zone", name);
}

int policy_file__check_firewall(struct policy *policy, struct dart_yaml *yaml,
				const yaml_node_t *root)
{
	size_t i;
	int ret = 0;

	if (!*policy->interface || !*policy->table || !policy->zone_count || !policy->route_count)
		return dart_yaml__refuse(
			yaml, root,
			"a policy of a firewall has 'interface', 'table', 'zones' and 'routes'");
	for (i = 0; i < policy->rule_count && !ret; i++) {
		struct policy_rule *rule = &policy->rules[i];

		ret = resolve(policy, yaml, root, rule->from_name, &rule->from) ?:
			      resolve(policy, yaml, root, rule->to_name, &rule->to);
	}
	return ret;
}
