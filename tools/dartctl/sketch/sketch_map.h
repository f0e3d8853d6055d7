/* SPDX-License-Identifier: GPL-2.0-only */
/* A period of a sketch: of dartd on this host, mapped, or of another host. */
#ifndef SKETCH_MAP_H
#define SKETCH_MAP_H

#include <jansson.h>

#include <libdart/sketch/sketch_reader.h>

#include "tools/dartctl/cli/options.h"

/* Which sketch the command line names, and which period of it. */
struct sketch_wanted {
	const char *name;
	const char *from; /* "HOST" or "HOST:PORT"; NULL: dartd of this host */
	long long period; /* 0: the newest one */
};

struct sketch_map {
	struct dart_sketch_geometry geometry;
	struct dart_sketch_merge *merge;
};

/*
 * Reads the period of all sketchers.  Returns an exit status; after a failure its message has been
 * printed.  In every case the caller frees @map->merge.
 */
int sketch_map__read(struct sketch_map *map, const struct options *options,
		     const struct sketch_wanted *wanted);

/* Describes the sum: a new reference, NULL if out of memory. */
json_t *sketch_map__to_json(const struct sketch_map *map, const struct sketch_wanted *wanted);
/* Prints a sentence for people about everything that answers lack. */
void sketch_map__print_gaps(const struct sketch_map *map);
/* Prints when the period was: "period 170000000, 10 s from 2023-11-14 22:13:20 UTC on". */
void sketch_map__print_period(const struct sketch_map *map);

#endif /* SKETCH_MAP_H */
