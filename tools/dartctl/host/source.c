// SPDX-License-Identifier: GPL-2.0-only
/* dartctl source: counters of the kernel that dartd can expose. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/dart_zero.h>

#include "status.h"
#include "selector.h"
#include "tools/dartctl/cli/command.h"

/* Selects all objects of a kind: the option takes no argument. */
static int take_all(void *selector_of, const char *text)
{
	*(const char **)selector_of = "";
	return EXIT_SUCCESS;
}

#define OF(name, kind) OPTION_WORD(name, struct selector, of[SELECTOR_##kind])
#define ALL_OF(name, kind) \
	OPTION_OWN(name, struct selector, of[SELECTOR_##kind], take_all, .type = OPTION_TYPE_FLAG)
/* Options that select one object, and options of all selectors. */
#define ONE \
	OF("netns", NETNS), OF("netdev", NETDEV), OF("disk", DISK), OF("cgroup", CGROUP), \
		OF("filesystem", FILESYSTEM)
#define GATHER \
	OPTION_WORD("gather", struct selector, gather), \
		OPTION_FLAG("deferrable", struct selector, is_deferrable)

static const struct option_row register_rows[] = {
	ONE,
	ALL_OF("all-netns", ALL_NETNS),
	ALL_OF("all-netdevs", ALL_NETDEVS),
	ALL_OF("all-disks", ALL_DISKS),
	OF("all-cgroups", ALL_CGROUPS),
	ALL_OF("all-filesystems", ALL_FILESYSTEMS),
	GATHER,
	{}
};

static const struct option_row add_rows[] = { ONE, GATHER, {} };
static const struct option_row follow_rows[] = { OF("cgroup", ALL_CGROUPS), GATHER, {} };
static const struct option_row host_rows[] = { GATHER, {} };

static int parse(struct options *options, int argc, char **argv, const struct option_row *rows,
		 void *object)
{
	if (options__take(options, argc, argv, rows, object))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'%s' takes one SOURCE, as in dartctl source list", argv[0]);
	return EXIT_SUCCESS;
}

/* dartd follows the kind of the source: refuse an option for another kind. */
static int check_kind(const struct options *options, const char *source, const char *kind)
{
	json_t *reply, *known, *one;
	int status = EXIT_SUCCESS;
	size_t i;

	known = client__ask(options, json_pack("{s:s}", "request", "source-list"), -1, "sources",
			    &reply, NULL);
	if (!known)
		return EXIT_FAILURE;
	json_array_foreach(known, i, one) {
		const char *name = "", *its_kind = "";

		json_unpack(one, "{s:s, s:s}", "name", &name, "selector", &its_kind);
		if (!strcmp(name, source) && strcmp(its_kind, kind))
			status = misuse(!strcmp(its_kind, "none") ?
						"there is one %s of a host: it cannot be followed" :
						"%s is not of each %s, but of each %s",
					source, kind, its_kind);
	}
	json_decref(reply);
	return status;
}

static int request(const struct options *options,
		   const struct selector *selector, const char *source)
{
	const char *kind = selector__all_of(selector);
	json_t *request;
	int fd, status;

	status = kind ? check_kind(options, source, kind) : EXIT_SUCCESS;
	if (status)
		return status;
	status = selector__request(selector, source, &request, &fd);
	if (!status)
		status = client__do(options, request, fd,
				    selector__is_follow(selector) ? "follow" : "entry");
	if (fd >= 0)
		close(fd);
	return status;
}

int command_register_source(struct options *options, int argc, char **argv)
{
	struct selector selector = { };
	int status;

	status = parse(options, argc, argv, register_rows, &selector);
	return status ?: request(options, &selector, argv[optind]);
}

static int add(struct options *options, int argc, char **argv)
{
	struct selector selector = { };
	int status;

	status = parse(options, argc, argv, add_rows, &selector);
	return status ?: request(options, &selector, argv[optind]);
}

static int follow(struct options *options, int argc, char **argv)
{
	struct selector selector = { };
	int status;

	status = parse(options, argc, argv, follow_rows, &selector);
	if (!selector.of[SELECTOR_ALL_CGROUPS])
		selector.of[SELECTOR_ALL] = "";
	return status ?: request(options, &selector, argv[optind]);
}

/* ---- the plan of a source */

struct plan_wish {
	struct selector selector;	/* first, because the rows of ONE are its members */
	const char *interval;
	long long objects;
};

static const struct option_row plan_rows[] = {
	ONE,
	OPTION_WORD("interval", struct plan_wish, interval),
	OPTION_NUMBER("objects", struct plan_wish, objects, 1, DART_ZERO_RECORDS_MAX),
	{}
};

static int print_plan(const struct options *options, json_t *plan)
{
	const char *gather = NULL;
	json_t *sentence;
	size_t i;

	if (options->json)
		return print_json(json_incref(plan), JSON_REAL_PRECISION(12));
	json_array_foreach(json_object_get(plan, "reasoning"), i, sentence)
		printf("%s\n", json_string_value(sentence));
	json_unpack(plan, "{s?s}", "gather", &gather);
	if (gather)
		printf("\nRegister it with --gather %s.\n", gather);
	else
		printf("\nRegister it without --gather.\n");
	return EXIT_SUCCESS;
}

/* Makes the request that registers the source into a request for a plan. */
static int ask_for_plan(const struct options *options, const struct plan_wish *wish,
			const char *source)
{
	json_t *request, *reply, *plan;
	int fd, status;

	status = selector__request(&wish->selector, source, &request, &fd);
	if (status)
		return status;
	/* What remains after a failure would register the source. */
	if (json_object_update_new(request, json_pack("{s:s, s:s, s:I}", "request", "source-plan",
						      "interval", wish->interval, "objects",
						      (json_int_t)wish->objects))) {
		json_decref(request);
		request = NULL;
	}
	plan = client__ask(options, request, fd, "plan", &reply, NULL);
	if (fd >= 0)
		close(fd);
	if (!plan)
		return EXIT_FAILURE;
	status = print_plan(options, plan);
	json_decref(reply);
	return status;
}

static int plan(struct options *options, int argc, char **argv)
{
	struct plan_wish wish = { .objects = 1 };
	int status;

	status = parse(options, argc, argv, plan_rows, &wish);
	if (status)
		return status;
	if (!wish.interval)
		return misuse("'%s' needs --interval", argv[0]);
	return ask_for_plan(options, &wish, argv[optind]);
}

/* ---- the whole host */

/* Takes the reference of @request. */
static int register_host(const struct options *options, json_t *request)
{
	json_t *host, *coverage, *reply, *second;
	int status = EXIT_SUCCESS;

	host = client__ask(options, request, -1, "host", &reply, NULL);
	if (!host)
		return EXIT_FAILURE;
	coverage = client__ask(options, json_pack("{s:s}", "request", "coverage"), -1, "coverage",
			       &second, NULL);
	if (options->json) {
		if (coverage)
			json_object_set(host, "coverage", coverage);
		status = print_json(json_incref(host), 0);
	} else {
		coverage__print(coverage);
	}
	if (coverage)
		json_decref(second);
	json_decref(reply);
	return status;
}

int command_register_host(struct options *options, int argc, char **argv)
{
	struct selector selector = { .gather = "1s" };

	if (options__take(options, argc, argv, host_rows, &selector))
		return EXIT_USAGE;
	if (argc > optind)
		return misuse("'%s' takes no operand", argv[0]);
	return register_host(options, json_pack("{s:s, s:s, s:o*}", "request", "register-host",
						"gather", selector.gather, "deferrable",
						selector.is_deferrable ? json_true() : NULL));
}

static const struct table_column columns[] = {
	TEXT_COLUMN("NAME", "name"),
	TEXT_COLUMN("SELECTOR", "selector"),
	TEXT_COLUMN("FOLLOWS", "follows"),
	TEXT_COLUMN("DESCRIPTION", "description"),
	{ }
};

const struct command source_commands[] = {
	{ "list", NULL, "list the counters of the kernel that can be exposed",
	  .request = { "source-list", {}, "sources", columns } },
	{ "add",
	  "SOURCE [--netns NETNS] [--netdev INTERFACE] [--disk DEVICE] [--cgroup CGROUP] [--filesystem MOUNTPOINT] [--gather TIME [--deferrable]]",
	  "expose counters of the kernel", .parse = add },
	{ "plan",
	  "SOURCE --interval TIME [--objects NUMBER] [--netns NETNS] [--netdev INTERFACE] [--disk DEVICE] [--cgroup CGROUP] [--filesystem MOUNTPOINT]",
	  "tell whether to expose counters of the kernel directly or gathered, and why",
	  .parse = plan },
	{ "follow", "SOURCE [--cgroup CGROUP] [--gather TIME [--deferrable]]",
	  "expose counters of the kernel for each namespace, device, disk, cgroup or file system", .parse = follow },
	{}
};
