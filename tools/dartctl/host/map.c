// SPDX-License-Identifier: GPL-2.0-only
/* dartctl map, counters and probe: the memory of eBPF programs and of modules. */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/configuration/object.h>
#include <libdart/escape.h>

#include "tools/dartctl/cli/command.h"

/* ---- maps, found by path, id or name */

static const char *remedy(int code)
{
	return (code == EPERM || code == EACCES) && geteuid() ? " (be root)" : "";
}

/* These return a descriptor open for reading, or -1 with a message printed. */
static int open_path(const char *path)
{
	struct dart_error error;
	int fd = dart_object__open_map(path, &error);

	if (fd < 0)
		fail(-fd, "%s", error.text);
	return fd;
}

static int open_id(uint32_t id)
{
	LIBBPF_OPTS(bpf_get_fd_by_id_opts, options, .open_flags = BPF_F_RDONLY);

	return bpf_map_get_fd_by_id_opts(id, &options);
}

static int open_number(const char *number)
{
	long long id = options__number(number, UINT32_MAX);
	int fd;

	if (id < 0) {
		fail(EINVAL, "'%s' is not the id of a map", number);
		return -1;
	}
	fd = open_id(id);
	if (fd < 0)
		fail(errno, "cannot open map %lld: %s%s", id, strerror(errno), remedy(errno));
	return fd;
}

static bool has_name(int fd, const char *name)
{
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &size) && !strcmp(info.name, name);
}

/* Adds ", N" to a list; cuts lists that are too long to be useful. */
static void list_id(char *list, size_t size, uint32_t id)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%u", used ? ", " : "", id);
}

/* The only map with this name. */
static int open_name(const char *name)
{
	char ids[256] = "";
	int fd, found = -1;
	uint32_t id = 0;
	bool many = false;

	while (!bpf_map_get_next_id(id, &id)) {
		fd = open_id(id);
		if (fd < 0 || !has_name(fd, name)) {
			if (fd >= 0)
				close(fd);
			else if (errno != ENOENT)
				break;
			continue;
		}
		list_id(ids, sizeof(ids), id);
		if (found >= 0) {
			many = true;
			close(fd);
		} else {
			found = fd;
		}
	}

	if (errno != ENOENT) {
		fail(errno, "cannot list the maps: %s%s", strerror(errno), remedy(errno));
	} else if (many) {
		fail(EINVAL, "there are several maps '%s': %s (choose one with 'id N')", name, ids);
	} else if (found < 0) {
		fail(ENOENT, "there is no map '%s' (see bpftool map list)", name);
	} else {
		return found;
	}
	if (found >= 0)
		close(found);
	return -1;
}

int command_map_add(const struct options *options, int argc, char **argv)
{
	char absolute[PATH_MAX], *path = NULL;
	const char *name = NULL;
	int fd, status;

	if (argc >= 3 && !strcmp(argv[argc - 2], "as")) {
		name = argv[argc - 1];
		argc -= 2;
	}

	/* Only root may tell dartd where to find the map after a restart. */
	if (argc == 1 && !geteuid())
		path = realpath(argv[0], absolute);
	if (path && !dart_escape__is_utf8(path))
		return fail(EINVAL,
			    "'%s' is not UTF-8: dartd could not find the map there again after a restart (pin it at another path)",
			    path);
	if (argc == 1)
		fd = open_path(argv[0]);
	else if (argc == 2 && !strcmp(argv[0], "id"))
		fd = open_number(argv[1]);
	else if (argc == 2 && !strcmp(argv[0], "name"))
		fd = open_name(argv[1]);
	else
		return misuse("'%s' takes PATH, id N or name X, and 'as NAME'", options->path);
	if (fd < 0)
		return EXIT_FAILURE;

	status = client__do(options,
			    json_pack("{s:s, s:s*, s:s*}", "request", "register-map", "name", name,
				      "path", path),
			    fd, "entry");
	close(fd);
	return status;
}

const struct command map_commands[] = {
	{ "add", "PATH|id N|name X [as NAME]",
	  "expose an eBPF array map, by its path, id or name",
	  .run = command_map_add, .least = 1, .most = 4 },
	{}
};

/* ---- per-CPU counters of modules and eBPF programs */

int command_counters_add(const struct options *options, int argc, char **argv)
{
	json_t *names = argc > 1 ? json_array() : NULL;
	int i;

	for (i = 1; i < argc; i++)
		json_array_append_new(names, json_string(argv[i]));
	return client__do(options,
			  json_pack("{s:s, s:s, s:o*}", "request", "register-counters", "name",
				    argv[0], "counters", names),
			  -1, "entry");
}

const struct command counters_commands[] = {
	{ "add", "NAME [COUNTER]...", "expose counters of a module, or new ones for eBPF",
	  .run = command_counters_add, .least = 1, .most = INT_MAX },
	{ }
};

/* ---- eBPF programs that dartd brings with it */

static const struct table_column columns[] = {
	TEXT_COLUMN("NAME", "name"),
	TEXT_COLUMN("LOADED", "loaded"),
	NUMBER_COLUMN("MISSED", "missed"),
	TEXT_COLUMN("ENTRIES", "entries"),
	TEXT_COLUMN("DESCRIPTION", "description"),
	{ }
};

const struct command probe_commands[] = {
	{ "list", NULL, "list the eBPF programs that dartd can load",
	  .request = { "probe-list", { }, "probes", columns } },
	{ "load", "PROBE", "load an eBPF program and expose its counters",
	  .request = { "probe-load", { "name" }, "probe" },
	  .least = 1, .most = 1 },
	{ "unload", "PROBE", "unload an eBPF program",
	  .request = { "probe-unload", { "name" }, "probe" },
	  .least = 1, .most = 1 },
	{ }
};
