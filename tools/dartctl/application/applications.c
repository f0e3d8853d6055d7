// SPDX-License-Identifier: GPL-2.0-only
/* dartctl application: programs of this host whose values dartd gathers. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "tools/dartctl/cli/command.h"

/* Command line. */
struct wish {
	const char *unit, *cgroup, *exe, *gather;
	long long pid; /* 0: not given */
};

#define ONE_OF                                                                              \
	OPTION_WORD("unit", struct wish, unit), OPTION_WORD("cgroup", struct wish, cgroup), \
		OPTION_WORD("exe", struct wish, exe), OPTION_WORD("gather", struct wish, gather)

static int request(struct options *options, int argc, char **argv, const struct option_row *rows,
		   bool follows)
{
	struct wish wish = {};

	if (options__take(options, argc, argv, rows, &wish))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'%s' takes one NAME, such as redis", argv[0]);
	if (!!wish.unit + !!wish.cgroup + !!wish.exe + !!wish.pid > 1)
		return misuse("choose one of --unit, --pid, --cgroup and --exe");
	return client__do(options,
			  json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:s*, s:o*, s:o*}", "request",
				    "application-add", "name", argv[optind], "unit", wish.unit,
				    "cgroup", wish.cgroup, "exe", wish.exe, "gather", wish.gather,
				    "pid", wish.pid ? json_integer(wish.pid) : NULL, "follow",
				    follows ? json_true() : NULL),
			  -1, "application");
}

static int add(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = {
		ONE_OF, OPTION_NUMBER("pid", struct wish, pid, 1, INT_MAX), {}
	};

	return request(options, argc, argv, rows, false);
}

static int follow(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = { ONE_OF, {} };

	return request(options, argc, argv, rows, true);
}

static json_t *count(const json_t *instances)
{
	return json_integer(json_array_size(instances));
}

static const struct table_column columns[] = { TEXT_COLUMN("NAME", "name"),
					       NUMBER_COLUMN("MS", "gather_ms"),
					       { "PROCESSES", "instances", true, count },
					       NUMBER_COLUMN("HELD", "held"),
					       { "AGE", "age_s", true, table__age },
					       TEXT_COLUMN("REFUSED", "refused"),
					       {} };

static const struct table_column instance_columns[] = {
	TEXT_COLUMN("INSTANCE", "label"),	   NUMBER_COLUMN("PID", "pid"),
	TEXT_COLUMN("EXECUTABLE", "executable"),   TEXT_COLUMN("BUILD-ID", "build_id"),
	NUMBER_COLUMN("UNREADABLE", "unreadable"), NUMBER_COLUMN("MISSED", "missed"),
	NUMBER_COLUMN("FETCHED", "fetched"),	   {},
};

static int print(json_t *application)
{
	const char *refused = NULL;
	json_t *instances;

	if (json_unpack(application, "{s:o, s?s}", "instances", &instances, "refused", &refused))
		return fail(EPROTO, "dartd describes the application in another way");
	if (refused)
		printf("refused: %s\n", refused);
	return table__print_objects(instances, instance_columns);
}

const struct command application_commands[] = {
	{ "add", "NAME [--unit UNIT | --pid PID | --cgroup CGROUP | --exe PATTERN] [--gather TIME]",
	  "gather values of a program that runs", .parse = add },
	{ "follow", "NAME [--unit UNIT | --cgroup CGROUP | --exe PATTERN] [--gather TIME]",
	  "gather values of all processes of a program, as they come and go", .parse = follow },
	{ "list", NULL, "list the programs whose values are gathered",
	  .request = { "application-list", {}, "applications", columns } },
	{ "show", "NAME", "show the processes of a program",
	  .request = { "application-show", { "name" }, "application", .print = print }, .least = 1,
	  .most = 1 },
	{ "remove", "NAME", "gather the values of a program no longer",
	  .request = { "application-remove", { "name" }, "application" }, .least = 1, .most = 1 },
	{ "describe",
	  "--binary FILE --types FILE [--debug FILE] [--module FILE]... [--output FILE] DESCRIPTION",
	  "make the layout of a program for one build of it", .parse = command_describe },
	{}
};
