/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names or patterns of the entries to scrape.  Many targets share one list, which does not
 * change and counts its holders.
 */
#ifndef CONTROLLER_ENTRY_NAMES_H
#define CONTROLLER_ENTRY_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct entry_names {
	atomic_uint holders;
	size_t count;
	char *names[];
};

/* Copies @names.  The caller is the first holder.  NULL if out of memory. */
struct entry_names *entry_names__new(char *const *names, size_t count);
/* Returns @names.  The next functions take NULL, too, which means all entries. */
struct entry_names *entry_names__hold(struct entry_names *names);
/* The last holder frees them, in any thread. */
void entry_names__release(struct entry_names *names);
/* Have both the same names in the same order? */
bool entry_names__equal(const struct entry_names *one, const struct entry_names *other);

#endif /* CONTROLLER_ENTRY_NAMES_H */
