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

int store_map__choose(struct store_map *map, uint32_t bank, uint64_t since_ns)
{
	const struct dart_store_geometry geometry = map->geometry;
	const uint64_t stride = DART_EPOCH_STRIDE(dart_store_geometry__length(&geometry));

	if (bank >= DART_EPOCH_BANKS || !map->epochs)
		return -EPROTO;
	dart_store__free(map->store);
	map->store = NULL;
	map->bank = bank;
	map->since_ns = since_ns;
	return dart_store__new(&geometry, (uint8_t *)map->memory + bank * stride, &map->store);
}

bool store_map__is_valid(const struct store_map *map)
{
	/* The reads of slots come first. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !map->epochs || __atomic_load_n(&map->epochs->banks[map->bank].since_ns,
					       __ATOMIC_RELAXED) == map->since_ns;
}

/* The memory has two banks, and which of them is in use. */
static int store_map__use_epochs(struct store_map *map, json_t *epochs, int fd)
{
	const uint64_t length = dart_store_geometry__length(&map->geometry);
	json_int_t bank, since_ns;
	int ret;

	if (json_unpack(epochs, "{s:I, s:I}", "bank", &bank, "since_ns", &since_ns))
		return -EPROTO;
	ret = file__map(fd, DART_EPOCH_MEMORY_LENGTH(length), &map->memory, &map->length);
	if (ret)
		return ret;
	map->epochs = (void *)((uint8_t *)map->memory +
			       DART_EPOCH_BANKS * DART_EPOCH_STRIDE(length));
	ret = map->epochs->magic == DART_EPOCH_MEMORY_MAGIC ?
		      store_map__choose(map, bank, since_ns) :
		      -EPROTO;
	if (ret)
		munmap(map->memory, map->length);
	return ret;
}

static int store_map__use(struct store_map *map, int fd)
{
	json_t *epochs = json_object_get(map->description, "epochs");
	int ret;

	ret = read_geometry(map->description, &map->geometry);
	if (ret)
		return ret;
	if (epochs)
		return store_map__use_epochs(map, epochs, fd);
	ret = file__map(fd, dart_store_geometry__length(&map->geometry), &map->memory,
			&map->length);
	if (ret)
		return ret;
	ret = dart_store__new(&map->geometry, map->memory, &map->store);
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
