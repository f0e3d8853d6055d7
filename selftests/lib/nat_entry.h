/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries of NAT (schemas/nat.yaml) of tests: entry I of a kind and a seed keeps its key
 * everywhere, and gets a value for each version.
 */
#ifndef NAT_ENTRY_H
#define NAT_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <libdart/random.h>

#define NAT_KEY 13 /* bytes */
#define NAT_VALUE 7

struct nat_entry {
	uint8_t key[NAT_KEY];
	uint8_t value[NAT_VALUE];
};

/*
 * "random": all bytes of the key vary.  "consecutive": source addresses count up from
 * 10.0.0.0, all else is the seed.
 */
static inline int nat_entry__find_kind(const char *name, bool *is_random)
{
	*is_random = !strcmp(name, "random");
	return *is_random || !strcmp(name, "consecutive") ? 0 : -1;
}

static inline struct nat_entry nat_entry__make(bool is_random, uint64_t seed,
					       uint64_t i, uint32_t version)
{
	struct dart_random random = dart_random__of(seed << 32 | i);
	const uint32_t source = 0x0a000000 + i;
	struct nat_entry entry;
	uint64_t words[3];
	uint32_t word;

	for (word = 0; word < 3; word++)
		words[word] = dart_random__next(&random);
	memcpy(entry.key, words, NAT_KEY);
	if (!is_random) {
		memset(entry.key, seed, NAT_KEY);
		entry.key[0] = source >> 24;
		entry.key[1] = source >> 16;
		entry.key[2] = source >> 8;
		entry.key[3] = source;
	}
	random = dart_random__of(words[2] + version);
	words[2] = dart_random__next(&random);
	memcpy(entry.value, &words[2], NAT_VALUE);
	/* The field that tells which address is rewritten takes two values. */
	entry.value[NAT_VALUE - 1] &= 1;
	return entry;
}

#endif /* NAT_ENTRY_H */
