// SPDX-License-Identifier: GPL-2.0-only
/* dartctl status and controller: the state of dartd, its coverage of the host, and its readers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "tools/dartctl/cli/command.h"

/* ---- coverage */

static void print_missing(const json_t *missing)
{
	const char *reason, *example, *why, *remedy;
	json_int_t count;

	if (json_unpack((json_t *)missing, "{s:s, s:I, s:s, s:s, s:s}", "reason", &reason, "count",
			&count, "example", &example, "why", &why, "remedy", &remedy))
		return;
	printf("  %lld ", (long long)count);
	print_foreign(stdout, reason);
	if (*example) {
		fputs(", such as ", stdout);
		print_foreign(stdout, example);
	}
	if (*why) {
		fputs(": ", stdout);
		print_foreign(stdout, why);
	}
	fputs("; do: ", stdout);
	print_foreign(stdout, remedy);
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
		print_foreign(stdout, kind);
		printf("%*s  %lld of %lld served\n", (int)(strlen(kind) < 11 ? 11 - strlen(kind) : 0),
		       "", (long long)served, (long long)present);
		json_array_foreach(missing, j, one)
			print_missing(one);
	}
}

/* ---- a line for each member of the answer */

static const struct table_column members[] = {
	TEXT_COLUMN("", "key"),
	TEXT_COLUMN("", "value"),
	{ }
};

static int print(json_t *status)
{
	json_t *lines = json_array(), *value;
	const char *key;
	int ret;

	json_object_foreach(status, key, value)
		if (strcmp(key, "coverage"))
			json_array_append_new(lines,
					      json_pack("{s:s, s:O}", "key", key, "value", value));
	ret = table__print_objects(lines, members);
	json_decref(lines);
	coverage__print(json_object_get(status, "coverage"));
	return ret;
}

int command_status(const struct options *options, int argc, char **argv)
{
	json_t *status, *reply;
	int ret;

	status = client__ask(options, json_pack("{s:s}", "request", "status"),
			     -1, "status", &reply, NULL);
	if (!status)
		return EXIT_FAILURE;
	/* The answer contains the version of dartd already. */
	json_object_set_new(status, "dartctl_version", json_string(DART_VERSION));
	ret = options->json ? print_json(json_incref(status), 0) : print(status);
	json_decref(reply);
	return ret;
}

/* ---- readers of the memory of this host */

static const struct table_column peers[] = {
	TEXT_COLUMN("PEER", "peer"),
	TEXT_COLUMN("KIND", "kind"),
	TEXT_COLUMN("STORE", "store"),
	TEXT_COLUMN("TABLE", "table"),
	{ "AGE", "age_s", true, table__age },
	{ }
};

const struct command controller_commands[] = {
	{ "list", NULL, "list connected controllers and readers of stores and lookup tables",
	  .request = { "controller-list", { }, "controllers", peers } },
	{ "disconnect", "PEER", "disconnect a controller or reader",
	  .request = { "controller-disconnect", { "peer" }, "controller" },
	  .least = 1, .most = 1 },
	{ }
};
