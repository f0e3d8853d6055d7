// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fills the tables of CRCs: see crc_terms_internal.h. */
#include "crc_terms_internal.h"

uint32_t dart_crc__step(uint32_t reflected, uint32_t crc, uint8_t byte)
{
	int bit;

	crc ^= byte;
	for (bit = 0; bit < 8; bit++)
		crc = crc >> 1 ^ (crc & 1 ? reflected : 0);
	return crc;
}

uint32_t dart_crc__reflect(uint32_t polynomial)
{
	uint32_t reflected = 0;
	int bit;

	for (bit = 0; bit < 32; bit++)
		if (polynomial & UINT32_C(1) << bit)
			reflected |= UINT32_C(1) << (31 - bit);
	return reflected;
}

/* The 16 terms of a half; @bits: the register after each of its bits. */
static void fill_half(uint32_t *terms, size_t stride, const uint32_t *bits)
{
	uint32_t value, bit;

	for (value = 0; value < 16; value++) {
		uint32_t sum = 0;

		for (bit = 0; bit < 4; bit++)
			if (value & 1 << bit)
				sum ^= bits[bit];
		terms[value * stride] = sum;
	}
}

void dart_crc_terms__fill(const struct dart_crc_terms *crc, uint32_t polynomial)
{
	const uint32_t reflected = dart_crc__reflect(polynomial);
	uint32_t *terms = crc->terms;
	uint32_t start = UINT32_MAX;
	uint32_t bits[8];	/* the register after one bit, and zeros */
	uint32_t distance, bit;

	for (distance = 0; distance <= crc->length_max; distance++) {
		crc->constants[distance * crc->constant_stride] = ~start;
		start = dart_crc__step(reflected, start, 0);
	}

	for (bit = 0; bit < 8; bit++)
		bits[bit] = dart_crc__step(reflected, 0, 1 << bit);
	for (distance = 0; distance < crc->length_max; distance++) {
		fill_half(terms, crc->term_stride, bits);
		fill_half(terms + 16 * crc->term_stride, crc->term_stride, bits + 4);
		for (bit = 0; bit < 8; bit++)
			bits[bit] = dart_crc__step(reflected, bits[bit], 0);
		terms += DART_CRC_TERMS * crc->term_stride;
	}
}
