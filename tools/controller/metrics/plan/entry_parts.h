/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of an entry's name, SOURCE[@SELECTOR][+INTERVAL], as the agent forms it: a selector
 * names a network namespace, a device in a namespace (NETNS/DEVICE or DEVICE), a disk, a cgroup or
 * a mount point, and encodes a byte as %XX; an interval is "100ms" or "1s".
 */
#ifndef CONTROLLER_ENTRY_PARTS_H
#define CONTROLLER_ENTRY_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include <dart/control.h>

struct entry_parts {
	char source[DART_CONTROL_ENTRY_NAME_MAX];
	/* Without the namespace, which some sources put before it; "" without a selector. */
	char selector[DART_CONTROL_ENTRY_NAME_MAX];
	/* "": the agent's own namespace, or a source without namespaces. */
	char netns[DART_CONTROL_ENTRY_NAME_MAX];
	char interval[16]; /* "": no interval, the entry is not gathered */
	uint32_t interval_ms;
	/* Length of the name before the interval, which all entries of one object share. */
	size_t object_length;
};

/* Splits @name, the name of a decoded entry: shorter than DART_CONTROL_ENTRY_NAME_MAX. */
void entry_parts__split(const char *name, struct entry_parts *parts);

#endif /* CONTROLLER_ENTRY_PARTS_H */
