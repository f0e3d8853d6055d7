// SPDX-License-Identifier: GPL-2.0-only
/* The wish for a switch, from the command line and files of collectors. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"
#include "wish.h"

#define VALUE	20	/* bytes: five switches of 32 bits */

int switch_options__take_reporter(struct switch_options *options,
				  const char *text)
{
	if (inet_pton(AF_INET, text, &options->reporter) != 1 ||
	    options->reporter.s_addr == INADDR_ANY)
		return misuse("'%s' is not an IPv4 address of a reporter",
			      text);
	return 0;
}

int switch_options__take_port(struct switch_options *options,
			      const char *text)
{
	struct in_addr collector = { INADDR_ANY };
	const char *equals = strchr(text, '=');
	char address[INET_ADDRSTRLEN];
	long long port;
	uint32_t i;

	if (equals) {
		snprintf(address, sizeof(address), "%.*s", (int)(equals - text),
			 text);
		if (inet_pton(AF_INET, address, &collector) != 1 ||
		    collector.s_addr == INADDR_ANY)
			return misuse(
				"'%s' is not ADDRESS=PORT with the IPv4 address of a collector or server",
				text);
	}
	port = options__number(equals ? equals + 1 : text, SWITCH_PORTS - 1);
	if (port < 0)
		return misuse("'%s' is not a port of a switch, 0 to %d", text,
			      SWITCH_PORTS - 1);
	for (i = 0; i < options->port_count; i++)
		if (options->ports[i].collector.s_addr == collector.s_addr)
			return misuse(
				"--port %s: this host has a port already",
				text);
	if (i == SWITCH_COLLECTORS_MAX + 1)
		return misuse("--port is given more than %d times",
			      SWITCH_COLLECTORS_MAX + 1);
	options->ports[i].collector = collector;
	options->ports[i].port = port;
	options->port_count++;
	return 0;
}

uint16_t switch_options__port(const struct switch_options *options,
			      struct in_addr collector)
{
	uint16_t port = SWITCH_NO_PORT;
	uint32_t i;

	for (i = 0; i < options->port_count; i++) {
		if (options->ports[i].collector.s_addr == collector.s_addr)
			return options->ports[i].port;
		if (options->ports[i].collector.s_addr == INADDR_ANY)
			port = options->ports[i].port;
	}
	return port;
}

static bool has_collector(const struct dart_collectors *collectors,
			  struct in_addr address)
{
	uint32_t i;

	for (i = 0; i < collectors->count; i++)
		if (collectors->list[i].ip.s_addr == address.s_addr)
			return true;
	return address.s_addr == INADDR_ANY;
}

/* Each --port must name a collector, and each collector must have a port. */
static int take_ports(struct switch_wish *wish,
		      const struct switch_options *options,
		      struct dart_error *error)
{
	const struct dart_collectors *collectors = &wish->collectors;
	char address[INET_ADDRSTRLEN];
	struct in_addr collector;
	uint32_t i;

	for (i = 0; i < options->port_count; i++) {
		collector = options->ports[i].collector;
		if (has_collector(collectors, collector))
			continue;
		inet_ntop(AF_INET, &collector, address, sizeof(address));
		return dart_error__set(
			error, EINVAL,
			"--port names %s, which is not a collector", address);
	}
	for (i = 0; i < collectors->count; i++) {
		collector = collectors->list[i].ip;
		wish->ports[i] = switch_options__port(options, collector);
		if (wish->ports[i] != SWITCH_NO_PORT)
			continue;
		inet_ntop(AF_INET, &collector, address, sizeof(address));
		return dart_error__set(
			error, EINVAL,
			"collector %s has no port (give one with --port %s=PORT)",
			address, address);
	}
	return 0;
}

int switch_wish__complete(struct switch_wish *wish,
			  const struct switch_options *options,
			  struct dart_error *error)
{
	const struct dart_collectors *collectors = &wish->collectors;
	uint32_t length = collectors->list[0].geometry.value_length;

	if (collectors->count > SWITCH_COLLECTORS_MAX)
		return dart_error__set(
			error, EINVAL,
			"there are %u collectors, but a switch has room for %d",
			collectors->count, SWITCH_COLLECTORS_MAX);
	if (length != VALUE)
		return dart_error__set(
			error, EINVAL,
			"the store has values of %u bytes, but paths and postcards have %d (dartctl store create --value %d)",
			length, VALUE, VALUE);
	wish->all_copies = options->all_copies;
	return take_ports(wish, options, error);
}
