// SPDX-License-Identifier: GPL-2.0-only
/* Tenants and their machines, which a gateway reads from a file of their own. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy_file.h"

/* For as many machines as there may be, of seven nodes each. */
static const struct dart_yaml_bounds bounds = { .bytes = 16 << 20, .nodes = 600000 };

static int take_vni(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint64_t number = 0;
	int ret;

	ret = policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, 0, TUNNEL_VNI_MAX,
					 &number);
	*(uint32_t *)into = number;
	return ret;
}

/* ---- machines */

#define NO_VNI UINT32_MAX

struct tenant {
	struct policy *policy;
	struct policy_tenant tenant;
	const yaml_node_t *machines;
};

static int take_server(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	address_t *address = into;

	if (address__parse(policy_file__text(node), address) && address__is_unicast(*address))
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is not the address of a host",
				 policy_file__text(node));
}

static int take_machine(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "address", policy_file__take_ipv4, offsetof(struct policy_machine, address) },
		{ "server", take_server, offsetof(struct policy_machine, server) },
		{ "vni", take_vni, offsetof(struct policy_machine, vni) },
		{}
	};
	struct policy_machine machine = { .vni = NO_VNI };
	const struct tenant *tenant = into;
	struct policy *policy = tenant->policy;
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &machine);
	if (ret)
		return ret;
	if (!machine.address || !machine.server)
		return dart_yaml__refuse(yaml, node, "a machine has 'address' and 'server'");
	if (!address__is_ipv4(machine.server) && !policy->has_ipv6)
		return dart_yaml__refuse(yaml, node,
					 "a server with an address of IPv6 needs 'families: both' in "
					 "the policy");
	if (machine.address == tenant->tenant.gateway.address)
		return dart_yaml__refuse(yaml, node, "a machine has the address of its gateway");
	if (!policy__route(policy, machine.server))
		return dart_yaml__refuse(
			yaml, node,
			"the server of a machine is in no prefix of the 'routes' of the policy");
	if (machine.vni == NO_VNI)
		machine.vni = tenant->tenant.vni;
	ret = policy_file__grow(yaml, node, &policy->machines, sizeof(machine),
				policy->machine_count, 1, POLICY_MACHINES_MAX);
	if (!ret)
		policy->machines[policy->machine_count++] = machine;
	return ret;
}

static int compare_machines(const void *one, const void *other)
{
	const struct policy_machine *a = one, *b = other;

	return (a->address > b->address) - (a->address < b->address);
}

static int check_machines(struct dart_yaml *yaml, const yaml_node_t *node,
			  const struct policy_tenant *tenant, struct policy_machine *machines)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr address;
	size_t i;

	if (!tenant->machine_count)
		return 0;
	qsort(machines, tenant->machine_count, sizeof(*machines), compare_machines);
	for (i = 1; i < tenant->machine_count; i++) {
		if (machines[i - 1].address != machines[i].address)
			continue;
		address.s_addr = htonl(machines[i].address);
		return dart_yaml__refuse(yaml, node, "two machines of a tenant have the address %s",
					 inet_ntop(AF_INET, &address, text, sizeof(text)));
	}
	return 0;
}

/* ---- tenants */

static int take_ipv6(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct tenant *tenant = into;

	if (!address__parse(policy_file__text(node), &tenant->tenant.ipv6) ||
	    address__is_ipv4(tenant->tenant.ipv6) || tenant->tenant.ipv6 >> 120 == 0xff)
		return dart_yaml__refuse(yaml, node, "'%s' is not the IPv6 address of a host",
					 policy_file__text(node));
	return 0;
}

static int take_machines(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct tenant *tenant = into;

	tenant->machines = node;
	return 0;
}

