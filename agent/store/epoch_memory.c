// SPDX-License-Identifier: GPL-2.0-only
/* Changes the banks in an order that a kill cannot harm, see epoch_memory.h. */
#include <string.h>

#include <dart/store.h>

#include "epoch_memory.h"

/*
 * Only a process can end at any instant: the memory does not survive the machine.  So the compiler
 * must keep the order of writes, and readers of this host on other CPUs must see it.
 */
#define set(member, value) __atomic_store_n(&(member), value, __ATOMIC_SEQ_CST)

uint8_t *epoch_memory__slots(const struct epoch_memory *memory, uint32_t bank)
{
	return memory->address + bank * DART_EPOCH_STRIDE(memory->length);
}

struct dart_epoch_bank *epoch_memory__current(const struct epoch_memory *memory)
{
	return &memory->state->banks[memory->state->current];
}

uint32_t epoch_memory__other(const struct epoch_memory *memory)
{
	return !memory->state->current;
}

static struct dart_epoch_bank *other(const struct epoch_memory *memory)
{
	return &memory->state->banks[epoch_memory__other(memory)];
}

bool epoch_memory__is_full(const struct epoch_memory *memory)
{
	return other(memory)->since_ns;
}

bool epoch_memory__is_clear(const struct epoch_memory *memory)
{
	return other(memory)->is_clear && !other(memory)->since_ns;
}

static bool is_possible(const struct dart_epoch_memory *state)
{
	const struct dart_epoch_bank *now, *former;

	if (state->magic != DART_EPOCH_MEMORY_MAGIC || state->current >= DART_EPOCH_BANKS)
		return false;
	now = &state->banks[state->current];
	former = &state->banks[!state->current];
	if (!now->since_ns || now->reporters > DART_EPOCH_REPORTERS_MAX ||
	    former->reporters > DART_EPOCH_REPORTERS_MAX)
		return false;
	/* A turn that lacks its last step has begun the next epoch. */
	if (now->until_ns)
		return now->until_ns > now->since_ns && former->since_ns && !former->until_ns;
	return !former->since_ns || !former->until_ns || former->until_ns > former->since_ns;
}

static void begin(struct epoch_memory *memory, bool is_new, uint64_t now_ns)
{
	struct dart_epoch_memory *state = memory->state;

	set(state->magic, 0);
	if (!is_new)
		memset(memory->address, 0, DART_EPOCH_BANKS * DART_EPOCH_STRIDE(memory->length));
	memset(state, 0, sizeof(*state));
	state->banks[0].since_ns = now_ns;
	state->banks[1].is_clear = 1;
	set(state->magic, DART_EPOCH_MEMORY_MAGIC);
}

void epoch_memory__open(struct epoch_memory *memory, void *address, size_t length, bool is_new,
			uint64_t now_ns)
{
	struct dart_epoch_memory *state;

	memory->address = address;
	memory->length = length;
	memory->state = state =
		(struct dart_epoch_memory *)(memory->address +
					     DART_EPOCH_BANKS * DART_EPOCH_STRIDE(length));
	if (!is_possible(state)) {
		begin(memory, is_new, now_ns);
		return;
	}
	/* epoch_memory__turn() was interrupted before its last step, or after its first one. */
	if (epoch_memory__current(memory)->until_ns)
		set(state->current, epoch_memory__other(memory));
	else if (other(memory)->since_ns && !other(memory)->until_ns)
		set(other(memory)->since_ns, 0);
}

void epoch_memory__turn(struct epoch_memory *memory, uint64_t now_ns, const __be32 *addresses,
			uint32_t reporters)
{
	struct dart_epoch_bank *ends = epoch_memory__current(memory), *begins = other(memory);
	const uint64_t until_ns = now_ns > ends->since_ns ? now_ns : ends->since_ns + 1;
	/* Otherwise all epochs had a nanosecond until the clock is where it was. */
	const uint64_t since_ns = now_ns ?: 1;

	if (reporters > DART_EPOCH_REPORTERS_MAX)
		reporters = DART_EPOCH_REPORTERS_MAX;
	memcpy(ends->addresses, addresses, reporters * sizeof(*addresses));
	ends->reporters = reporters;
	begins->until_ns = 0;
	begins->reporters = 0;
	/* Reports may arrive before the turn is complete, so the bank is no longer clear. */
	set(begins->is_clear, 0);
	set(begins->since_ns, since_ns == ends->since_ns ? until_ns : since_ns);
	set(ends->until_ns, until_ns);
	set(memory->state->current, epoch_memory__other(memory));
}

void epoch_memory__clear(struct epoch_memory *memory)
{
	struct dart_epoch_bank *bank = other(memory);

	set(bank->since_ns, 0);
	set(bank->is_clear, 0);
	memset(epoch_memory__slots(memory, epoch_memory__other(memory)), 0, memory->length);
	bank->until_ns = 0;
	bank->reporters = 0;
	set(bank->is_clear, 1);
}

uint64_t epoch_memory__sweep(struct epoch_memory *memory, size_t slot_length)
{
	static const uint8_t empty[DART_STORE_SLOT_MAX];
	uint8_t *slots = epoch_memory__slots(memory, epoch_memory__other(memory));
	uint64_t written = 0;
	size_t at;

	for (at = 0; at + slot_length <= memory->length; at += slot_length) {
		if (!memcmp(slots + at, empty, slot_length))
			continue;
		memset(slots + at, 0, slot_length);
		written++;
	}
	return written;
}
