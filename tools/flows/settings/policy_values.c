// SPDX-License-Identifier: GPL-2.0-only
/* Values in the file of a policy that several parts of it have: see policy_file.h. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "policy_file.h"

const char *policy_file__text(const yaml_node_t *node)
{
	return dart_yaml__text(node) ?: "";
}

int policy_file__take_quantity(struct dart_yaml *yaml, const yaml_node_t *node,
			       enum dart_quantity quantity, uint64_t least, uint64_t most,
			       uint64_t *value)
{
	char from[32], to[32];

	if (!dart_quantity__parse(quantity, policy_file__text(node), least, most, value))
		return 0;
	dart_quantity__print(quantity, least, from, sizeof(from));
	dart_quantity__print(quantity, most, to, sizeof(to));
	return dart_yaml__refuse(yaml, node, "'%s' is not a %s from %s to %s",
				 policy_file__text(node),
				 quantity == DART_QUANTITY_TIME ? "time" : "number", from, to);
}

static int take_prefix(struct dart_yaml *yaml, const yaml_node_t *node, struct dart_prefix *prefix)
{
	struct dart_error reason;

	if (dart_prefix__parse(prefix, policy_file__text(node), &reason))
		return dart_yaml__refuse(yaml, node, "%s", reason.text);
	return 0;
}

int policy_file__take_prefix(struct dart_yaml *yaml, const yaml_node_t *node,
			     struct dart_prefix *prefix)
{
	const int ret = take_prefix(yaml, node, prefix);

	if (ret || prefix->family == AF_INET)
		return ret;
	return dart_yaml__refuse(yaml, node, "'%s' is not a range of IPv4 addresses",
				 policy_file__text(node));
}

int policy_file__take_range(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct address_range *range = into;
	struct dart_prefix prefix;
	size_t bits, length;
	int ret;

	ret = take_prefix(yaml, node, &prefix);
	if (ret)
		return ret;
	length = prefix.family == AF_INET ? ADDRESS_LENGTH_4 : ADDRESS_LENGTH;
	bits = 8 * length - prefix.length; /* at the end, which may be any */
	range->first = address__get(prefix.address, length);
	range->mask = bits == 8 * ADDRESS_LENGTH ? 0 : ~(address_t)0 << bits;
	if (prefix.family == AF_INET || !address_range__is_ipv4(range))
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' has no address of an IPv6 host",
				 policy_file__text(node));
}

int policy_file__grow(struct dart_yaml *yaml, const yaml_node_t *node, void *items, size_t size,
		      size_t count, size_t more, size_t most)
{
	void *grown, **list = items;

	if (more > most - count)
		return dart_yaml__refuse(yaml, node, "more than %zu of them", most);
	grown = realloc(*list, (count + more) * size);
	if (!grown)
		return dart_error__no_memory(yaml->error);
	*list = grown;
	return 0;
}

int policy_file__take_choice(struct dart_yaml *yaml, const yaml_node_t *node, const char *first,
			     const char *second, void *into)
{
	bool *is_second = into;

	*is_second = !strcmp(policy_file__text(node), second);
	if (*is_second || !strcmp(policy_file__text(node), first))
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is neither %s nor %s", policy_file__text(node),
				 second, first);
}

int policy_file__take_port_protocol(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint8_t *protocol = into;

	*protocol = policy__protocol(policy_file__text(node));
	if (*protocol && *protocol != IPPROTO_ICMP)
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is neither tcp nor udp",
				 policy_file__text(node));
}

int policy_file__take_end(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct end *end = into;

	if (end__parse(policy_file__text(node), end) && end->port)
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is not an address and a port, as 10.0.0.5:80",
				 policy_file__text(node));
}

int policy_file__take_mac(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	unsigned int bytes[PACKET_MAC_LENGTH];
	uint8_t *mac = into;
	int end = 0, i;

	if (strlen(policy_file__text(node)) == 17)
		sscanf(policy_file__text(node), "%2x:%2x:%2x:%2x:%2x:%2x%n", &bytes[0], &bytes[1],
		       &bytes[2], &bytes[3], &bytes[4], &bytes[5], &end);
	if (end != 17 || bytes[0] & 1)
		return dart_yaml__refuse(
			yaml, node,
			"'%s' is not the Ethernet address of a host, as 52:54:00:00:00:01",
			policy_file__text(node));
	for (i = 0; i < PACKET_MAC_LENGTH; i++)
		mac[i] = bytes[i];
	return 0;
}

/* Of one family. */
static int take_address(struct dart_yaml *yaml, const yaml_node_t *node, bool is_ipv6,
			address_t *address)
{
	if (!address__parse(policy_file__text(node), address) ||
	    address__is_ipv4(*address) == is_ipv6)
		return dart_yaml__refuse(yaml, node, "'%s' is not an %s address",
					 policy_file__text(node), is_ipv6 ? "IPv6" : "IPv4");
	if (!address__is_unicast(*address))
		return dart_yaml__refuse(yaml, node, "'%s' is no address of a host",
					 policy_file__text(node));
	return 0;
}

int policy_file__take_ipv4(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	address_t address;
	int ret;

	ret = take_address(yaml, node, false, &address);
	if (!ret)
		*(uint32_t *)into = address;
	return ret;
}

int policy_file__take_address(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_address(yaml, node, false, into);
}

int policy_file__take_address6(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_address(yaml, node, true, into);
}

int policy_file__take_path(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	char **path = into;

	if (*policy_file__text(node) != '/')
		return dart_yaml__refuse(yaml, node, "'%s' is not an absolute path",
					 policy_file__text(node));
	*path = strdup(policy_file__text(node));
	return *path ? 0 : dart_error__no_memory(yaml->error);
}
