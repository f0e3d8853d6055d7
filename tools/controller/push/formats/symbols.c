// SPDX-License-Identifier: GPL-2.0-only
/* Texts that are numbered: see symbols.h. */
#include "symbols.h"

#include <xxhash.h>

#include "protobuf.h"

#define SYMBOLS_MIN 1024
#define SYMBOLS_MAX (1U << 24)

static void add_empty(struct symbols *symbols)
{
	uint8_t *to = bytes__reserve(&symbols->fields, 2);

	if (!to)
		return;
	to = protobuf__put_head(to, SYMBOLS_FIELD, 0);
	symbols->fields.length = to - symbols->fields.data;
	symbols->count = 1;
}

void symbols__empty(struct symbols *symbols)
{
	bytes__empty(&symbols->fields);
	symbols->count = 0;
	if (symbols->slots)
		memset(symbols->slots, 0, symbols->slot_count * sizeof(*symbols->slots));
}

void symbols__free(struct symbols *symbols)
{
	bytes__free(&symbols->fields);
	free(symbols->known);
	free(symbols->slots);
	*symbols = (struct symbols){};
}

/* Makes room for another symbol, and keeps half of the slots free. */
static bool make_room(struct symbols *symbols)
{
	const uint32_t room = symbols->room ? 2 * symbols->room : SYMBOLS_MIN;
	struct symbol *known;
	uint32_t *slots, i, at;

	if (symbols->count < symbols->room)
		return true;
	if (room > SYMBOLS_MAX)
		return false;
	known = realloc(symbols->known, room * sizeof(*known));
	if (known)
		symbols->known = known;
	slots = calloc(2 * room, sizeof(*slots));
	if (!known || !slots) {
		free(slots);
		return false;
	}
	for (i = 1; i < symbols->count; i++) {
		for (at = known[i].hash; slots[at & (2 * room - 1)]; at++)
			;
		slots[at & (2 * room - 1)] = i + 1;
	}
	free(symbols->slots);
	symbols->slots = slots;
	symbols->slot_count = 2 * room;
	symbols->room = room;
	return true;
}

static bool is_symbol(const struct symbols *symbols, uint32_t index, uint64_t hash,
		      const char *text, size_t length)
{
	const struct symbol *symbol = symbols->known + index;

	return symbol->hash == hash && symbol->length == length &&
	       !memcmp(symbols->fields.data + symbol->offset, text, length);
}

uint32_t symbols__find(struct symbols *symbols, const char *text)
{
	const size_t length = strlen(text);
	uint32_t at, *slot;
	uint64_t hash;
	uint8_t *to;

	if (!symbols->count)
		add_empty(symbols);
	if (!length)
		return 0;
	if (!make_room(symbols))
		symbols->fields.has_failed = true;
	if (symbols->fields.has_failed)
		return 0;
	hash = XXH3_64bits(text, length);
	for (at = hash;; at++) {
		slot = symbols->slots + (at & (symbols->slot_count - 1));
		if (!*slot)
			break;
		if (is_symbol(symbols, *slot - 1, hash, text, length))
			return *slot - 1;
	}
	to = bytes__reserve(&symbols->fields, protobuf__bytes_size(length));
	if (!to)
		return 0;
	to = protobuf__put_bytes(to, SYMBOLS_FIELD, text, length);
	symbols->fields.length = to - symbols->fields.data;
	symbols->known[symbols->count] = (struct symbol){
		.hash = hash,
		.offset = symbols->fields.length - length,
		.length = length,
	};
	*slot = ++symbols->count;
	return symbols->count - 1;
}
