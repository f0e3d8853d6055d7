/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values in the file of a policy, and the parts of it about firewalls, balancers, gateways and
 * servers of tables.  All functions return 0, or -errno with a sentence in the error of @yaml.
 */
#ifndef FLOWS_POLICY_FILE_H
#define FLOWS_POLICY_FILE_H

#include <libdart/settings/quantity.h>
#include <libdart/yaml_file.h>

#include "policy.h"

/* "" if the node is no text. */
const char *policy_file__text(const yaml_node_t *node);
int policy_file__take_quantity(struct dart_yaml *yaml, const yaml_node_t *node,
			       enum dart_quantity quantity, uint64_t least, uint64_t most,
			       uint64_t *value);
/* A range of IPv4 addresses. */
int policy_file__take_prefix(struct dart_yaml *yaml, const yaml_node_t *node,
			     struct dart_prefix *prefix);
/* A range of addresses of IPv4 or IPv6, struct address_range. */
int policy_file__take_range(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* The address of an IPv4 host, a uint32_t; or of a host of IPv4, or IPv6, an address_t. */
int policy_file__take_ipv4(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int policy_file__take_address(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int policy_file__take_address6(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* The Ethernet address of a host, of PACKET_MAC_LENGTH bytes. */
int policy_file__take_mac(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* An address and a port, struct end. */
int policy_file__take_end(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* TCP or UDP, a uint8_t. */
int policy_file__take_port_protocol(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* One of two words, a bool: is it the second one? */
int policy_file__take_choice(struct dart_yaml *yaml, const yaml_node_t *node, const char *first,
			     const char *second, void *into);
/* An absolute path, a char *. */
int policy_file__take_path(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* The dartd of another host, a struct policy_dartd; what it does not say has defaults. */
int policy_file__take_server(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int policy_file__complete_server(struct policy_dartd *dartd, struct dart_error *error);
/* Makes place for @more further items of @size bytes in the list that @items points to. */
int policy_file__grow(struct dart_yaml *yaml, const yaml_node_t *node, void *items, size_t size,
		      size_t count, size_t more, size_t most);

/* ---- of a firewall; @into: the policy, or the member of this name */

int policy_file__take_zones(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int policy_file__take_rules(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int policy_file__take_refusal(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int policy_file__take_reverse_path(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* Finds the zones of the rules. */
int policy_file__check_firewall(struct policy *policy, struct dart_yaml *yaml,
				const yaml_node_t *root);

/* ---- of a balancer; @into: the policy */

int policy_file__take_services(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* Sorts services and servers. */
int policy_file__check_balancer(struct policy *policy, struct dart_yaml *yaml,
				const yaml_node_t *root);

/* ---- of a gateway */

int policy_file__check_gateway(struct policy *policy, struct dart_yaml *yaml,
			       const yaml_node_t *root);
/* Reads the file of tenants. */
int policy_file__read_tunnels(struct policy *policy, struct dart_error *error);

#endif /* FLOWS_POLICY_FILE_H */
