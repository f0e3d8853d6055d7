// SPDX-License-Identifier: GPL-2.0-only
/* dartctl flow: the flows of dart-flows on this host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>

#include "tools/dartctl/cli/command.h"

#define FLOWS_SOCKET "/run/dart-flows/control.sock"
#define TOP_COUNT 20

/* ---- requests */

static int open_client(const struct options *options, struct dart_registration_client *client)
{
	const char *path = options->socket;
	struct dart_error error;
	int ret;

	if (!strcmp(path, DART_REGISTRATION_SOCKET))
		path = FLOWS_SOCKET;
	ret = dart_registration_client__open(client, path, &error);
	if (!ret)
		return EXIT_SUCCESS;
	return fail(
		-ret,
		"cannot reach dart-flows at %s: %s (start it with 'systemctl start dart-flows')",
		path, strerror(-ret));
}

/* @member of the reply, a borrowed reference into *@reply; NULL after a failure and its message. */
static json_t *ask(struct dart_registration_client *client, json_t *request, const char *member,
		   json_t **reply)
{
	struct dart_error error;
	json_t *result = NULL;
	int ret;

	*reply = NULL;
	if (!request) {
		fail(EINVAL, "out of memory, or a word is not UTF-8");
		return NULL;
	}
	ret = dart_registration_client__ask(client, request, -1, reply, NULL, &error);
	json_decref(request);
	if (!ret)
		result = json_object_get(*reply, member);
	if (result)
		return result;
	fail(ret ? -ret : EPROTO, "%s",
	     ret ? error.text : "dart-flows and dartctl are of different releases");
	json_decref(*reply);
	*reply = NULL;
	return NULL;
}

/* Asks once; a new reference. */
static json_t *ask_once(const struct options *options, json_t *request, const char *member)
{
	struct dart_registration_client client;
	json_t *reply, *result;

	if (open_client(options, &client)) {
		json_decref(request);
		return NULL;
	}
	result = json_incref(ask(&client, request, member, &reply));
	json_decref(reply);
	dart_registration_client__close(&client);
	return result;
}

/* All flows, a new reference; the daemon sends some at a time. */
static json_t *all_flows(const struct options *options)
{
	struct dart_registration_client client;
	json_t *flows = json_array(), *reply, *some;
	json_int_t place = 0;

	if (open_client(options, &client)) {
		json_decref(flows);
		return NULL;
	}
	do {
		some = ask(&client, json_pack("{s:s, s:I}", "request", "flow-list", "place", place),
			   "flows", &reply);
		if (!some || json_array_extend(flows, some)) {
			json_decref(flows);
			flows = NULL;
			break;
		}
		some = json_object_get(reply, "place");
		if (some && json_integer_value(some) <= place)
			some = NULL; /* it would never end */
		place = json_integer_value(some);
		json_decref(reply);
	} while (some);
	dart_registration_client__close(&client);
	return flows;
}

/* ---- list */

static const struct table_column columns[] = { TEXT_COLUMN("PROTOCOL", "protocol"),
					       TEXT_COLUMN("INSIDE", "inside"),
					       TEXT_COLUMN("OUTSIDE", "outside"),
					       TEXT_COLUMN("REMOTE", "remote"),
					       TEXT_COLUMN("STATE", "state"),
					       TEXT_COLUMN("CONNECTION", "connection"),
					       { "AGE", "age_s", true, table__age },
					       {} };

/* @flows: a reference that it takes */
static int print_flows(const struct options *options, json_t *flows)
{
	int status;

	if (!flows)
		return EXIT_FAILURE;
	if (options->json)
		return print_json(flows, 0);
	status = table__print_objects(flows, columns);
	json_decref(flows);
	return status;
}

struct wanted {
	const char *inside;
	long long count;
};

/* The address of "ADDRESS:PORT", or of "[ADDRESS]:PORT" with IPv6: its place and its length. */
static const char *address_of(const char *end, size_t *length)
{
	const bool has_brackets = *end == '[';

	*length = strcspn(end + has_brackets, has_brackets ? "]" : ":");
	return end + has_brackets;
}

