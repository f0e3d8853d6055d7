// SPDX-License-Identifier: GPL-2.0-only
/* Checks a policy, and the interface, the table and the daemon that it needs: see doctor.h. */
#include "doctor.h"

#include <dart/registration.h>
#include <errno.h>
#include <libdart/registration/client.h>
#include <libdart/rpc/client.h>
#include <libdart/rpc/lookups.h>
#include <libdart/tea/tea_lookup.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/doctor/certificate.h"
#include "tools/doctor/findings.h"
#include "tools/flows/function/function.h"
#include "tools/flows/packet/port.h"

/* For dartd on another host. */
#define PATIENCE_MS 5000

/* Lengths of keys and values: the schemas in schemas/. */
struct schema {
	const char *name;
	uint64_t key_length, value_length;
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
	[POLICY_GATEWAY] = { "gateway6", 7, 19 },
};

static const struct schema *schema_of(const struct policy *policy)
{
	return &(policy->has_ipv6 ? schemas_6 : schemas)[policy->function];
}

/* ---- this process and the interface */

/* As the daemon gets it: with CAP_NET_ADMIN, as in its unit, all of it. */
static void check_queue(struct findings *findings, int fd)
{
	const int given = port__widen(fd);

	if (given >= PORT_QUEUE) {
		findings__ok(findings, "queue", "the queue of the port takes %d KiB", given >> 10);
		return;
	}
	findings__warn(findings, "queue",
		       "the queue of the port takes %d of %d KiB: while the daemon is busy, more "
		       "packets are lost and counted as overrun",
		       given >> 10, PORT_QUEUE >> 10);
	findings__advise(findings, "dart-flows needs CAP_NET_ADMIN, as in its unit");
	findings__command(findings, "sysctl -w net.core.rmem_max=%d", PORT_QUEUE);
}

