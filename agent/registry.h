/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registry: the entries by name, and those that have left the table but
 * can still be read (on lease).  Every change is published before it returns,
 * or has not happened.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "entry.h"
#include "exposure.h"
#include "lease.h"
#include "names.h"
#include "publication.h"
#include "region.h"
#include "why.h"

struct registry {
	struct region *region;
	struct exposure *exposure;
	struct leases *leases;
	struct publication *publication;
	struct entries entries;
	struct names names;	/* of the entries */
	struct entries retired;
};

void registry__open(struct registry *registry, struct region *region,
		    struct exposure *exposure, struct leases *leases,
		    struct publication *publication);
/* When nobody can READ any more: frees all entries, also those on lease. */
void registry__close(struct registry *registry);

int registry__add_source(struct registry *registry, const char *name,
			 struct entry **entry, struct why *why);
/*
 * @map_fd stays the caller's.  Takes the map's name if @name is NULL.
 */
int registry__add_map(struct registry *registry, int map_fd, const char *name,
		      struct entry **entry, struct why *why);
/* The entry lives on until its lease ends: *@entry may be looked at. */
int registry__remove(struct registry *registry, const char *name,
		     struct entry **entry, struct why *why);
struct entry *registry__find(const struct registry *registry,
			     const char *name);

#endif /* REGISTRY_H */
