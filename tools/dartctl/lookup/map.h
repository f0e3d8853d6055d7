/* SPDX-License-Identifier: GPL-2.0-only */
/* A lookup table of dartd on this host, mapped for reading. */
#ifndef LOOKUP_MAP_H
#define LOOKUP_MAP_H

#include <jansson.h>

#include <libdart/tea/tea_lookup.h>

#include "tools/dartctl/cli/options.h"

struct lookup_map {
	struct dart_tea_geometry geometry;
	struct dart_tea_hash *hash;
	uint32_t epoch;
	json_t *description; /* as in <dart/registration.h> */
	json_t *reply; /* holds the description */
	void *memory;
	size_t length; /* bytes */
};

/* Returns an exit status; after a failure its message has been printed. */
int lookup_map__open(struct lookup_map *map, const struct options *options, const char *name);
void lookup_map__close(struct lookup_map *map);

#endif /* LOOKUP_MAP_H */
