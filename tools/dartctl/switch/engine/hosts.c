// SPDX-License-Identifier: GPL-2.0-only
/* Ports and numbers of the hosts that a switch sends to, see hosts.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hosts.h"
#include "tools/dartctl/cli/command.h"

const struct switch_table switch_session = {
	.key_bits = 16,
	.value_count = 1,
	.values = { { "port", 16, SWITCH_DECIMAL } },
};

const struct switch_table switch_psn = {
	.key_bits = 8,
	.value_count = 1,
	.values = { { "first_psn", 24, SWITCH_DECIMAL } },
};

/* ---- ports */

int switch_ports__take(void *member, const char *text)
{
	struct switch_ports *ports = member;
	struct in_addr host = { INADDR_ANY };
	const char *equals = strchr(text, '=');
	char address[INET_ADDRSTRLEN];
	long long port;
	uint32_t i;

	if (equals) {
		snprintf(address, sizeof(address), "%.*s", (int)(equals - text), text);
		if (inet_pton(AF_INET, address, &host) != 1 || host.s_addr == INADDR_ANY)
			return misuse(
				"'%s' is not ADDRESS=PORT with the IPv4 address of a collector or server",
				text);
	}
	port = options__number(equals ? equals + 1 : text, SWITCH_PORTS - 1);
	if (port < 0)
		return misuse("'%s' is not a port of a switch, 0 to %d", text, SWITCH_PORTS - 1);
	for (i = 0; i < ports->count; i++)
		if (ports->list[i].host.s_addr == host.s_addr)
			return misuse("--port %s: this host has a port already", text);
	if (i == SWITCH_HOSTS_MAX + 1)
		return misuse("--port is given more than %d times", SWITCH_HOSTS_MAX + 1);
	ports->list[i].host = host;
	ports->list[i].port = port;
	ports->count++;
	return 0;
}

/* Writes the port that leads to @host to @result; returns false if there is none. */
static bool find_port(const struct switch_ports *ports, struct in_addr host, uint16_t *result)
{
	bool is_found = false;
	uint32_t i;

	for (i = 0; i < ports->count; i++) {
		if (ports->list[i].host.s_addr != host.s_addr &&
		    ports->list[i].host.s_addr != INADDR_ANY)
			continue;
		*result = ports->list[i].port;
		is_found = true;
		if (ports->list[i].host.s_addr == host.s_addr)
			break;
	}
	return is_found;
}

static bool is_host(const struct switch_hosts *hosts, struct in_addr address)
{
	uint32_t i;

	for (i = 0; i < hosts->count; i++)
		if (hosts->addresses[i].s_addr == address.s_addr)
			return true;
	return address.s_addr == INADDR_ANY;
}

int switch_ports__assign(const struct switch_ports *ports, const struct switch_hosts *hosts,
			 uint16_t *result, struct dart_error *error)
{
	char address[INET_ADDRSTRLEN];
	uint32_t i;

	for (i = 0; i < ports->count; i++) {
		if (is_host(hosts, ports->list[i].host))
			continue;
		inet_ntop(AF_INET, &ports->list[i].host, address, sizeof(address));
		return dart_error__set(error, EINVAL, "--port names %s, which is not a %s%s",
				       address, hosts->noun, hosts->place);
	}
	for (i = 0; i < hosts->count; i++) {
		if (find_port(ports, hosts->addresses[i], &result[i]))
			continue;
		inet_ntop(AF_INET, &hosts->addresses[i], address, sizeof(address));
		return dart_error__set(error, EINVAL,
				       "%s %s has no port (give one with --port %s=PORT)",
				       hosts->noun, address, address);
	}
	return 0;
}

/* ---- numbers */

#define NO_NUMBER UINT8_MAX

struct numbering {
	const struct switch_entry *entries;
	const void *hosts;
	switch_is_host *is_host;
	uint8_t *numbers; /* of each host */
	bool taken[SWITCH_HOSTS_MAX];
};

/* Rules for the number of a host, the best one first. */
static bool is_its_own(const struct numbering *numbering, uint32_t host, uint32_t number)
{
	const struct switch_entry *entry = &numbering->entries[number];

	return entry->there && numbering->is_host(numbering->hosts, host, entry);
}

static bool is_unused(const struct numbering *numbering, uint32_t host, uint32_t number)
{
	return !numbering->entries[number].there;
}

static bool is_any(const struct numbering *numbering, uint32_t host, uint32_t number)
{
	return true;
}

static void give(struct numbering *numbering, uint32_t count,
		 bool (*may)(const struct numbering *numbering, uint32_t host, uint32_t number))
{
	uint32_t host, number;

	for (host = 0; host < count; host++) {
		if (numbering->numbers[host] != NO_NUMBER)
			continue;
		for (number = 0; number < SWITCH_HOSTS_MAX; number++)
			if (!numbering->taken[number] && may(numbering, host, number))
				break;
		if (number == SWITCH_HOSTS_MAX)
			continue;
		numbering->taken[number] = true;
		numbering->numbers[host] = number;
	}
}

void switch_hosts__number(const struct switch_entry entries[SWITCH_HOSTS_MAX], const void *hosts,
			  uint32_t count, switch_is_host *is_host, uint8_t *numbers)
{
	struct numbering numbering = {
		.entries = entries,
		.hosts = hosts,
		.is_host = is_host,
		.numbers = numbers,
	};

	memset(numbers, NO_NUMBER, count);
	give(&numbering, count, is_its_own);
	give(&numbering, count, is_unused);
	give(&numbering, count, is_any);
}
