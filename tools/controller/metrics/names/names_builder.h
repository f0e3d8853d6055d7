/* SPDX-License-Identifier: GPL-2.0-only */
/* Names during loading: families and series of one file after the other. */
#ifndef CONTROLLER_NAMES_BUILDER_H
#define CONTROLLER_NAMES_BUILDER_H

#include <stdatomic.h>

#include "names.h"
#include "tools/controller/base/arena.h"
#include "tools/controller/metrics/text/text_index.h"

struct loaded_names {
	struct names names; /* first member */
	atomic_uint holders;
	struct arena arena; /* memory of all texts and arrays, except the arrays below */
	struct name_family *families;
	struct name_series *series;
	struct name_place *places; /* where the files define each family */
	uint32_t family_room;
	uint32_t series_room;
	struct text_index by_name; /* finds families */
	struct text_index by_source; /* finds the first series */
};

struct name_place {
	const char *path; /* in the arena */
	unsigned int line;
	/*
	 * Line of the pattern that defines the family, whose further series may add to it; 0 if the
	 * family is not from a pattern.
	 */
	uint32_t pattern;
};

struct loaded_names *loaded_names__new(void);
void loaded_names__free(struct loaded_names *loaded);

/* Both return 0 or -ENOMEM. *@index stays valid until the names are freed. */
int loaded_names__add_family(struct loaded_names *loaded, const struct name_family *family,
			     const struct name_place *place, uint32_t *index);
int loaded_names__add_series(struct loaded_names *loaded, const struct name_series *series);

/* Matches [a-zA-Z_][a-zA-Z0-9_]* up to NAMES_LENGTH_MAX bytes, without "__" at the start. */
bool name__is_valid(const char *name);

#endif /* CONTROLLER_NAMES_BUILDER_H */
