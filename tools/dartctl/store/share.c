// SPDX-License-Identifier: GPL-2.0-only
/* dartctl share: changes the file that says which collector has which shares of a store. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/report/collectors.h>

#include "share_file.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/table.h"

/* ---- create */

/* The collectors of a store, each once, in the order of their files. */
struct sharers {
	char store[sizeof(((struct dart_collector *)NULL)->name)];
	struct in_addr list[DART_STORE_SHARES];
	uint32_t count;
};

static bool has_sharer(const struct sharers *sharers, struct in_addr ip)
{
	uint32_t i;

	for (i = 0; i < sharers->count; i++)
		if (sharers->list[i].s_addr == ip.s_addr)
			return true;
	return false;
}

static int add_sharer(struct sharers *sharers, const char *path, json_t *json,
		      struct dart_error *error)
{
	struct dart_collector collector = { .qpn = 0 };
	struct dart_error reason;
	size_t others;

	if (dart_collector__take_path(json, &collector, &others, &reason))
		return dart_error__set(error, EINVAL, "%s: %s", path, reason.text);
	if (!sharers->count)
		strcpy(sharers->store, collector.name);
	if (strcmp(sharers->store, collector.name))
		return dart_error__set(error, EINVAL, "%s is of store '%s', not of store '%s'",
				       path, collector.name, sharers->store);
	if (has_sharer(sharers, collector.ip))
		return 0;
	if (sharers->count == DART_STORE_SHARES)
		return dart_error__set(error, E2BIG, "more than %d collectors", DART_STORE_SHARES);
	sharers->list[sharers->count++] = collector.ip;
	return 0;
}

/* A file has a line for each reporter. */
static int add_file(struct sharers *sharers, const char *path, struct dart_error *error)
{
	json_t *root, *line;
	size_t i;
	int ret;

	ret = dart_collectors__read(path, &root, error);
	if (ret)
		return ret;
	if (!json_is_array(json_object_get(root, "collectors")))
		ret = dart_error__set(error, EINVAL,
				      "%s: not a file of collectors (see 'dartctl store export')",
				      path);
	json_array_foreach(json_object_get(root, "collectors"), i, line) {
		ret = ret ?: add_sharer(sharers, path, line, error);
	}
	if (!ret && !sharers->count)
		ret = dart_error__set(error, EINVAL, "%s has no collector", path);
	json_decref(root);
	return ret;
}

