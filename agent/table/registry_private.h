/* SPDX-License-Identifier: GPL-2.0-only */
/* Between registry.c and registry_add.c. */
#ifndef REGISTRY_PRIVATE_H
#define REGISTRY_PRIVATE_H

#include "registry.h"

/* Ends a batch in which @ret has been reached, and returns what has come of it. */
int registry__end_with(struct registry *registry, int ret,
		       struct dart_error *error);

/* -EEXIST: there is an entry of this name. */
int registry__check_free(const struct registry *registry, const char *name,
			 struct dart_error *error);
/* In a batch: puts a new entry, which is freed if that fails, into the table. */
int registry__add(struct registry *registry, struct entry *entry,
		  struct dart_error *error);
/* In a batch: puts an entry that is on lease back into the table. */
int registry__revive(struct registry *registry, struct entry *entry,
		     const char *name, struct dart_error *error);
/* In a batch: takes an entry out of the table. */
void registry__take_out(struct registry *registry, struct entry *entry);

struct entry *registry__find_map(const struct entries *entries,
				 uint32_t map_id);

#endif /* REGISTRY_PRIVATE_H */
