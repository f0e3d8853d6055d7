// SPDX-License-Identifier: GPL-2.0-only
/* Checks a policy, and the interface, the table and the daemon that it needs: see doctor.h. */
#include "doctor.h"

#include <dart/registration.h>
#include <errno.h>
#include <libdart/registration/client.h>
#include <libdart/tea/tea_lookup.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/doctor/findings.h"
#include "tools/flows/function/function.h"

/* Lengths of keys and values: the schemas in schemas/. */
struct schema {
	const char *name;
	json_int_t key_length, value_length;
};

static const struct schema schemas[POLICY_FUNCTIONS] = {
	[POLICY_NAT] = { "nat", FLOW_KEY_LENGTH, FLOW_NAT_LENGTH },
	[POLICY_FIREWALL] = { "firewall", FLOW_KEY_LENGTH, 1 },
	[POLICY_BALANCER] = { "nat", FLOW_KEY_LENGTH, FLOW_NAT_LENGTH },
	[POLICY_GATEWAY] = { "gateway", 7, 7 },
};
/* With addresses of both families. */
static const struct schema schemas_6[POLICY_FUNCTIONS] = {
	[POLICY_FIREWALL] = { "firewall6", FLOW_KEY_LENGTH_6, 1 },
	[POLICY_BALANCER] = { "nat6", FLOW_KEY_LENGTH_6, FLOW_NAT_LENGTH_6 },
};

static const struct schema *schema_of(const struct policy *policy)
{
	return &(policy->has_ipv6 ? schemas_6 : schemas)[policy->function];
}

/* ---- this process and the interface */

static void check_capability(struct findings *findings)
{
	const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		close(fd);
		findings__ok(findings, "capability", "a packet socket can be opened");
		return;
	}
	findings__fail(findings, "capability", "cannot open a packet socket: %s",
		       strerrordesc_np(errno));
	findings__advise(findings, "dart-flows needs CAP_NET_RAW, as in its unit");
}

static bool is_joining(int fd, const char *interface)
{
	struct ethtool_value gro = { .cmd = ETHTOOL_GGRO };
	struct ifreq request = { .ifr_data = (char *)&gro };

	strcpy(request.ifr_name, interface);
	return !ioctl(fd, SIOCETHTOOL, &request) && gro.data;
}

static void examine_interface(struct findings *findings, int fd, const char *interface)
{
	struct ifreq request = {};

	strcpy(request.ifr_name, interface);
	if (ioctl(fd, SIOCGIFFLAGS, &request)) {
		findings__fail(findings, "interface", "cannot use the interface '%s': %s",
			       interface, strerrordesc_np(errno));
		findings__advise(findings, "name the port of the switch as 'interface' (ip link)");
	} else if (!(request.ifr_flags & IFF_UP)) {
		findings__fail(findings, "interface", "the interface '%s' is down", interface);
		findings__command(findings, "ip link set %s up", interface);
	} else if (!ioctl(fd, SIOCGIFADDR, &request)) {
		findings__warn(findings, "interface",
			       "the interface '%s' has an IPv4 address: this host may answer "
			       "packets of the switch itself",
			       interface);
		findings__command(findings, "ip address flush dev %s", interface);
	} else if (is_joining(fd, interface)) {
		findings__warn(findings, "interface",
			       "the interface '%s' joins packets (gro), which are too long to be "
			       "sent then",
			       interface);
		findings__command(findings, "ethtool -K %s gro off", interface);
	} else {
		findings__ok(findings, "interface", "the interface '%s' is up", interface);
	}
}

static void check_interface(struct findings *findings, const char *interface)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		findings__fail(findings, "interface", "cannot open a socket: %s",
			       strerrordesc_np(errno));
		findings__advise(findings, "see why this process has no sockets");
		return;
	}
	examine_interface(findings, fd, interface);
	close(fd);
}

/* ---- dartd and its table */

/* Entries that the table may have to take. */
static unsigned long long entries_of(const struct policy *policy)
{
	if (policy->function != POLICY_GATEWAY)
		return 2 * (unsigned long long)policy->flows;
	return policy->machine_count ?: 1;
}

static void advise_table(struct findings *findings, const struct policy *policy)
{
	findings__command(findings, "dartctl table create %s --schema %s --entries %llu",
			  policy->table, schema_of(policy)->name, entries_of(policy));
}