static void check_capability(struct findings *findings)
{
	const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		findings__ok(findings, "capability", "a packet socket can be opened");
		check_queue(findings, fd);
		close(fd);
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

/* @user: for whom dartd changes it; NULL: for a caller from another host. */
static void examine_table(struct findings *findings, const struct policy *policy,
			  uint64_t rows_log2, uint64_t cells, uint64_t key, uint64_t value,
			  const char *user)
{
	const struct schema *schema = schema_of(policy);

	if (rows_log2 > DART_TEA_ROWS_LOG2_MAX || cells > DART_TEA_CELLS_MAX) {
		findings__fail(findings, "table", "cannot understand dartd's table '%s'",
			       policy->table);
		findings__advise(findings, "install dartd and dart-flows of the same release");
	} else if (key != schema->key_length || value != schema->value_length) {
		findings__fail(findings, "table",
			       "the table '%s' has keys of %llu bytes and values of %llu, not "
			       "%llu and %llu",
			       policy->table, (unsigned long long)key, (unsigned long long)value,
			       (unsigned long long)schema->key_length,
			       (unsigned long long)schema->value_length);
		findings__advise(findings,
				 "'dartctl table remove', or another 'table' in the policy, and "
				 "then 'dartctl table create' with --schema %s",
				 schema->name);
	} else if (cells << rows_log2 < entries_of(policy)) {
		findings__warn(findings, "table",
			       "the table '%s' has %llu places for up to %llu entries: dart-flows "
			       "itself handles the flows beyond them",
			       policy->table, (unsigned long long)(cells << rows_log2),
			       entries_of(policy));
		findings__advise(findings, "create a larger table%s",
				 policy->function == POLICY_GATEWAY ?
					 "" :
					 ", or lower 'flows' in the policy");
	} else if (user && strcmp(user, DART_REGISTRATION_TABLE_USER)) {
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

static void examine_description(struct findings *findings, const struct policy *policy,
				const json_t *table)
{
	json_int_t rows_log2 = -1, cells = -1, key = -1, value = -1;
	const char *user = NULL;

	/* What is not understood is beyond all bounds. */
	json_unpack((json_t *)table, "{s:I, s:I, s:I, s:I, s:s}", "rows_log2", &rows_log2, "cells",
		    &cells, "key_length", &key, "value_length", &value, "user", &user);
	examine_table(findings, policy, user ? rows_log2 : -1, cells, key, value, user);
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
		examine_description(findings, policy, json_object_get(reply, "table"));
	}
	if (request)
		json_decref(reply);
	dart_registration_client__close(&client);
}

/* ---- the table of a dartd on another host */

/* Waits for an event of the client.  Returns it; NOTHING if none comes in time. */
static enum dart_rpc_client_event await(struct dart_rpc_client *client, struct dart_error *error)
{
	enum dart_rpc_client_event event = DART_RPC_CLIENT_NOTHING;
	struct pollfd descriptors[2];
	unsigned int count;

	while (event == DART_RPC_CLIENT_NOTHING) {
		count = dart_rpc_client__wait(client, descriptors);
		if (poll(descriptors, count, PATIENCE_MS) < 1) {
			dart_error__set(error, ETIMEDOUT, "no answer within %d s",
					PATIENCE_MS / 1000);
			break;
		}
		event = dart_rpc_client__on_ready(client, error);
	}
	return event;
}

static void ask_server(struct findings *findings, const struct policy *policy,
		       struct dart_rpc_client *client)
{
	static uint8_t answer[DART_RPC_LOOKUPS_LENGTH_MAX];
	struct dart_rpc_lookups_values values;
	struct dart_rpc_lookups_wanted wanted = {};
	enum dart_rpc_client_event event;
	struct dart_error error = {};

	if (await(client, &error) != DART_RPC_CLIENT_CONNECTED) {
		findings__fail(findings, "dartd", "cannot call dartd at %s: %s",
			       policy->server.address, error.text);
		findings__advise(findings,
				 "see 'dartctl doctor' there, and 'tcp' and 'allow: callers' in "
				 "its configuration");
		return;
	}
	findings__ok(findings, "dartd", "dartd answers at %s", policy->server.address);
	memcpy(wanted.table, policy->table, strlen(policy->table));
	if (dart_rpc_client__get_lookups(client, &wanted, answer, &error))
		event = DART_RPC_CLIENT_DISCONNECTED;
	else
		event = await(client, &error);
	if (event == DART_RPC_CLIENT_ANSWERED &&
	    !dart_rpc_lookups__decode(answer, dart_rpc_client__length(client), 0, &values,
				      &error)) {
		examine_table(findings, policy, values.rows_log2, values.cells, values.key_length,
			      values.value_length, NULL);
		return;
	}
	findings__fail(findings, "table", "%s", error.text);
	if (event == DART_RPC_CLIENT_NOT_FOUND)
		advise_table(findings, policy);
	else
		findings__advise(findings,
				 "name a name of this host's certificate in 'tcp: tables' of the "
				 "configuration of dartd there");
}

static void check_server(struct findings *findings, const struct policy *policy)
{
	const struct policy_dartd *server = &policy->server;
	const struct dart_tls_files files = { server->certificate, server->key,
					      server->authorities, server->revoked };
	struct dart_rpc_client *client = NULL;
	struct dart_error error;
	struct dart_tls *tls;

	if (dart_tls__load(&files, &tls, &error)) {
		findings__fail(findings, "certificate", "%s", error.text);
		findings__advise(findings,
				 "'dartctl tls create flows' makes the files, 'dartctl tls install' "
				 "puts them here");
		return;
	}
	check_certificate(findings, server->certificate);
	if (dart_rpc_client__connect_tcp(server->address, server->port, tls, server->name, &client,
					 &error)) {
		findings__fail(findings, "dartd", "cannot call dartd at %s: %s", server->address,
			       error.text);
		findings__advise(findings, "see why this host does not reach it");
	} else {
		ask_server(findings, policy, client);
	}
	dart_rpc_client__free(client);
	dart_tls__put(tls);
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
	if (policy.server.address)
		check_server(&findings, &policy);
	else
		check_table(&findings, &policy);
	check_daemon(&findings, control);
	policy__clear(&policy);
	return findings__close(&findings);
}
