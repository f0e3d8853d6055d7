/* SPDX-License-Identifier: GPL-2.0-only */
/* The texts of a message of remote write 2.0, each once. */
#ifndef CONTROLLER_SYMBOLS_H
#define CONTROLLER_SYMBOLS_H

#include "bytes.h"

/* The number of the field "symbols" in a message of remote write 2.0. */
#define SYMBOLS_FIELD 4

struct symbol {
	uint64_t hash;
	uint32_t offset; /* of the text in the field's bytes */
	uint32_t length;
};

struct symbols {
	struct bytes fields; /* of the message: symbols = 4, in the order of their indexes */
	struct symbol *known;
	uint32_t count;
	uint32_t room;
	uint32_t *slots; /* by hash: index + 1, or 0 */
	uint32_t slot_count; /* a power of 2, or 0 */
};

/* For the next message: only "", which is 0, is left. */
void symbols__empty(struct symbols *symbols);
void symbols__free(struct symbols *symbols);

/*
 * The index of @text, which is added if it is new.  Out of memory is a failure of the fields,
 * and the index 0.
 */
uint32_t symbols__find(struct symbols *symbols, const char *text);

#endif /* CONTROLLER_SYMBOLS_H */
