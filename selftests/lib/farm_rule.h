/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rule of the farm: the name of each host, and each value as a function of numbers
 * that lie next to the value.  A reader that computes the value again detects a value
 * of another host, epoch, row or moment.
 *
 *   host    from 0
 *   epoch   how often the host started, from 1; its boot ID and instance tell it
 *   update  how often the farm wrote its values, from 1; the same for all hosts
 *   entry   from 0
 *   copy    of the entry, from 0
 *   word    of the row, from 0
 */
#ifndef FARM_RULE_H
#define FARM_RULE_H

#include <stdint.h>

#include <libdart/random.h>

/* Numbers below these are told apart. */
#define FARM_HOSTS_MAX	(1 << 16)
#define FARM_EPOCHS_MAX	(1 << 16)
#define FARM_ENTRIES_MAX (1 << 12)
#define FARM_COPIES_MAX	(1 << 20)

struct farm_row {
	uint32_t host, epoch, entry, copy;
};

/* From which the words of a row come, in their order. */
static inline struct dart_random farm_rule__words(const struct farm_row *row)
{
	struct dart_random seed = dart_random__of(
		(uint64_t)row->host << 48 | (uint64_t)row->epoch << 32 |
		(uint64_t)row->entry << 20 | row->copy);

	return dart_random__of(dart_random__next(&seed));
}

/* A counter, below 2^63 for 2^32 updates, so that it fits into the JSON of any reader. */
static inline uint64_t farm_rule__next(struct dart_random *words, uint64_t update)
{
	const uint64_t word = dart_random__next(words);

	return (word >> 16) + update * (1 + (word & 0xff));
}

/* The instance of an epoch; not 0. */
static inline uint64_t farm_rule__instance(uint32_t host, uint32_t epoch)
{
	return (uint64_t)(host + 1) << 32 | epoch;
}

/*
 * The host ID, with epoch 0, and the boot ID as 16 bytes: "farm", then host and epoch, 4
 * bytes each, then zeros; most significant byte first.
 */
static inline void farm_rule__id(uint32_t host, uint32_t epoch, uint8_t id[16])
{
	const uint32_t words[4] = { 0x6661726d, host, epoch, 0 };
	int i;

	for (i = 0; i < 16; i++)
		id[i] = words[i / 4] >> (24 - i % 4 * 8);
}

#endif /* FARM_RULE_H */