static int share_equally(const struct sharers *sharers, struct dart_share_history *history)
{
	struct dart_share_set set;
	uint32_t i, share;

	for (i = 0; i < sharers->count; i++) {
		set = (struct dart_share_set){};
		for (share = 0; share < DART_STORE_SHARES; share++)
			if (share * sharers->count / DART_STORE_SHARES == i)
				dart_share_set__add(&set, share);
		if (dart_share_history__move(history, &set, sharers->list[i],
					     dart_clock__ms(CLOCK_REALTIME)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int create_file(const char *path, const struct collectors_files *files,
		       struct dart_error *error)
{
	struct sharers sharers = { .count = 0 };
	struct dart_share_history *history;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < files->count; i++)
		ret = add_file(&sharers, files->paths[i], error);
	if (ret)
		return ret;
	ret = dart_share_history__new(sharers.store, &history);
	if (ret)
		return dart_error__system(error, -ret, "cannot share store '%s'", sharers.store);
	ret = share_equally(&sharers, history) ? dart_error__no_memory(error) :
						 share_file__create(path, history, error);
	dart_share_history__free(history);
	return ret;
}

static int create(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ .name = "collectors", .take = collectors_files__take }, {}
	};
	struct collectors_files files = { .count = 0 };
	struct dart_error error;
	const char *path;
	int ret;

	if (options__take(options, argc, argv, rows, &files))
		return EXIT_USAGE;
	if (argc - optind != 1 || !files.count)
		return misuse(
			"'%s' needs the name of a new file, and --collectors FILE for each collector",
			argv[0]);
	path = argv[optind];
	ret = access(path, F_OK) ? create_file(path, &files, &error) : -EEXIST;
	if (ret == -EEXIST)
		dart_error__set(&error, EEXIST,
				"'%s' is there already (dartctl share move changes it)", path);
	return ret ? fail(-ret, "cannot create the file of shares: %s", error.text) : EXIT_SUCCESS;
}

/* ---- move and retire */

static int take_address(void *address, const char *text)
{
	return inet_pton(AF_INET, text, address) == 1 && ((struct in_addr *)address)->s_addr ?
		       EXIT_SUCCESS :
		       EXIT_USAGE;
}

/* A change of one file, whole or not at all. */
struct change {
	const char *path;
	struct dart_share_set shares; /* to move */
	struct in_addr collector; /* that gets them, or that retires */
	int moved;
	bool is_new; /* the collector had no share just before */
	/* Returns the number of shares that moved, or sets @error and returns -errno. */
	int (*make)(struct change *change, struct dart_share_history *history,
		    struct dart_error *error);
};

static int change__run(struct change *change)
{
	struct dart_share_history *history = NULL;
	struct dart_error error;
	struct share_lock lock;
	int ret;

	ret = share_lock__take(&lock, change->path, &error);
	if (ret)
		return fail(-ret, "no share has moved: %s", error.text);
	ret = share_file__read(change->path, &history, &error);
	if (!ret) {
		ret = change->make(change, history, &error);
		change->moved = ret;
		ret = ret > 0 ? share_file__write(change->path, history, &error) : ret;
	}
	dart_share_history__free(history);
	share_lock__release(&lock);
	return ret ? fail(-ret, "no share has moved: %s", error.text) : EXIT_SUCCESS;
}

static int print_moved(const struct change *change, const char *where,
		       const struct options *options)
{
	char address[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &change->collector, address, sizeof(address));
	if (options->json)
		return print_json(
			json_pack("{s:s, s:i}", "collector", address, "moved", change->moved), 0);
	printf("%d shares moved %s %s\n", change->moved, where, address);
	return EXIT_SUCCESS;
}

static int make_move(struct change *change, struct dart_share_history *history,
		     struct dart_error *error)
{
	struct in_addr collectors[DART_STORE_SHARES];
	uint32_t count = dart_share_history__collectors(history, collectors), i;
	int ret;

	change->is_new = true;
	for (i = 0; i < count; i++)
		if (collectors[i].s_addr == change->collector.s_addr)
			change->is_new = false;
	ret = dart_share_history__move(history, &change->shares, change->collector,
				       dart_clock__ms(CLOCK_REALTIME));
	return ret < 0 ? dart_error__no_memory(error) : ret;
}

static int move(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = {
		OPTION_OWN("to", struct change, collector, take_address,
			   .form = "needs the address of a collector"),
		{}
	};
	struct change change = { .make = make_move };
	int status;

	if (options__take(options, argc, argv, rows, &change))
		return EXIT_USAGE;
	if (argc - optind != 2 || !change.collector.s_addr)
		return misuse("'%s' needs FILE, SHARES such as 100-199, and --to ADDRESS", argv[0]);
	change.path = argv[optind];
	if (dart_share_set__parse(argv[optind + 1], &change.shares))
		return misuse("'%s' is not a list of shares, numbers from 0 to %d such as 0-99,512",
			      argv[optind + 1], DART_STORE_SHARES - 1);
	status = change__run(&change) ?: print_moved(&change, "to", options);
	if (!status && change.is_new)
		fprintf(stderr,
			"dartctl: this collector had no share just before: reporters need its file, too\n");
	return status;
}

/* The collector with the fewest shares of all but the one that retires; -1 if there is none. */
static int64_t least_loaded(const struct in_addr *collectors, const uint32_t *loads, uint32_t count,
			    struct in_addr retired)
{
	int64_t least = -1;
	uint32_t i;

	for (i = 0; i < count; i++)
		if (collectors[i].s_addr != retired.s_addr &&
		    (least < 0 || loads[i] < loads[least]))
			least = i;
	return least;
}

static int make_retirement(struct change *change, struct dart_share_history *history,
			   struct dart_error *error)
{
	struct in_addr collectors[DART_STORE_SHARES];
	uint32_t loads[DART_STORE_SHARES], count, i, share;
	int64_t receivers[DART_STORE_SHARES];
	struct dart_share_set its, given;
	int moved = 0, ret;

	count = dart_share_history__collectors(history, collectors);
	for (i = 0; i < count; i++) {
		dart_share_history__shares(history, collectors[i], &its);
		loads[i] = dart_share_set__count(&its);
	}
	dart_share_history__shares(history, change->collector, &its);
	if (!dart_share_set__count(&its))
		return dart_error__set(error, ENOENT, "this collector has none");
	for (share = 0; share < DART_STORE_SHARES; share++) {
		receivers[share] = -1;
		if (!dart_share_set__has(&its, share))
			continue;
		receivers[share] = least_loaded(collectors, loads, count, change->collector);
		if (receivers[share] < 0)
			return dart_error__set(error, ENOENT, "there is no other collector");
		loads[receivers[share]]++;
	}
	for (i = 0; i < count; i++) {
		given = (struct dart_share_set){};
		for (share = 0; share < DART_STORE_SHARES; share++)
			if (receivers[share] == i)
				dart_share_set__add(&given, share);
		ret = dart_share_history__move(history, &given, collectors[i],
					       dart_clock__ms(CLOCK_REALTIME));
		if (ret < 0)
			return dart_error__no_memory(error);
		moved += ret;
	}
	return moved;
}

static int retire(const struct options *options, int argc, char **argv)
{
	struct change change = { .path = argv[0], .make = make_retirement };

	if (take_address(&change.collector, argv[1]))
		return misuse("'%s' is not the address of a collector", argv[1]);
	return change__run(&change) ?: print_moved(&change, "away from", options);
}

const struct command share_commands[] = {
	{ "create", "FILE --collectors FILE...",
	  "divide a store equally among the collectors of these files", .parse = create },
	{ "move", "FILE SHARES --to ADDRESS", "give shares to another collector", .parse = move },
	{ "retire", "FILE ADDRESS", "give all shares of a collector to the others", .run = retire,
	  .least = 2, .most = 2 },
	{ "show", "FILE [SHARE]", "list the collectors with their shares, or those of one share",
	  .run = command_share_show, .least = 1, .most = 2 },
	{}
};
