/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of an entry's name, SOURCE[@SELECTOR][+INTERVAL], as the agent forms it: a
 * selector names a network namespace, a device in one (NETNS/DEVICE or DEVICE), a disk, a
 * cgroup or a mount point, and %XX in it is a byte; an interval is "100ms" or "1s".
 */
#ifndef CONTROLLER_ENTRY_PARTS_H
#define CONTROLLER_ENTRY_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include <dart/control.h>

struct entry_parts {
	char source[DART_CONTROL_ENTRY_NAME_MAX];
	/* Without the namespace of sources that have one; "" if there is none. */
	char selector[DART_CONTROL_ENTRY_NAME_MAX];
	char netns[DART_CONTROL_ENTRY_NAME_MAX]; /* "": the agent's own, or no such source */
	char interval[16]; /* "": the entry is not gathered */
	uint32_t interval_ms;
	/* Of the name, without the interval: what entries of one object have in common. */
	size_t object_length;
};

/* @name is that of a decoded entry: below DART_CONTROL_ENTRY_NAME_MAX. */
void entry_parts__split(const char *name, struct entry_parts *parts);

#endif /* CONTROLLER_ENTRY_PARTS_H */
