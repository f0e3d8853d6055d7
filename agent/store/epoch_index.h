/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The epochs of a store that have files, in memory: the folder is read again only after it changed,
 * so that callers who ask often cost no passes over thousands of files.
 */
#ifndef EPOCH_INDEX_H
#define EPOCH_INDEX_H

#include <stdbool.h>
#include <time.h>

#include <dart/epoch.h>

#include "epoch_folder.h"

/* All zeros, except for the folder: nothing was read yet. */
struct epoch_index {
	const struct epoch_folder *folder;
	struct epoch_list list;
	uint64_t *reach; /* the latest end of each epoch of the list and of all before it */
	struct timespec changed; /* of the folder, before it was read */
	bool is_exact; /* no change can have the same time */
	uint64_t passes; /* over the folder */
};

/* Frees the list. */
void epoch_index__close(struct epoch_index *index);
/* Brings the list up to date; it is valid until the next call. */
int epoch_index__refresh(struct epoch_index *index, struct dart_error *error);
/*
 * The first epoch of the list that ends after @since_ns; the count if there is none.  Epochs after
 * it may have ended before: their times overlap if the clock was set back between two dartd.
 */
size_t epoch_index__first(const struct epoch_index *index, uint64_t since_ns);
/* The epoch that began at @since_ns, or NULL. */
const struct epoch_item *epoch_index__find(const struct epoch_index *index, uint64_t since_ns);

/* Takes an epoch with its bytes, in a bank, or -1: in a file.  0, or the selection ends. */
typedef int epoch_index_take(void *argument, const struct epoch_item *item, int bank);
/*
 * Calls @take for all epochs, of the list and of @banks, of which a part lies from @since_ns to
 * @until_ns, in the order of their beginnings; a bank without an epoch has zeros.  An epoch that is
 * in a bank and in a file counts as in the bank: memory is faster.  Returns 0, or the first other
 * value of @take.
 */
int epoch_index__select(const struct epoch_index *index,
			const struct epoch_item banks[static DART_EPOCH_BANKS], uint64_t since_ns,
			uint64_t until_ns, epoch_index_take *take, void *argument);

#endif /* EPOCH_INDEX_H */
