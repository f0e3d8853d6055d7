/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The epochs of a store that have files, in memory: the folder is read again only after it changed,
 * so that callers who ask often cost no passes over thousands of files.
 */
#ifndef EPOCH_INDEX_H
#define EPOCH_INDEX_H

#include <stdbool.h>
#include <time.h>

#include "epoch_folder.h"

/* All zeros, except for the folder: nothing was read yet. */
struct epoch_index {
	const struct epoch_folder *folder;
	struct epoch_list list;
	struct timespec changed; /* of the folder, before it was read */
	bool is_exact; /* no change can have the same time */
	uint64_t passes; /* over the folder */
};

/* Frees the list. */
void epoch_index__close(struct epoch_index *index);
/* Brings the list up to date; it is valid until the next call. */
int epoch_index__refresh(struct epoch_index *index, struct dart_error *error);
/* The first epoch of the list that ends after @since_ns; the count if there is none. */
size_t epoch_index__first(const struct epoch_index *index, uint64_t since_ns);
/* The epoch that began at @since_ns, or NULL. */
const struct epoch_item *epoch_index__find(const struct epoch_index *index, uint64_t since_ns);

#endif /* EPOCH_INDEX_H */
