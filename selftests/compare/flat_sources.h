/* SPDX-License-Identifier: GPL-2.0-only */
/* Sections of a snapshot that are of a namespace, device, disk, cgroup or interrupts. */
#ifndef DART_TEST_FLAT_SOURCES_H
#define DART_TEST_FLAT_SOURCES_H

#include <jansson.h>
#include <stdint.h>

/*
 * Adds the numbers of a section.  Names of numbers that a scrape may lack begin with
 * '?': the files contain more than is registered, and some other names.
 *
 *   snmp NETNS, snmp6 NETNS, netstat NETNS, dev NETNS   of its /proc/net
 *   cpu.stat CGROUP
 *   diskstats, softirqs, interrupts
 */
void flat_sources__take(json_t *flat, const char *section, char *text);

/* Adds @value to the number under that name, which is 0 at first. */
__attribute__((format(printf, 3, 4)))
void flat__add(json_t *flat, uint64_t value, const char *format, ...);

#endif /* DART_TEST_FLAT_SOURCES_H */
