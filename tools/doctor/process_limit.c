// SPDX-License-Identifier: GPL-2.0-only
/* Reads /proc/PID/limits and /proc/PID/status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_limit.h"

/* Finds the line that begins with @name; returns the rest of the line. */
static bool find_line(pid_t pid, const char *file, const char *name, char *rest, size_t size)
{
	char path[64], line[256];
	bool is_found = false;
	FILE *lines;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	lines = fopen(path, "re");
	if (!lines)
		return false;
	while (!is_found && fgets(line, sizeof(line), lines)) {
		is_found = !strncmp(line, name, strlen(name));
		if (is_found)
			snprintf(rest, size, "%s", line + strlen(name));
	}
	fclose(lines);
	return is_found;
}

bool process_limit__get(pid_t pid, const char *name, uint64_t *limit)
{
	char rest[256];

	if (!find_line(pid, "limits", name, rest, sizeof(rest)))
		return false;
	*limit = strncmp(rest + strspn(rest, " "), "unlimited", 9) ? strtoull(rest, NULL, 10) :
								     PROCESS_LIMIT_NONE;
	return true;
}

bool process_limit__has_capability(pid_t pid, unsigned int number)
{
	char rest[256];

	return find_line(pid, "status", "CapEff:", rest, sizeof(rest)) &&
	       strtoull(rest, NULL, 16) >> number & 1;
}

uint64_t process_limit__status_bytes(pid_t pid, const char *name)
{
	char rest[256];

	if (!find_line(pid, "status", name, rest, sizeof(rest)) || *rest != ':')
		return 0;
	return strtoull(rest + 1, NULL, 10) << 10;
}
