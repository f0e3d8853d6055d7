/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places of a key in a store: see <dart/store.h>. */
#ifndef DART_STORE_HASH_H
#define DART_STORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include <dart/store.h>

/* The parameters that all reporters and readers of a store share. */
struct dart_store_geometry {
	/*
	 * 1 to 2^32, a power of two.  Simulations may use other numbers: then
	 * the slot is CRC * slots / 2^32 instead of the lowest bits of the CRC.
	 */
	uint64_t slots;
	uint32_t value_length;	/* bytes */
	uint32_t checksum_bits;	/* 8, 16, 32 or 64 */
	uint32_t redundancy;	/* slots of a key */
};

/* Returns 0, or -EINVAL if a store cannot have this geometry. */
int dart_store_geometry__check(const struct dart_store_geometry *geometry);
/* Bytes of a slot, and of all slots. */
size_t dart_store_geometry__slot_length(const struct dart_store_geometry *geometry);
uint64_t dart_store_geometry__length(const struct dart_store_geometry *geometry);

/* The CRC of <dart/store.h> with @polynomial. */
uint32_t dart_store__crc(uint32_t polynomial, const void *data, size_t length);

/* The share of a key, which all stores compute in the same way. */
static inline uint32_t dart_store__share(const void *key, size_t length)
{
	return dart_store__crc(DART_STORE_SHARE, key, length) % DART_STORE_SHARES;
}

/* The slots of a key, and the checksum that they begin with. */
struct dart_store_place {
	uint64_t slots[DART_STORE_REDUNDANCY_MAX]; /* the first N are used */
	uint64_t checksum;	/* never 0 */
	uint32_t share;		/* below DART_STORE_SHARES */
};

/* Computes all CRCs of a key in one pass; threads may share it. */
struct dart_store_hash;

/* Returns 0, -EINVAL (the geometry) or -ENOMEM. */
int dart_store_hash__new(const struct dart_store_geometry *geometry, struct dart_store_hash **hash);
void dart_store_hash__free(struct dart_store_hash *hash);

/* @length: 1 to DART_STORE_KEY_MAX, which the caller ensures. */
void dart_store_hash__place(const struct dart_store_hash *hash, const void *key, size_t length,
			    struct dart_store_place *place);

#endif /* DART_STORE_HASH_H */
