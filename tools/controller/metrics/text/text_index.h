/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds numbers by texts, in constant time.  It does not copy the texts. */
#ifndef CONTROLLER_TEXT_INDEX_H
#define CONTROLLER_TEXT_INDEX_H

#include <stdint.h>

#define TEXT_INDEX_NONE UINT32_MAX

/* All zeros is an empty index. */
struct text_index {
	struct text_index_slot *slots;
	uint32_t size; /* slots, a power of two or 0 */
	uint32_t used;
};

/* The number of @text, or TEXT_INDEX_NONE. */
uint32_t text_index__find(const struct text_index *index, const char *text);
/*
 * @text is not in the index, and outlives it; @number is not TEXT_INDEX_NONE.  Returns 0 or
 * -ENOMEM.
 */
int text_index__add(struct text_index *index, const char *text, uint32_t number);
void text_index__free(struct text_index *index);

#endif /* CONTROLLER_TEXT_INDEX_H */
