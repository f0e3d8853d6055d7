// SPDX-License-Identifier: GPL-2.0-only
/* Reads and replaces files of shares, and prints them. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/json.h>
#include <libdart/report/collectors.h>

#include "instant.h"
#include "share_file.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"
#include "tools/dartctl/cli/table.h"

int share_file__read(const char *path, struct dart_share_history **history,
		     struct dart_error *error)
{
	json_t *root;
	int ret;

	ret = dart_collectors__read(path, &root, error);
	if (ret)
		return ret;
	ret = dart_share_history__take(root, path, history, error);
	json_decref(root);
	return ret;
}

static int write_with(int (*write)(const char *path, const char *text, struct dart_error *error),
		      const char *path, const struct dart_share_history *history,
		      struct dart_error *error)
{
	json_t *root = dart_share_history__to_json(history);
	char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
	int ret;

	json_decref(root);
	if (!text)
		return dart_error__no_memory(error);
	ret = write(path, text, error);
	free(text);
	return ret;
}

int share_file__write(const char *path, const struct dart_share_history *history,
		      struct dart_error *error)
{
	return write_with(file__change, path, history, error);
}

int share_file__create(const char *path, const struct dart_share_history *history,
		       struct dart_error *error)
{
	return write_with(file__create, path, history, error);
}

/* Is @fd still the file at @path?  It is another one after each change. */
static bool is_at(int fd, const char *path)
{
	struct stat own, present;

	return !fstat(fd, &own) && !stat(path, &present) && own.st_dev == present.st_dev &&
	       own.st_ino == present.st_ino;
}

/* A lock for writing: whoever may only read the file or its folder must not be able to take it. */
int share_lock__take(struct share_lock *lock, const char *path, struct dart_error *error)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int ret = 0;

	for (;;) {
		lock->file = open(path, O_RDWR | O_CLOEXEC);
		if (lock->file < 0)
			return dart_error__system(error, errno, "cannot open '%s'", path);
		if (fcntl(lock->file, F_OFD_SETLKW, &whole))
			ret = dart_error__system(error, errno, "cannot lock '%s'", path);
		if (!ret && is_at(lock->file, path))
			return 0;
		close(lock->file);
		if (ret)
			return ret;
	}
}

void share_lock__release(struct share_lock *lock)
{
	close(lock->file);
}

/* ---- show */

static json_t *collector_to_json(const struct dart_share_history *history, struct in_addr collector)
{
	struct dart_share_set set;
	char address[INET_ADDRSTRLEN];
	json_t *json;
	char *text;

	dart_share_history__shares(history, collector, &set);
	inet_ntop(AF_INET, &collector, address, sizeof(address));
	text = dart_share_set__text(&set);
	json = json_pack("{s:s, s:s, s:i}", "collector", address, "shares", text, "count",
			 (int)dart_share_set__count(&set));
	free(text);
	return json;
}

static json_t *collectors_to_json(const struct dart_share_history *history)
{
	struct in_addr collectors[DART_STORE_SHARES];
	uint32_t count = dart_share_history__collectors(history, collectors), i;
	json_t *list = json_array();

	for (i = 0; i < count; i++)
		json_array_append_new(list, collector_to_json(history, collectors[i]));
	return list;
}

static json_t *owners_to_json(const struct dart_share_history *history, uint32_t share)
{
	struct dart_share_owner owners[DART_SHARE_OWNERS_MAX];
	uint32_t count = dart_share_history__owners(history, share, owners), i;
	char since[INSTANT_MAX], until[INSTANT_MAX], address[INET_ADDRSTRLEN];
	json_t *list = json_array();

	for (i = 0; i < count; i++) {
		inet_ntop(AF_INET, &owners[i].collector, address, sizeof(address));
		instant__print(owners[i].since_ms * 1000000, since);
		instant__print(owners[i].until_ms * 1000000, until);
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s*}", "collector", address, "since",
						since, "until", owners[i].until_ms ? until : NULL));
	}
	return list;
}

int command_share_show(const struct options *options, int argc, char **argv)
{
	static const struct table_column of_collectors[] = { TEXT_COLUMN("COLLECTOR", "collector"),
							     NUMBER_COLUMN("COUNT", "count"),
							     TEXT_COLUMN("SHARES", "shares"),
							     {} },
					 of_share[] = { TEXT_COLUMN("COLLECTOR", "collector"),
							TEXT_COLUMN("SINCE", "since"),
							TEXT_COLUMN("UNTIL", "until"),
							{} };
	struct dart_share_history *history;
	struct dart_error error;
	long long share = -1;
	json_t *list;
	int ret;

	if (argc > 1)
		share = options__number(argv[1], DART_STORE_SHARES - 1);
	if (argc > 1 && share < 0)
		return misuse("'%s' is not a share, a number from 0 to %d", argv[1],
			      DART_STORE_SHARES - 1);
	ret = share_file__read(argv[0], &history, &error);
	if (ret)
		return fail(-ret, "%s", error.text);
	list = share < 0 ? collectors_to_json(history) : owners_to_json(history, share);
	if (options->json)
		ret = print_json(json_pack("{s:s, s:O}", "store",
					   dart_share_history__store(history),
					   share < 0 ? "collectors" : "owners", list),
				 0);
	else
		ret = table__print_objects(list, share < 0 ? of_collectors : of_share);
	json_decref(list);
	dart_share_history__free(history);
	return ret;
}
