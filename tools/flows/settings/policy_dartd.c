// SPDX-License-Identifier: GPL-2.0-only
/* The dartd of another host, whose table the function has, and the files to call it over TLS. */
#include <arpa/inet.h>
#include <dart/rpc.h>
#include <libdart/tls_places.h>
#include <stdlib.h>
#include <string.h>

#include "policy_file.h"

/* Names are not resolved: the resolver may be a host whose flows wait for this daemon. */
static int take_address(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	char **address = into;
	struct in6_addr bytes;

	if (inet_pton(AF_INET, policy_file__text(node), &bytes) != 1 &&
	    inet_pton(AF_INET6, policy_file__text(node), &bytes) != 1)
		return dart_yaml__refuse(yaml, node,
					 "'%s' is not an address (write 10.0.0.1 or \"fd00::1\")",
					 policy_file__text(node));
	*address = strdup(policy_file__text(node));
	return *address ? 0 : dart_error__no_memory(yaml->error);
}

static int take_name(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	char **name = into;

	if (!*policy_file__text(node) || strchr(policy_file__text(node), '*'))
		return dart_yaml__refuse(yaml, node, "'%s' is not the name of a host",
					 policy_file__text(node));
	*name = strdup(policy_file__text(node));
	return *name ? 0 : dart_error__no_memory(yaml->error);
}

static int take_port(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, UINT16_MAX, into);
}

int policy_file__take_server(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "address", take_address, offsetof(struct policy_dartd, address) },
		{ "name", take_name, offsetof(struct policy_dartd, name) },
		{ "port", take_port, offsetof(struct policy_dartd, port) },
		{ "certificate", policy_file__take_path,
		  offsetof(struct policy_dartd, certificate) },
		{ "key", policy_file__take_path, offsetof(struct policy_dartd, key) },
		{ "authorities", policy_file__take_path,
		  offsetof(struct policy_dartd, authorities) },
		{ "revoked", policy_file__take_path, offsetof(struct policy_dartd, revoked) },
		{}
	};
	struct policy_dartd *dartd = into;
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, dartd);
	if (ret)
		return ret;
	if (!dartd->address)
		return dart_yaml__refuse(yaml, node, "a server has 'address'");
	if (!dartd->certificate != !dartd->key || !dartd->key != !dartd->authorities)
		return dart_yaml__refuse(
			yaml, node,
			"a server has 'certificate', 'key' and 'authorities', or none of these files (then those of dartctl tls are taken)");
	return 0;
}

int policy_file__complete_server(struct policy_dartd *dartd, struct dart_error *error)
{
	if (!dartd->address)
		return 0;
	if (!dartd->port)
		dartd->port = DART_RPC_TCP_PORT;
	if (!dartd->name)
		dartd->name = strdup(dartd->address);
	if (!dartd->certificate) {
		dartd->certificate = strdup(DART_TLS_FLOWS_CERTIFICATE);
		dartd->key = strdup(DART_TLS_FLOWS_KEY);
		dartd->authorities = strdup(DART_TLS_AUTHORITIES);
		if (!dartd->revoked)
			dartd->revoked = strdup(DART_TLS_REVOKED);
		if (!dartd->revoked)
			return dart_error__no_memory(error);
	}
	return dartd->name && dartd->certificate && dartd->key && dartd->authorities ?
		       0 :
		       dart_error__no_memory(error);
}
