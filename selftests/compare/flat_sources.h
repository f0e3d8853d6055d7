/* SPDX-License-Identifier: GPL-2.0-only */
/* Sections of a snapshot that are of a namespace, device, disk or cgroup. */
#ifndef FLAT_SOURCES_H
#define FLAT_SOURCES_H

#include <jansson.h>

/*
 * Adds the numbers of a section, with a '?' in front of the names of those that
 * a scrape need not have: the files say more than is registered, and call some
 * things otherwise.
 *
 *   snmp NETNS, snmp6 NETNS, netstat NETNS, dev NETNS   its /proc/net
 *   cpu.stat CGROUP
 *   diskstats, softirqs, interrupts
 */
void flat_sources__take(json_t *flat, const char *section, char *text);

#endif /* FLAT_SOURCES_H */
