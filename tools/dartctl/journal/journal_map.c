// SPDX-License-Identifier: GPL-2.0-only
/* Maps a journal of dartd into memory for reading, or connects to another host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <libdart/rdma/address.h>

#include "journal_map.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"

static int read_geometry(json_t *description, struct dart_journal_geometry *geometry)
{
	json_int_t batches_log2, entry_length, batch_log2, lists_log2, parts;

	if (json_unpack(description, "{s:I, s:I, s:I, s:I, s:I}", "batches_log2", &batches_log2,
			"entry_length", &entry_length, "batch_log2", &batch_log2, "lists_log2",
			&lists_log2, "parts", &parts))
		return -EPROTO;
	*geometry = (struct dart_journal_geometry){
		.parts = parts,
		.lists_log2 = lists_log2,
		.batches_log2 = batches_log2,
		.batch_log2 = batch_log2,
		.entry_length = entry_length,
	};
	return dart_journal_geometry__check(geometry) ? -EPROTO : 0;
}

static int journal_map__use(struct journal_map *map, int fd)
{
	struct dart_journal_geometry geometry;
	int ret;

	ret = read_geometry(map->description, &geometry);
	if (!ret)
		ret = file__map(fd, dart_journal_geometry__length(&geometry), &map->memory,
				&map->length);
	if (ret)
		return ret;
	ret = dart_journal_reader__map(&geometry, map->memory, &map->reader);
	if (ret)
		munmap(map->memory, map->length);
	return ret;
}

static int open_here(struct journal_map *map, const struct options *options, const char *name)
{
	int fd, ret;

	map->description = client__ask(
		options, json_pack("{s:s, s:s}", "request", "journal-open", "name", name), -1,
		"journal", &map->reply, &fd);
	if (!map->description)
		return EXIT_FAILURE;
	ret = journal_map__use(map, fd);
	if (fd >= 0)
		close(fd);
	if (!ret)
		return EXIT_SUCCESS;
	json_decref(map->reply);
	return fail(-ret, "cannot map journal '%s': %s", name, strerror(-ret));
}

static int open_there(struct journal_map *map, const char *name, const char *from)
{
	struct dart_error error;
	uint16_t port;
	char *host;
	int ret;

	ret = dart_address__parse(from, &host, &port);
	if (ret)
		return ret == -ENOMEM ? fail__out_of_memory() :
					misuse("'%s' is not HOST or HOST:PORT", from);
	ret = dart_journal_reader__open(host, port, name, &map->reader, &error);
	free(host);
	return ret ? fail(-ret, "cannot read journal '%s' of %s: %s", name, from, error.text) :
		     EXIT_SUCCESS;
}

int journal_map__open(struct journal_map *map, const struct options *options, const char *name,
		      const char *from)
{
	*map = (struct journal_map){};
	return from ? open_there(map, name, from) : open_here(map, options, name);
}

void journal_map__close(struct journal_map *map)
{
	dart_journal_reader__close(map->reader);
	if (map->memory)
		munmap(map->memory, map->length);
	json_decref(map->reply);
}
