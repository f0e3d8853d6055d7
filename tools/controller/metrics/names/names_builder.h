/* SPDX-License-Identifier: GPL-2.0-only */
/* Names while they are loaded: families and series of one file after the other. */
#ifndef CONTROLLER_NAMES_BUILDER_H
#define CONTROLLER_NAMES_BUILDER_H

#include <stdatomic.h>

#include "names.h"
#include "tools/controller/base/arena.h"
#include "tools/controller/metrics/text/text_index.h"

struct loaded_names {
	struct names names; /* first */
	atomic_uint holders;
	struct arena arena; /* all texts and arrays but those below */
	struct name_family *families;
	struct name_series *series;
	struct name_place *places; /* where each family begins */
	uint32_t family_room;
	uint32_t series_room;
	struct text_index by_name; /* families */
	struct text_index by_source; /* the first series */
};

struct name_place {
	const char *path; /* in the arena */
	unsigned int line;
	/* A family of a pattern, whose further series may add to it; 0: of its own. */
	uint32_t pattern;
};

struct loaded_names *loaded_names__new(void);
void loaded_names__free(struct loaded_names *loaded);

/* What *@index becomes is valid until names are freed.  All return 0 or -ENOMEM. */
int loaded_names__add_family(struct loaded_names *loaded, const struct name_family *family,
			     const struct name_place *place, uint32_t *index);
int loaded_names__add_series(struct loaded_names *loaded, const struct name_series *series);

/* [a-zA-Z_][a-zA-Z0-9_]*, not too long, and of a label not "__..." */
bool name__is_valid(const char *name);

#endif /* CONTROLLER_NAMES_BUILDER_H */
