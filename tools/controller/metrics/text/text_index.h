/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds numbers by texts, in constant time, without copying the texts. */
#ifndef CONTROLLER_TEXT_INDEX_H
#define CONTROLLER_TEXT_INDEX_H

#include <stdint.h>

#define TEXT_INDEX_NONE UINT32_MAX

/* Zeroed memory is an empty index. */
struct text_index {
	struct text_index_slot *slots;
	uint32_t size; /* number of slots, a power of two or 0 */
	uint32_t used;
};

/* Returns the number of @text, or TEXT_INDEX_NONE. */
uint32_t text_index__find(const struct text_index *index, const char *text);
/*
 * Adds @text, which is not in the index and outlives it; @number is not TEXT_INDEX_NONE. Returns 0
 * or -ENOMEM.
 */
int text_index__add(struct text_index *index, const char *text, uint32_t number);
void text_index__free(struct text_index *index);

#endif /* CONTROLLER_TEXT_INDEX_H */
