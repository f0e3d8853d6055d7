// SPDX-License-Identifier: GPL-2.0-only
/* Maps a lookup table of dartd into memory, for reading. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "map.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"

/* A number of the description; 0 if it does not fit into 32 bits. */
static uint32_t number(json_int_t value)
{
	return value < 0 || value > UINT32_MAX ? 0 : value;
}

static int read_description(struct lookup_map *map)
{
	json_int_t rows_log2, cells, key_length, value_length, packet_length, epoch;

	if (json_unpack(map->description, "{s:I, s:I, s:I, s:I, s:I, s:I}", "rows_log2", &rows_log2,
			"cells", &cells, "key_length", &key_length, "value_length", &value_length,
			"packet_length", &packet_length, "epoch", &epoch) ||
	    rows_log2 < 0 || rows_log2 > DART_TEA_ROWS_LOG2_MAX || epoch < 1 ||
	    epoch > DART_TEA_EPOCH_MAX)
		return -EPROTO;
	map->geometry = (struct dart_tea_geometry){
		.rows_log2 = rows_log2,
		.cells = number(cells),
		.key_length = number(key_length),
		.value_length = number(value_length),
		.packet_length = number(packet_length),
	};
	map->epoch = epoch;
	return dart_tea_geometry__check(&map->geometry) ? -EPROTO : 0;
}

int lookup_map__open(struct lookup_map *map, const struct options *options, const char *name)
{
	int fd, ret;

	*map = (struct lookup_map){};
	map->description =
		client__ask(options, json_pack("{s:s, s:s}", "request", "table-open", "name", name),
			    -1, "table", &map->reply, &fd);
	if (!map->description)
		return EXIT_FAILURE;
	ret = read_description(map);
	if (!ret)
		ret = file__map(fd, dart_tea_geometry__length(&map->geometry), &map->memory,
				&map->length);
	if (fd >= 0)
		close(fd);
	if (ret)
		goto release;
	ret = dart_tea_hash__new(&map->geometry, &map->hash);
	if (!ret)
		return EXIT_SUCCESS;
	munmap(map->memory, map->length);
release:
	json_decref(map->reply);
	return fail(-ret, "cannot map table '%s': %s", name, strerror(-ret));
}

void lookup_map__close(struct lookup_map *map)
{
	dart_tea_hash__free(map->hash);
	munmap(map->memory, map->length);
	json_decref(map->reply);
}
