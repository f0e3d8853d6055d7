// SPDX-License-Identifier: GPL-2.0-only
/* dartctl source: counters of the kernel that dartd can expose. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "status.h"
#include "selector.h"
#include "tools/dartctl/cli/command.h"

/* The kind of selector that an option gives. */
#define OPTION(kind) (OPTIONS_OWN + SELECTOR_##kind)
/* For any selector. */
#define OPTION_GATHER OPTION(KINDS)
#define OPTION_DEFERRABLE (OPTION_GATHER + 1)

static const struct option register_options[] = {
	{ "netns", required_argument, NULL, OPTION(NETNS) },
	{ "netdev", required_argument, NULL, OPTION(NETDEV) },
	{ "disk", required_argument, NULL, OPTION(DISK) },
	{ "cgroup", required_argument, NULL, OPTION(CGROUP) },
	{ "filesystem", required_argument, NULL, OPTION(FILESYSTEM) },
	{ "all-netns", no_argument, NULL, OPTION(ALL_NETNS) },
	{ "all-netdevs", no_argument, NULL, OPTION(ALL_NETDEVS) },
	{ "all-disks", no_argument, NULL, OPTION(ALL_DISKS) },
	{ "all-cgroups", required_argument, NULL, OPTION(ALL_CGROUPS) },
	{ "all-filesystems", no_argument, NULL, OPTION(ALL_FILESYSTEMS) },
	{ "gather", required_argument, NULL, OPTION_GATHER },
	{ "deferrable", no_argument, NULL, OPTION_DEFERRABLE },
	{}
};

/* The options above that select one object. */
static const struct option add_options[] = {
	{ "netns", required_argument, NULL, OPTION(NETNS) },
	{ "netdev", required_argument, NULL, OPTION(NETDEV) },
	{ "disk", required_argument, NULL, OPTION(DISK) },
	{ "cgroup", required_argument, NULL, OPTION(CGROUP) },
	{ "filesystem", required_argument, NULL, OPTION(FILESYSTEM) },
	{ "gather", required_argument, NULL, OPTION_GATHER },
	{ "deferrable", no_argument, NULL, OPTION_DEFERRABLE },
	{}
};

static const struct option follow_options[] = {
	{ "cgroup", required_argument, NULL, OPTION(ALL_CGROUPS) },
	{ "gather", required_argument, NULL, OPTION_GATHER },
	{ "deferrable", no_argument, NULL, OPTION_DEFERRABLE },
	{}
};

static int parse(struct options *options, int argc, char **argv,
		 const struct option *own, struct selector *selector)
{
	int option;

	while ((option = options__next(options, argc, argv, own)) != -1) {
		if (option == '?')
			return EXIT_USAGE;
		if (option == OPTION_GATHER)
			selector->gather = optarg;
		else if (option == OPTION_DEFERRABLE)
			selector->is_deferrable = true;
		else
			selector->of[option - OPTIONS_OWN] = optarg ?: "";
	}
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

	status = parse(options, argc, argv, register_options, &selector);
	return status ?: request(options, &selector, argv[optind]);
}

static int add(struct options *options, int argc, char **argv)
{
	struct selector selector = { };
	int status;

	status = parse(options, argc, argv, add_options, &selector);
	return status ?: request(options, &selector, argv[optind]);
}

static int follow(struct options *options, int argc, char **argv)
{
	struct selector selector = { };
	int status;

	status = parse(options, argc, argv, follow_options, &selector);
	if (!selector.of[SELECTOR_ALL_CGROUPS])
		selector.of[SELECTOR_ALL] = "";
	return status ?: request(options, &selector, argv[optind]);
}

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
	static const struct option own[] = {
		{ "gather", required_argument, NULL, OPTION_GATHER },
		{ "deferrable", no_argument, NULL, OPTION_DEFERRABLE },
		{}
	};
	const char *gather = "1s";
	bool is_deferrable = false;
	int option;

	while ((option = options__next(options, argc, argv, own)) != -1) {
		if (option == '?')
			return EXIT_USAGE;
		if (option == OPTION_GATHER)
			gather = optarg;
		else
			is_deferrable = true;
	}
	if (argc > optind)
		return misuse("'%s' takes no operand", argv[0]);
	return register_host(options,
			     json_pack("{s:s, s:s, s:o*}", "request", "register-host", "gather",
				       gather, "deferrable", is_deferrable ? json_true() : NULL));
}

static const struct table_column columns[] = {
	{ "NAME", "name", false, NULL },
	{ "SELECTOR", "selector", false, NULL },
	{ "FOLLOWS", "follows", false, NULL },
	{ "DESCRIPTION", "description", false, NULL },
	{ }
};

const struct command source_commands[] = {
	{ "list", NULL, "list the counters of the kernel that can be exposed",
	  .request = { "source-list", {}, "sources", columns } },
	{ "add",
	  "SOURCE [--netns NETNS] [--netdev INTERFACE] [--disk DEVICE] [--cgroup CGROUP] [--filesystem MOUNTPOINT] [--gather TIME [--deferrable]]",
	  "expose counters of the kernel", .parse = add },
	{ "follow", "SOURCE [--cgroup CGROUP] [--gather TIME [--deferrable]]",
	  "expose counters of the kernel for each namespace, device, disk, cgroup or file system", .parse = follow },
	{}
};
