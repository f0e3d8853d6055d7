// SPDX-License-Identifier: GPL-2.0-only
/* dartctl store show: estimates the load of a store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/store/store_sizing.h>
#include <libdart/store/store_query.h>

#include "store_map.h"
#include "tools/dartctl/cli/command.h"

/* Slots to examine: enough to estimate the load within about 1 %. */
#define SAMPLES (1 << 18)
#define SEED 1

/* An estimate of the number of keys that were reported to the store. */
struct filling {
	double written;		/* fraction of the slots */
	double load;		/* keys per slot; INFINITY: too many to estimate */
	double oldest;		/* fraction of the oldest keys that queries find */
	double average;		/* fraction of all keys that queries find */
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

/* JSON has no infinity. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *describe(const struct store_map *map, const struct filling *filling)
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
	const struct dart_store_geometry *geometry = dart_store__geometry(map->store);

	printf("slots          %llu\n", (unsigned long long)geometry->slots);
	printf("value          %u bytes\n", geometry->value_length);
	printf("checksum       %u bits\n", geometry->checksum_bits);
	printf("redundancy     %u\n", geometry->redundancy);
	printf("memory         %llu bytes\n",
	       (unsigned long long)dart_store_geometry__length(geometry));
	printf("epoch          %lld\n",
	       (long long)json_integer_value(json_object_get(map->description, "epoch")));
	printf("written slots  %.2f %%\n", 100 * filling->written);
	if (isfinite(filling->load))
		printf("load factor    %.4f keys per slot\n", filling->load);
	else
		printf("load factor    too high to tell\n");
	printf("to be found    %.2f %% of the oldest keys, %.2f %% of all\n",
	       100 * filling->oldest, 100 * filling->average);
}

int command_store_show(const struct options *options, int argc, char **argv)
{
	struct filling filling;
	struct store_map map;
	int status;

	status = store_map__open(&map, options, argv[0]);
	if (status)
		return status;
	filling = look(map.store);
	if (options->json)
		status = print_json(describe(&map, &filling), JSON_REAL_PRECISION(6));
	else
		print(&map, &filling);
	store_map__close(&map);
	return status;
}