static bool is_of(const char *end, const char *address)
{
	size_t length;
	const char *own = address_of(end, &length);

	return strlen(address) == length && !strncmp(own, address, length);
}

static int list(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = { OPTION_WORD("inside", struct wanted, inside),
						  {} };
	struct wanted wanted = {};
	json_t *flows, *flow;
	size_t i;

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (optind < argc)
		return misuse("'flow list' takes no operand '%s'", argv[optind]);
	flows = all_flows(options);
	for (i = json_array_size(flows); wanted.inside && i--;) {
		flow = json_array_get(flows, i);
		if (!is_of(json_string_value(json_object_get(flow, "inside")) ?: "", wanted.inside))
			json_array_remove(flows, i);
	}
	return print_flows(options, flows);
}

/* ---- show and end */

static int print_members(json_t *object, int depth)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		printf("%*s%-*s ", 2 * depth, "", 14 - 2 * depth, name);
		if (json_is_object(value)) {
			putchar('\n');
			if (print_members(value, depth + 1))
				return EXIT_FAILURE;
		} else if (print_scalar(value)) {
			return fail__out_of_memory();
		} else {
			putchar('\n');
		}
	}
	return EXIT_SUCCESS;
}

static int ask_about(const struct options *options, const char *request, char **argv)
{
	json_t *flow;

	flow = ask_once(options,
			json_pack("{s:s, s:s, s:s, s:s}", "request", request, "protocol", argv[0],
				  "inside", argv[1], "remote", argv[2]),
			"flow");
	if (flow && !options->json) {
		json_t *list = json_pack("[o]", flow);

		return list ? print_flows(options, list) : fail__out_of_memory();
	}
	return flow ? print_json(flow, 0) : EXIT_FAILURE;
}

static int show(const struct options *options, int argc, char **argv)
{
	json_t *state;
	int status;

	if (argc == 3)
		return ask_about(options, "flow-show", argv);
	if (argc)
		return misuse("'flow show' needs PROTOCOL INSIDE REMOTE, or nothing");
	state = ask_once(options, json_pack("{s:s}", "request", "flow-status"), "status");
	if (!state || options->json)
		return state ? print_json(state, 0) : EXIT_FAILURE;
	status = print_members(state, 0);
	json_decref(state);
	return status;
}

/* ---- servers */

static const struct table_column server_columns[] = { TEXT_COLUMN("PROTOCOL", "protocol"),
						      TEXT_COLUMN("SERVICE", "service"),
						      TEXT_COLUMN("SERVER", "server"),
						      NUMBER_COLUMN("WEIGHT", "weight"),
						      TEXT_COLUMN("STATE", "state"),
						      NUMBER_COLUMN("FLOWS", "flows"),
						      NUMBER_COLUMN("CHECKS", "checks"),
						      NUMBER_COLUMN("FAILURES", "failures"),
						      TEXT_COLUMN("REASON", "reason"),
						      {} };

static int servers(const struct options *options, int argc, char **argv)
{
	json_t *list;
	int status;

	list = ask_once(options, json_pack("{s:s}", "request", "flow-servers"), "servers");
	if (!list)
		return EXIT_FAILURE;
	if (options->json)
		return print_json(list, 0);
	status = table__print_objects(list, server_columns);
	json_decref(list);
	return status;
}

static int end(const struct options *options, int argc, char **argv)
{
	return ask_about(options, "flow-end", argv);
}

/* ---- top */

static const struct table_column top_columns[] = { TEXT_COLUMN("INSIDE", "inside"),
						   NUMBER_COLUMN("FLOWS", "flows"),
						   NUMBER_COLUMN("PORTS", "ports"),
						   {} };

static json_int_t number(const json_t *object, const char *member)
{
	return json_integer_value(json_object_get(object, member));
}

