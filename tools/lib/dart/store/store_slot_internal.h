/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checksum and value in a slot; private to the store. */
#ifndef DART_STORE_SLOT_H
#define DART_STORE_SLOT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline __attribute__((always_inline)) uint64_t
slot__checksum(const uint8_t *slot, const uint32_t bits)
{
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	switch (bits) {
	case 8:
		return *slot;
	case 16:
		memcpy(&half, slot, sizeof(half));
		return be16toh(half);
	case 32:
		memcpy(&word, slot, sizeof(word));
		return be32toh(word);
	default:
		memcpy(&wide, slot, sizeof(wide));
		return be64toh(wide);
	}
}

static inline void slot__set_checksum(uint8_t *slot, uint64_t checksum, uint32_t bits)
{
	const uint64_t wide = htobe64(checksum);
	const uint32_t word = htobe32((uint32_t)checksum);
	const uint16_t half = htobe16((uint16_t)checksum);

	switch (bits) {
	case 8:
		*slot = (uint8_t)checksum;
		break;
	case 16:
		memcpy(slot, &half, sizeof(half));
		break;
	case 32:
		memcpy(slot, &word, sizeof(word));
		break;
	default:
		memcpy(slot, &wide, sizeof(wide));
	}
}

/* The bits in which two words differ. */
static inline uint64_t differ4(const uint8_t *a, const uint8_t *b)
{
	uint32_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x ^ y;
}

static inline uint64_t differ8(const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x ^ y;
}

static inline uint64_t differ16(const uint8_t *a, const uint8_t *b)
{
	return differ8(a, b) | differ8(a + 8, b + 8);
}

static inline uint64_t differ32(const uint8_t *a, const uint8_t *b)
{
	return differ16(a, b) | differ16(a + 16, b + 16);
}

/*
 * Values are so short that calling memcmp() or memcpy(), into which the
 * compiler turns loops as well, costs more than the work.  So take one piece
 * from the beginning and one up to the end; they may overlap.
 */
static inline __attribute__((always_inline)) bool
value__same(const uint8_t *a, const uint8_t *b, uint32_t length)
{
	const uint8_t *a_end = a + length, *b_end = b + length;

	if (length < 8)
		return !(differ4(a, b) | differ4(a_end - 4, b_end - 4));
	if (length < 16)
		return !(differ8(a, b) | differ8(a_end - 8, b_end - 8));
	if (length < 32)
		return !(differ16(a, b) | differ16(a_end - 16, b_end - 16));
	return !(differ32(a, b) | differ32(a_end - 32, b_end - 32));
}

static inline __attribute__((always_inline)) void
value__copy(uint8_t *to, const uint8_t *from, uint32_t length)
{
	uint8_t *to_end = to + length;
	const uint8_t *from_end = from + length;

	if (length < 8) {
		memcpy(to, from, 4);
		memcpy(to_end - 4, from_end - 4, 4);
	} else if (length < 16) {
		memcpy(to, from, 8);
		memcpy(to_end - 8, from_end - 8, 8);
	} else if (length < 32) {
		memcpy(to, from, 16);
		memcpy(to_end - 16, from_end - 16, 16);
	} else {
		memcpy(to, from, 32);
		memcpy(to_end - 32, from_end - 32, 32);
	}
}

#endif /* DART_STORE_SLOT_H */
