// SPDX-License-Identifier: GPL-2.0-only
/* Values in the file of a policy that several parts of it have: see policy_file.h. */
#include <arpa/inet.h>
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

int policy_file__take_range(struct dart_yaml *yaml, const yaml_node_t *node,
			    struct dart_prefix *prefix)
{
	struct dart_error reason;

	if (dart_prefix__parse(prefix, policy_file__text(node), &reason))
		return dart_yaml__refuse(yaml, node, "%s", reason.text);
	if (prefix->family != AF_INET)
		return dart_yaml__refuse(yaml, node, "'%s' is not a range of IPv4 addresses",
					 policy_file__text(node));
	return 0;
}

uint32_t policy_file__first(const struct dart_prefix *prefix)
{
	return (uint32_t)prefix->address[0] << 24 | prefix->address[1] << 16 |
	       prefix->address[2] << 8 | prefix->address[3];
}

uint32_t policy_file__mask(const struct dart_prefix *prefix)
{
	return prefix->length ? ~0U << (32 - prefix->length) : 0;
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

	if (policy__take_end(policy_file__text(node), end) && end->port)
		return 0;
	return dart_yaml__refuse(yaml, node,
				 "'%s' is not an IPv4 address and a port, as 10.0.0.5:80",
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

int policy_file__take_address(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct in_addr address;
	uint32_t number;

	if (inet_pton(AF_INET, policy_file__text(node), &address) != 1)
		return dart_yaml__refuse(yaml, node, "'%s' is not an IPv4 address",
					 policy_file__text(node));
	number = ntohl(address.s_addr);
	if (!(number >> 24) || number >> 24 == 127 || number >> 28 >= 0xe)
		return dart_yaml__refuse(yaml, node, "'%s' is no address of a host",
					 policy_file__text(node));
	*(uint32_t *)into = number;
	return 0;
}
