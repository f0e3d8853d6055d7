/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes that grow at their end, in one thread. */
#ifndef CONTROLLER_BYTES_H
#define CONTROLLER_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Far beyond the size of any message: sums of lengths below it do not overflow. */
#define BYTES_MAX ((size_t)1 << 30)

struct bytes {
	uint8_t *data;
	size_t length;
	size_t room;
	bool has_failed; /* out of memory: later bytes are left out */
};

/* Room for @more bytes after the last one; NULL and has_failed if out of memory. */
static inline uint8_t *bytes__reserve(struct bytes *bytes, size_t more)
{
	const size_t wanted = bytes->length + more;
	uint8_t *grown;

	if (wanted <= bytes->room && !bytes->has_failed)
		return bytes->data + bytes->length;
	grown = bytes->has_failed || more > BYTES_MAX || wanted > BYTES_MAX ?
			NULL :
			realloc(bytes->data, 2 * wanted);
	if (!grown) {
		bytes->has_failed = true;
		return NULL;
	}
	bytes->data = grown;
	bytes->room = 2 * wanted;
	return grown + bytes->length;
}

static inline void bytes__put(struct bytes *bytes, const void *data, size_t length)
{
	uint8_t *to = bytes__reserve(bytes, length);

	if (!to)
		return;
	memcpy(to, data, length);
	bytes->length += length;
}

static inline void bytes__put_byte(struct bytes *bytes, uint8_t byte)
{
	bytes__put(bytes, &byte, 1);
}

/* Keeps the memory for the next bytes. */
static inline void bytes__empty(struct bytes *bytes)
{
	bytes->length = 0;
	bytes->has_failed = false;
}

static inline void bytes__free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){};
}

#endif /* CONTROLLER_BYTES_H */
