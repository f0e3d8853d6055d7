/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An index of names or 32-bit numbers that are members of larger objects.  The key of a
 * name is the member that points to it, a const char *, and not the text.
 */
#ifndef ENTRY_INDEX_H
#define ENTRY_INDEX_H

/* Owns no memory once all keys have been removed. */
struct entry_index {
	int (*compare)(const void *key, const void *other);
	void *root;
};

#define ENTRY_INDEX_OF_NAMES                                                   \
	(struct entry_index){ .compare = entry_index__compare_names }
#define ENTRY_INDEX_OF_NUMBERS                                                 \
	(struct entry_index){ .compare = entry_index__compare_numbers }

int entry_index__compare_names(const void *key, const void *other);
int entry_index__compare_numbers(const void *key, const void *other);

/* @key differs from all others and must not move.  Returns 0 or -ENOMEM. */
int entry_index__add(struct entry_index *index, const void *key);
/* @key need not be in the index. */
void entry_index__remove(struct entry_index *index, const void *key);
/* Returns the added key that equals @key, or NULL. */
const void *entry_index__find(const struct entry_index *index, const void *key);

#endif /* ENTRY_INDEX_H */
