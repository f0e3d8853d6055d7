// SPDX-License-Identifier: GPL-2.0-only
/* Base units of Prometheus and OpenMetrics: seconds, bytes, hertz. */
#include "base_unit.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *unit;
	const char *name;
	double scale;
} known[] = {
	{ "ns", "seconds", 1e-9 },
	{ "us", "seconds", 1e-6 },
	{ "ms", "seconds", 1e-3 },
	{ "s", "seconds", 1 },
	{ "B", "bytes", 1 },
	{ "bytes", "bytes", 1 },
	{ "KiB", "bytes", 1024 },
	{ "kB", "bytes", 1024 }, /* in /proc/meminfo */
	{ "MiB", "bytes", 1048576 },
	/* Block devices count 512-byte sectors, whatever their own sector size is. */
	{ "sectors", "bytes", 512 },
	{ "Hz", "hertz", 1 },
	{ "kHz", "hertz", 1e3 },
	{ "MHz", "hertz", 1e6 },
	{ "mC", "celsius", 1e-3 },
	{ "%", "ratio", 1e-2 },
	/* These units add nothing to the name. */
	{ "times", "", 1 },
	{ "", "", 1 },
};

/* Copies letters and digits in lower case, with one '_' for all other characters between them. */
static void copy_word(char *to, const char *from)
{
	char *begin = to;

	for (; *from; from++) {
		if (isalnum((unsigned char)*from))
			*to++ = tolower((unsigned char)*from);
		else if (to > begin && to[-1] != '_')
			*to++ = '_';
	}
	if (to > begin && to[-1] == '_')
		to--;
	*to = '\0';
}

void base_unit__of(const char *unit, struct base_unit *base)
{
	double parts = 1;
	size_t i;
	char *end;

	if (!strncmp(unit, "1/", 2)) {
		parts = strtoul(unit + 2, &end, 10) ?: 1;
		if (*end == ' ')
			unit = end + 1;
		else
			parts = 1;
	}
	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(unit, known[i].unit))
			continue;
		strcpy(base->name, known[i].name);
		base->scale = known[i].scale / parts;
		base->is_count = !*base->name;
		return;
	}
	copy_word(base->name, unit);
	base->scale = 1 / parts;
	base->is_count = true;
}