static int add_tenant(struct dart_yaml *yaml, const yaml_node_t *node, struct tenant *tenant)
{
	struct policy *policy = tenant->policy;
	size_t i;
	int ret;

	tenant->tenant.first_machine = policy->machine_count;
	ret = tenant->machines ?
		      dart_yaml__take_list(yaml, tenant->machines, take_machine, tenant) :
		      0;
	tenant->tenant.machine_count = policy->machine_count - tenant->tenant.first_machine;
	ret = ret   ?:
		      check_machines(yaml, node, &tenant->tenant,
				     policy->machines + tenant->tenant.first_machine);
	ret = ret   ?:
		      policy_file__grow(yaml, node, &policy->tenants, sizeof(*policy->tenants),
					policy->tenant_count, 1, POLICY_TENANTS_MAX);
	if (ret)
		return ret;
	for (i = policy->tenant_count++; i && policy->tenants[i - 1].vni > tenant->tenant.vni; i--)
		policy->tenants[i] = policy->tenants[i - 1];
	policy->tenants[i] = tenant->tenant;
	return 0;
}

static int take_tenant(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "vni", take_vni, offsetof(struct tenant, tenant.vni) },
		{ "gateway", policy_file__take_ipv4,
		  offsetof(struct tenant, tenant.gateway.address) },
		{ "gateway6", take_ipv6, 0 },
		{ "mac", policy_file__take_mac, offsetof(struct tenant, tenant.gateway.mac) },
		{ "machines", take_machines, 0 },
		{}
	};
	static const uint8_t none[PACKET_MAC_LENGTH];
	struct tenant tenant = { .policy = into, .tenant.vni = NO_VNI };
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &tenant);
	if (ret)
		return ret;
	if (tenant.tenant.vni == NO_VNI)
		return dart_yaml__refuse(yaml, node, "a tenant without 'vni'");
	if (policy__find_tenant(tenant.policy, tenant.tenant.vni))
		return dart_yaml__refuse(yaml, node, "two tenants have the VNI %" PRIu32,
					 tenant.tenant.vni);
	if ((tenant.tenant.gateway.address || tenant.tenant.ipv6) &&
	    !memcmp(tenant.tenant.gateway.mac, none, sizeof(none)))
		return dart_yaml__refuse(yaml, node,
					 "a tenant with 'gateway' or 'gateway6', but no 'mac'");
	return add_tenant(yaml, node, &tenant);
}

static int take_tenants(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_tenant, into);
}

/* ---- the file */

static int take(struct policy *policy, struct dart_yaml *yaml, const yaml_node_t *root,
		struct dart_error *error)
{
	static const struct dart_yaml_member members[] = { { "tenants", take_tenants, 0 }, {} };
	int ret;

	if (!root)
		return 0; /* tenants may still come */
	ret = dart_yaml__take_mapping(yaml, root, members, policy);
	if (!ret && policy->machine_count > policy->flows)
		return dart_error__set(error, EINVAL,
				       "%s: %zu machines are more than the 'flows' of the policy",
				       yaml->path, policy->machine_count);
	return ret;
}

int policy__parse_tunnels(struct policy *policy, const void *bytes, size_t length, const char *path,
			  struct dart_error *error)
{
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret;

	ret = dart_yaml__parse(&yaml, bytes, length, path, &root, error);
	if (!ret) {
		ret = take(policy, &yaml, root, error);
		dart_yaml__close(&yaml);
	}
	if (ret)
		policy__clear(policy);
	return ret;
}

int policy_file__read_tunnels(struct policy *policy, struct dart_error *error)
{
	const yaml_node_t *root;
	struct dart_yaml yaml;
	FILE *file;
	int ret;

	file = fopen(policy->tunnels, "re");
	if (!file)
		return dart_error__system(error, errno, "cannot open '%s'", policy->tunnels);
	ret = dart_yaml__load(&yaml, file, policy->tunnels, &bounds, &root, error);
	fclose(file);
	if (ret)
		return ret;
	ret = take(policy, &yaml, root, error);
	dart_yaml__close(&yaml);
	return ret;
}

int policy_file__check_gateway(struct policy *policy, struct dart_yaml *yaml,
			       const yaml_node_t *root)
{
	if (*policy->interface && *policy->table && policy->tunnels && policy->route_count)
		return 0;
	return dart_yaml__refuse(
		yaml, root,
		"a policy of a gateway has 'interface', 'table', 'tunnels' and 'routes'");
}
