// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dart/store_query.h>

#include "client.h"
#include "command.h"
#include "store.h"
#include "store_map.h"
#include "table.h"

/* Slots that are looked at: the fraction is then right to about 0.001. */
#define SAMPLES (1 << 18)
#define SEED 1

/*
 * What a look into the store says: how many keys it has been told for each slot,
 * and what of it is still there.
 */
struct filling {
	double written;		/* fraction of the slots */
	double load;		/* keys per slot; INFINITY: more than can be seen */
	double oldest;		/* chance that the first of these keys is found */
};

/*
 * A slot stays unwritten through n reports to M slots with the chance
 * e^(-n/M), and a key makes N of them (DART, section 4).
 */
static struct filling look(const struct dart_store *store)
{
	uint32_t redundancy = dart_store__geometry(store)->redundancy;
	uint64_t written = dart_store__sample(store, SAMPLES, SEED);
	struct filling filling = { .written = (double)written / SAMPLES };

	filling.load = written < SAMPLES ?
			       -log1p(-filling.written) / redundancy :
			       INFINITY;
	filling.oldest = 1 - pow(filling.written, redundancy);
	return filling;
}

static json_t *describe(const struct store_map *map,
			const struct filling *filling)
{
	json_t *json = json_deep_copy(map->description);

	if (!json)
		return NULL;
	json_object_set_new(json, "written", json_real(filling->written));
	json_object_set_new(json, "load_factor",
			    isfinite(filling->load) ?
				    json_real(filling->load) : json_null());
	json_object_set_new(json, "success_oldest",
			    json_real(filling->oldest));
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
	printf("success        %.2f %% for the oldest key\n",
	       100 * filling->oldest);
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