static void examine_table(struct findings *findings, const struct policy *policy,
			  const json_t *reply)
{
	const struct schema *schema = schema_of(policy);
	json_int_t rows_log2, cells, key, value;
	const char *user;

	if (json_unpack((json_t *)json_object_get(reply, "table"), "{s:I, s:I, s:I, s:I, s:s}",
			"rows_log2", &rows_log2, "cells", &cells, "key_length", &key,
			"value_length", &value, "user", &user) ||
	    rows_log2 < 0 || rows_log2 > DART_TEA_ROWS_LOG2_MAX || cells < 0 ||
	    cells > DART_TEA_CELLS_MAX) {
		findings__fail(findings, "table", "cannot understand dartd's table '%s'",
			       policy->table);
		findings__advise(findings, "install dartd and dart-flows of the same release");
	} else if (key != schema->key_length || value != schema->value_length) {
		findings__fail(findings, "table",
			       "the table '%s' has keys of %lld bytes and values of %lld, not "
			       "%lld and %lld",
			       policy->table, (long long)key, (long long)value,
			       (long long)schema->key_length, (long long)schema->value_length);
		findings__advise(findings,
				 "'dartctl table remove', or another 'table' in the policy, and "
				 "then 'dartctl table create' with --schema %s",
				 schema->name);
	} else if ((uint64_t)cells << rows_log2 < entries_of(policy)) {
		findings__warn(findings, "table",
			       "the table '%s' has %llu places for up to %llu entries: dart-flows "
			       "itself handles the flows beyond them",
			       policy->table, (unsigned long long)cells << rows_log2,
			       entries_of(policy));
		findings__advise(findings, "create a larger table%s",
				 policy->function == POLICY_GATEWAY ?
					 "" :
					 ", or lower 'flows' in the policy");
	} else if (strcmp(user, DART_REGISTRATION_TABLE_USER)) {
		findings__warn(
			findings, "table",
			"the table '%s' is changed for user '%s', not for %s, the user of the "
			"service",
			policy->table, user, DART_REGISTRATION_TABLE_USER);
		findings__advise(findings, "create it without --user, or run dart-flows as '%s'",
				 user);
	} else {
		findings__ok(findings, "table", "the table '%s' fits the policy", policy->table);
	}
}

static void check_table(struct findings *findings, const struct policy *policy)
{
	struct dart_registration_client client;
	struct dart_error error;
	json_t *request, *reply;
	int ret;

	ret = dart_registration_client__open(&client, policy->dartd, &error);
	if (ret) {
		findings__fail(findings, "dartd", "cannot reach dartd at %s: %s", policy->dartd,
			       strerrordesc_np(-ret));
		findings__command(findings, "systemctl start dartd");
		return;
	}
	findings__ok(findings, "dartd", "dartd answers at %s", policy->dartd);
	request = json_pack("{s:s, s:s}", "request", "table-open", "name", policy->table);
	ret = request ? dart_registration_client__ask(&client, request, -1, &reply, NULL, &error) :
			dart_error__set(&error, EINVAL, "the name of the table is not UTF-8");
	json_decref(request);
	if (ret) {
		findings__fail(findings, "table", "%s", error.text);
		advise_table(findings, policy);
	} else {
		examine_table(findings, policy, reply);
	}
	if (request)
		json_decref(reply);
	dart_registration_client__close(&client);
}

/* ---- the daemon */

static void check_daemon(struct findings *findings, const char *control)
{
	struct dart_registration_client client;
	struct dart_error error;
	int ret;

	ret = dart_registration_client__open(&client, control, &error);
	if (ret) {
		findings__warn(findings, "daemon", "no dart-flows answers at %s: %s", control,
			       strerrordesc_np(-ret));
		findings__command(findings, "systemctl start dart-flows");
		return;
	}
	findings__ok(findings, "daemon", "dart-flows answers at %s", control);
	dart_registration_client__close(&client);
}

int doctor__run(const char *path, const char *control, bool as_json)
{
	struct findings findings;
	struct dart_error error;
	struct policy policy;

	findings__open(&findings, as_json);
	if (policy__read(&policy, path, &error)) {
		findings__fail(&findings, "policy", "%s", error.text);
		findings__advise(&findings, "correct it: see dart-flows.yaml(5)");
		return findings__close(&findings);
	}
	findings__ok(&findings, "policy", "%s is valid, with 'function: %s'", path,
		     policy_function_names[policy.function]);
	check_capability(&findings);
	check_interface(&findings, policy.interface);
	check_table(&findings, &policy);
	check_daemon(&findings, control);
	policy__clear(&policy);
	return findings__close(&findings);
}
