// SPDX-License-Identifier: GPL-2.0-only
/* Prints how much of the host is served. */
#include <stdio.h>

#include "coverage.h"

/* Names come from users of the host: they cannot change the terminal. */
static void print_text(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == '\x7f' ? '?' : *text);
}

static void print_missing(const json_t *missing)
{
	const char *reason, *example, *why, *remedy;
	json_int_t count;

	if (json_unpack((json_t *)missing, "{s:s, s:I, s:s, s:s, s:s}", "reason", &reason, "count",
			&count, "example", &example, "why", &why, "remedy", &remedy))
		return;
	printf("  %lld %s", (long long)count, reason);
	if (*example) {
		fputs(", such as ", stdout);
		print_text(example);
	}
	if (*why) {
		fputs(": ", stdout);
		print_text(why);
	}
	fputs("; do: ", stdout);
	print_text(remedy);
	putchar('\n');
}

void coverage__print(const json_t *coverage)
{
	json_t *line, *missing, *one;
	json_int_t present, served;
	const char *kind;
	size_t i, j;

	json_array_foreach(coverage, i, line) {
		if (json_unpack(line, "{s:s, s:I, s:I, s:o}", "kind", &kind, "present", &present,
				"served", &served, "missing", &missing))
			continue;
		printf("%-11s  %lld of %lld served\n", kind, (long long)served, (long long)present);
		json_array_foreach(missing, j, one)
			print_missing(one);
	}
}
