// SPDX-License-Identifier: GPL-2.0-only
/* Checks the names of entries, and forms them from a source and a label. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "entry_name.h"

static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "0123456789_-.:/@+=%~";

int entry_name__check(const char *name, struct dart_error *error)
{
	size_t length = strlen(name);

	if (!length || length >= DART_REGISTRATION_NAME_MAX || strspn(name, allowed) != length)
		return dart_error__set(
			error, EINVAL,
			"invalid name: a name has 1 to %d letters, digits or \"_-.:/@+=%%~\": '%s'",
			DART_REGISTRATION_NAME_MAX - 1, name);
	return 0;
}

int entry_name__of(char name[static DART_CONTROL_ENTRY_NAME_MAX], const char *source,
		   const char *label, struct dart_error *error)
{
	char *end = name + DART_CONTROL_ENTRY_NAME_MAX;
	const char *at;
	bool is_plain;

	name += sprintf(name, "%s%s", source, label ? "@" : "");
	for (at = label; at && *at && name < end; at++) {
		/*
		 * Escape '%' as well, so that two labels never share a name, and
		 * '+', which an interval follows.
		 */
		is_plain = *at != '%' && *at != '+' && strchr(allowed, *at);
		name += snprintf(name, end - name, is_plain ? "%c" : "%%%02X", (unsigned char)*at);
	}
	if (name >= end)
		return dart_error__set(error, ENAMETOOLONG,
				       "the name '%s@%s' is too long (at most %d bytes)", source,
				       label, DART_CONTROL_ENTRY_NAME_MAX - 1);
	return 0;
}
