/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remote memory without a file that the service manager keeps for the next dartd.  Its
 * name in the fd store is NOUN-OBJECT,GEOMETRY: memory of an object with this name and
 * another geometry is of no use.
 */
#ifndef KEPT_MEMORY_H
#define KEPT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/fd_store.h"

struct kept_memory {
	struct fd_store *descriptors;
	const char *noun;	/* of an object, "store" */
	bool has_warned;	/* that no service manager keeps any */
};

/*
 * Writes the name of the memory of @object: @geometry, a format with its arguments, prints the
 * properties that the next dartd must want as well to take the memory.  Names that are longer than
 * FD_STORE_NAME_MAX - 1 are cut off: each kind asserts that its names fit.
 */
__attribute__((format(printf, 4, 5))) void
kept_memory__name(char name[static FD_STORE_NAME_MAX], const char *noun, const char *object,
		  const char *geometry, ...);
/* The names that begin so fit, if the digits and commas of their geometry are at most @geometry. */
#define KEPT_MEMORY_NAME_FITS(prefix, object_max, geometry) \
	(sizeof(prefix) + (object_max) + sizeof(geometry) < FD_STORE_NAME_MAX)
/* Writes the beginning of the names of an object's memory, whatever its geometry. */
void kept_memory__prefix(const char *noun, const char *object,
			 char prefix[static FD_STORE_NAME_MAX]);

/*
 * Returns the descriptor that is kept under @name, if it can be memory of @length bytes,
 * or -1; one that cannot be it is dropped.
 */
int kept_memory__find(struct kept_memory *kept, const char *name, uint64_t length);
/*
 * @object, which is new, has the memory that is or will be kept under @name: the memory found
 * there, if @is_found; the memory @fd; or, with -1, a file.  Other memory kept for it is dropped.
 * A failure to hand @fd over for the next dartd is logged once.
 */
void kept_memory__settle(struct kept_memory *kept, const char *object,
			 const char *name, bool is_found, int fd);
/* Its object was deleted. */
void kept_memory__remove(struct kept_memory *kept, const char *name);
/* Drops all memory of @object but that called @name, NULL for all; was there any? */
bool kept_memory__drop_others(struct kept_memory *kept, const char *object, const char *name);
/* Says which memory is kept for objects that nothing has created again. */
void kept_memory__log(const struct kept_memory *kept);

#endif /* KEPT_MEMORY_H */
