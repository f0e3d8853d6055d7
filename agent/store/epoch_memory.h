/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two banks of a store with epochs, see <dart/epoch.h>, in memory that outlives dartd: after a
 * kill at any instant the next dartd finds each bank empty, full or in use.
 */
#ifndef EPOCH_MEMORY_H
#define EPOCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/epoch.h>

struct epoch_memory {
	uint8_t *address;
	size_t length; /* bytes of the slots of a bank */
	struct dart_epoch_memory *state; /* in the same memory */
};

/*
 * Takes the memory at @address, for slots of @length bytes in each bank.  What an earlier dartd
 * left there stays, and an interrupted rotation is completed; anything else is cleared, unless the
 * memory is new and so full of zeros, and an epoch begins at @now_ns.
 */
void epoch_memory__open(struct epoch_memory *memory, void *address, size_t length, bool is_new,
			uint64_t now_ns);

uint8_t *epoch_memory__slots(const struct epoch_memory *memory, uint32_t bank);
/* The bank of the present epoch, and the other one. */
struct dart_epoch_bank *epoch_memory__current(const struct epoch_memory *memory);
uint32_t epoch_memory__other(const struct epoch_memory *memory);
/* Has the other bank an epoch that is in no file yet? */
bool epoch_memory__is_full(const struct epoch_memory *memory);
/* Can an epoch begin in the other bank? */
bool epoch_memory__is_clear(const struct epoch_memory *memory);

/*
 * Ends the present epoch, which the reporters with these addresses wrote, and begins the next one,
 * in the other bank, which is clear.  A clock that was set back does not end an epoch before it
 * began, but the next one begins at @now_ns: times of epochs may overlap.
 */
void epoch_memory__turn(struct epoch_memory *memory, uint64_t now_ns, const __be32 *addresses,
			uint32_t reporters);
/* Forgets the epoch of the other bank, and clears it. */
void epoch_memory__clear(struct epoch_memory *memory);
/*
 * Clears slots, of @slot_length bytes, of the other bank that were written after it was cleared.
 * Nothing writes them any more.  Returns how many there were.
 */
uint64_t epoch_memory__sweep(struct epoch_memory *memory, size_t slot_length);

#endif /* EPOCH_MEMORY_H */
