// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "command.h"
#include "map.h"
#include "selector.h"

static int ask(const struct options *options, json_t *request, int fd,
	       const char *member)
{
	json_t *reply;

	if (!client__ask(options, request, fd, member, &reply))
		return EXIT_FAILURE;
	json_decref(reply);
	return EXIT_SUCCESS;
}

static int register_source(const struct options *options,
			   const struct selector *selector, int argc,
			   char **argv)
{
	json_t *request;
	int fd, status;

	if (argc != 1)
		return misuse("'register source' needs one name");
	status = selector__request(selector, argv[0], &request, &fd);
	if (!status)
		status = ask(options, request, fd,
			     selector__is_follow(selector) ?
			     "follow" : "entry");
	if (fd >= 0)
		close(fd);
	return status;
}

static int register_map(const struct options *options, int argc, char **argv)
{
	const char *name = NULL;
	int fd, status;

	if (argc >= 3 && !strcmp(argv[argc - 2], "as")) {
		name = argv[argc - 1];
		argc -= 2;
	}

	if (argc == 1)
		fd = map__open_path(argv[0]);
	else if (argc == 2 && !strcmp(argv[0], "id"))
		fd = map__open_id(argv[1]);
	else if (argc == 2 && !strcmp(argv[0], "name"))
		fd = map__open_name(argv[1]);
	else
		return misuse("'register map' needs PATH, id N or name X");
	if (fd < 0)
		return EXIT_FAILURE;

	status = ask(options, json_pack("{s:s, s:s*}", "request",
					"register-map", "name", name),
		     fd, "entry");
	close(fd);
	return status;
}

static int register_counters(const struct options *options, int argc,
			     char **argv)
{
	json_t *request, *names = NULL;
	int i;

	if (!argc)
		return misuse("'register counters' needs a name");
	for (i = 1; i < argc; i++) {
		if (!names)
			names = json_array();
		json_array_append_new(names, json_string(argv[i]));
	}
	request = json_pack("{s:s, s:s, s:o*}", "request", "register-counters",
			    "name", argv[0], "counters", names);
	return ask(options, request, -1, "entry");
}

enum {
	OPTION_NETNS = OPTIONS_OWN,
	OPTION_NETDEV,
	OPTION_DISK,
	OPTION_CGROUP,
	OPTION_ALL_NETNS,
	OPTION_ALL_CGROUPS,
};

static const struct option selectors[] = {
	{ "netns", required_argument, NULL, OPTION_NETNS },
	{ "netdev", required_argument, NULL, OPTION_NETDEV },
	{ "disk", required_argument, NULL, OPTION_DISK },
	{ "cgroup", required_argument, NULL, OPTION_CGROUP },
	{ "all-netns", no_argument, NULL, OPTION_ALL_NETNS },
	{ "all-cgroups", required_argument, NULL, OPTION_ALL_CGROUPS },
	{ }
};

static void select_by(struct selector *selector, int option)
{
	switch (option) {
	case OPTION_NETNS:
		selector->netns = optarg;
		break;
	case OPTION_NETDEV:
		selector->netdev = optarg;
		break;
	case OPTION_DISK:
		selector->disk = optarg;
		break;
	case OPTION_CGROUP:
		selector->cgroup = optarg;
		break;
	case OPTION_ALL_NETNS:
		selector->all_netns = true;
		break;
	case OPTION_ALL_CGROUPS:
		selector->all_cgroups = optarg;
		break;
	}
}

int command_register(struct options *options, int argc, char **argv)
{
	struct selector selector = { };
	int option;

	while ((option = options__next(options, argc, argv, selectors)) != -1) {
		if (option == '?')
			return EXIT_USAGE;
		select_by(&selector, option);
	}
	argc -= optind;
	argv += optind;
	if (argc && !strcmp(argv[0], "source"))
		return register_source(options, &selector, argc - 1, argv + 1);
	if (selector__is_given(&selector))
		return misuse("only 'register source' takes a selector");
	if (argc && !strcmp(argv[0], "map"))
		return register_map(options, argc - 1, argv + 1);
	if (argc && !strcmp(argv[0], "counters"))
		return register_counters(options, argc - 1, argv + 1);
	return misuse("'register' needs 'source', 'map' or 'counters'");
}
