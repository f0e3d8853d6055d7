/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CRCs of keys as in <dart/store.h>, by tables of any polynomial.  A CRC is linear: the CRC of a
 * key is the sum (XOR) of a constant for its length and of a term for each half of each byte, which
 * depends on the distance of that half from the end.  So the lookups do not depend on each other,
 * and the lookups of several CRCs can lie side by side in one vector.
 */
#ifndef DART_CRC_TERMS_H
#define DART_CRC_TERMS_H

#include <stddef.h>
#include <stdint.h>

/* Terms of a byte: 16 for each of its halves, the lower one first. */
#define DART_CRC_TERMS	32

/* Where the constants and terms of one CRC are, among the constants and terms of others. */
struct dart_crc_terms {
	uint32_t *constants;	/* by the length, from 0 to @length_max */
	size_t constant_stride;	/* words from one to the next */
	uint32_t *terms;	/* DART_CRC_TERMS for each byte, from the last one on */
	size_t term_stride;	/* words from one to the next */
	uint32_t length_max;	/* bytes of a key */
};

/* Fills them for the CRC with @polynomial. */
void dart_crc_terms__fill(const struct dart_crc_terms *crc, uint32_t polynomial);

/* The polynomial with its bits in the opposite order. */
uint32_t dart_crc__reflect(uint32_t polynomial);
/* The register after @byte; @reflected: the polynomial. */
uint32_t dart_crc__step(uint32_t reflected, uint32_t crc, uint8_t byte);

#endif /* DART_CRC_TERMS_H */