static int add(json_t *object, const char *member, json_int_t more)
{
	return json_object_set_new(object, member, json_integer(number(object, member) + more));
}

/* Counts the flow for its address inside, and its port once for all flows that have it. */
static int count_flow(json_t *hosts, json_t *ports, const json_t *flow)
{
	const char *inside, *outside, *protocol;
	char address[64], port[96];
	json_t *host;
	size_t length;

	if (json_unpack((json_t *)flow, "{s:s, s:s, s:s}", "inside", &inside, "outside", &outside,
			"protocol", &protocol))
		return fail(EPROTO, "a flow of dart-flows lacks its ends");
	inside = address_of(inside, &length);
	snprintf(address, sizeof(address), "%.*s", (int)length, inside);
	snprintf(port, sizeof(port), "%s %s", protocol, outside);
	host = json_object_get(hosts, address);
	if (!host) {
		host = json_pack("{s:s, s:i, s:i}", "inside", address, "flows", 0, "ports", 0);
		if (json_object_set_new(hosts, address, host))
			return fail__out_of_memory();
	}
	if (!json_object_get(ports, port) &&
	    (json_object_set_new(ports, port, json_true()) || add(host, "ports", 1)))
		return fail__out_of_memory();
	return add(host, "flows", 1) ? fail__out_of_memory() : EXIT_SUCCESS;
}

/* Most flows first. */
static int compare_hosts(const void *one, const void *other)
{
	json_t *const *a = one, *const *b = other;
	const json_int_t x = number(*a, "flows"), y = number(*b, "flows");

	return (x < y) - (x > y);
}

/* The @most first hosts; a new reference, NULL if out of memory. */
static json_t *first_hosts(json_t *hosts, size_t most)
{
	json_t **list = calloc(json_object_size(hosts) + 1, sizeof(json_t *));
	json_t *first = json_array(), *host;
	size_t count = 0, i;
	const char *name;

	if (!list) {
		json_decref(first);
		return NULL;
	}
	json_object_foreach(hosts, name, host)
		list[count++] = host;
	qsort(list, count, sizeof(*list), compare_hosts);
	for (i = 0; i < count && i < most; i++)
		json_array_append(first, list[i]);
	free(list);
	return first;
}

static int print_top(const struct options *options, const json_t *flows, size_t most)
{
	json_t *hosts = json_object(), *ports = json_object(), *first = NULL;
	int status = EXIT_SUCCESS;
	size_t i;

	for (i = 0; !status && i < json_array_size(flows); i++)
		status = count_flow(hosts, ports, json_array_get(flows, i));
	if (!status) {
		first = first_hosts(hosts, most);
		status = !first	       ? fail__out_of_memory() :
			 options->json ? print_json(json_incref(first), 0) :
					 table__print_objects(first, top_columns);
	}
	json_decref(first);
	json_decref(hosts);
	json_decref(ports);
	return status;
}

static int top(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = {
		OPTION_NUMBER("count", struct wanted, count, 1, 1000000), {}
	};
	struct wanted wanted = { .count = TOP_COUNT };
	json_t *flows;
	int status;

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (optind < argc)
		return misuse("'flow top' takes no operand '%s'", argv[optind]);
	flows = all_flows(options);
	if (!flows)
		return EXIT_FAILURE;
	status = print_top(options, flows, wanted.count);
	json_decref(flows);
	return status;
}

const struct command flow_commands[] = {
	{ "list", "[--inside ADDRESS]", "list the flows of dart-flows", .parse = list },
	{ "show", "[PROTOCOL INSIDE REMOTE]", "print a flow, or the state of dart-flows",
	  .run = show, .most = 3 },
	{ "end", "PROTOCOL INSIDE REMOTE", "remove a flow from the table, and free its port",
	  .run = end, .least = 3, .most = 3 },
	{ "servers", NULL, "list the servers of a balancer, with their states", .run = servers },
	{ "top", "[--count N]", "list the hosts inside with the most flows", .parse = top },
	{}
};
