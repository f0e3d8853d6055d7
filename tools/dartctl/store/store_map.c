// SPDX-License-Identifier: GPL-2.0-only
/* Maps a store of dartd into memory, for reading. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store_map.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"

static int read_geometry(json_t *description, struct dart_store_geometry *geometry)
{
	json_int_t slots_log2, value_length, checksum_bits, redundancy;

	if (json_unpack(description, "{s:I, s:I, s:I, s:I}", "slots_log2", &slots_log2,
			"value_length", &value_length, "checksum_bits", &checksum_bits,
			"redundancy", &redundancy) ||
	    slots_log2 < 0 || slots_log2 > DART_STORE_SLOTS_LOG2_MAX)
		return -EPROTO;
	*geometry = (struct dart_store_geometry){
		.slots = UINT64_C(1) << slots_log2,
		.value_length = value_length,
		.checksum_bits = checksum_bits,
		.redundancy = redundancy,
	};
	return dart_store_geometry__check(geometry) ? -EPROTO : 0;
}

static int store_map__use(struct store_map *map, int fd)
{
	struct dart_store_geometry geometry;
	int ret;

	ret = read_geometry(map->description, &geometry);
	if (!ret)
		ret = file__map(fd, dart_store_geometry__length(&geometry), &map->memory,
				&map->length);
	if (ret)
		return ret;
	ret = dart_store__new(&geometry, map->memory, &map->store);
	if (ret)
		munmap(map->memory, map->length);
	return ret;
}

int store_map__open(struct store_map *map, const struct options *options, const char *name)
{
	int fd, ret;

	*map = (struct store_map){};
	map->description =
		client__ask(options, json_pack("{s:s, s:s}", "request", "store-open", "name", name),
			    -1, "store", &map->reply, &fd);
	if (!map->description)
		return EXIT_FAILURE;
	ret = store_map__use(map, fd);
	if (fd >= 0)
		close(fd);
	if (!ret)
		return EXIT_SUCCESS;
	json_decref(map->reply);
	return fail(-ret, "cannot map store '%s': %s", name, strerror(-ret));
}

void store_map__close(struct store_map *map)
{
	dart_store__free(map->store);
	munmap(map->memory, map->length);
	json_decref(map->reply);
}
