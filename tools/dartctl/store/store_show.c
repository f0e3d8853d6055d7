// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/store/store_sizing.h>
#include <libdart/store/store_query.h>

#include "store.h"
#include "store_map.h"
#include "tools/dartctl/client.h"
#include "tools/dartctl/command.h"
#include "tools/dartctl/table.h"

/* Slots that are looked at: the load is then known to about 1 %. */
#define SAMPLES (1 << 18)
#define SEED 1

/* What a look into the store says of the keys that have been reported to it. */
struct filling {
	double written;		/* part of the slots */
	double load;		/* keys per slot; INFINITY: more than can be seen */
	double oldest;		/* part of the first of them that is found */
	double average;		/* part of all of them */
};

static struct filling look(const struct dart_store *store)
{
	uint32_t redundancy = dart_store__geometry(store)->redundancy;
	uint64_t written = dart_store__sample(store, SAMPLES, SEED);
	double load = dart_store_sizing__estimate(written, SAMPLES, redundancy);

	return (struct filling){
		.written = (double)written / SAMPLES,
		.load = load,
		.oldest = dart_store_sizing__oldest(load, redundancy),
		.average = dart_store_sizing__average(load, redundancy),
	};
}

/* Numbers that JSON has. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *describe(const struct store_map *map,
			const struct filling *filling)
{
	json_t *json = json_deep_copy(map->description);

	if (!json)
		return NULL;
	json_object_set_new(json, "written", number(filling->written));
	json_object_set_new(json, "load", number(filling->load));
	json_object_set_new(json, "oldest", number(filling->oldest));
	json_object_set_new(json, "average", number(filling->average));
	return json;
}

static void print(const struct store_map *map, const struct filling *filling)
{
	const struct dart_store_geometry *geometry =
		dart_store__geometry(map->store);

	printf("slots          %llu\n", (unsigned long long)geometry->slots);
	printf("value          %u bytes\n", geometry->value_length);
	printf("checksum       %u bits\n", geometry->checksum_bits);
	printf("redundancy     %u\n", geometry->redundancy);
	printf("memory         %llu bytes\n",
	       (unsigned long long)dart_store_geometry__length(geometry));
	printf("written slots  %.2f %%\n", 100 * filling->written);
	if (isfinite(filling->load))
		printf("load factor    %.4f keys per slot\n", filling->load);
	else
		printf("load factor    too high to be seen\n");
	printf("to be found    %.2f %% of the oldest keys, %.2f %% of all\n",
	       100 * filling->oldest, 100 * filling->average);
}

int store_show(const struct options *options, int argc, char **argv)
{
	struct filling filling;
	struct store_map map;
	json_t *json;
	int status;

	if (argc != 1)
		return misuse("'store show' needs one name");
	status = store_map__open(&map, options, argv[0]);
	if (status)
		return status;
	filling = look(map.store);
	if (options->json) {
		json = json_pack("{s:b, s:o}", "ok", 1, "store",
				 describe(&map, &filling));
		if (json_dumpf(json, stdout, JSON_INDENT(2) |
			       JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6)))
			status = fail("memory is short");
		else
			putchar('\n');
		json_decref(json);
	} else {
		print(&map, &filling);
	}
	store_map__close(&map);
	return status;
}
