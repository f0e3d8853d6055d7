/* SPDX-License-Identifier: GPL-2.0-only */
/* The hosts that a switch sends to: the ports that lead to them, and their numbers. */
#ifndef SWITCH_HOSTS_H
#define SWITCH_HOSTS_H

#include <netinet/in.h>

#include <libdart/error.h>

#include "tools/dartctl/switch/bmv2/entry.h"

#define SWITCH_HOSTS_MAX 64
#define SWITCH_PORTS 511 /* port 511 drops */

/* The values of objects that are not entries of tables: a mirror session, and the PSN of a host. */
extern const struct switch_table switch_session, switch_psn;

/* The ports that the command line names. */
struct switch_ports {
	uint32_t count;
	struct {
		struct in_addr host; /* INADDR_ANY: all others */
		uint16_t port;
	} list[SWITCH_HOSTS_MAX + 1];
};

/* Takes "[HOST_IP=]PORT" into @ports, a struct switch_ports, for an option_row. */
int switch_ports__take(void *ports, const char *text);

/* Hosts in files, as messages call them. */
struct switch_hosts {
	const char *noun; /* "server" */
	const char *place; /* " of table 'nat'", or "" */
	uint32_t count;
	struct in_addr addresses[SWITCH_HOSTS_MAX];
};

/*
 * Writes the port of each of @hosts to @result.  Returns 0, or -EINVAL with a sentence in @error if
 * one of @ports names another host, or a host has no port.
 */
int switch_ports__assign(const struct switch_ports *ports, const struct switch_hosts *hosts,
			 uint16_t *result, struct dart_error *error);

/* Is @entry that of the host @index of @hosts? */
typedef bool switch_is_host(const void *hosts, uint32_t index, const struct switch_entry *entry);

/*
 * Gives each of @count hosts, at most SWITCH_HOSTS_MAX, a number of its own in @numbers.  @entries:
 * of the switch, by number.  A host that has an entry keeps its number.  Others get unused numbers
 * as long as there are any, so that packets that already carry a number do not reach another host.
 */
void switch_hosts__number(const struct switch_entry entries[SWITCH_HOSTS_MAX], const void *hosts,
			  uint32_t count, switch_is_host *is_host, uint8_t *numbers);

#endif /* SWITCH_HOSTS_H */
