/* SPDX-License-Identifier: GPL-2.0-only */
/* Ids: a set of numbers that are part of something that has to be found. */
#ifndef IDS_H
#define IDS_H

#include <stdint.h>

/* All zeros is an empty one; it is to be empty again in the end. */
struct ids {
	void *root;
};

/* @id, which no other is equal to, stays where it is.  -ENOMEM. */
int ids__add(struct ids *ids, const uint32_t *id);
/* It need not be in there. */
void ids__remove(struct ids *ids, const uint32_t *id);
/* The number that was added, or NULL. */
const uint32_t *ids__find(const struct ids *ids, uint32_t id);

#endif /* IDS_H */
