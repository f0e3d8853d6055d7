// SPDX-License-Identifier: GPL-2.0-only
/* Gives numbers to the hosts that a switch sends to, see numbers.h. */
#include <string.h>

#include "hosts.h"

#define NO_NUMBER UINT8_MAX

struct numbering {
	const struct switch_entry *entries;
	const void *hosts;
	switch_numbers_same *is_same;
	uint8_t *numbers; /* of each host */
	bool taken[SWITCH_NUMBERS];
};

/* Rules for the number of a host, the best one first. */
static bool is_its_own(const struct numbering *numbering, uint32_t host,
		       uint32_t number)
{
	const struct switch_entry *entry = &numbering->entries[number];

	return entry->there &&
	       numbering->is_same(numbering->hosts, host, entry);
}

static bool is_unused(const struct numbering *numbering, uint32_t host,
		      uint32_t number)
{
	return !numbering->entries[number].there;
}

static bool is_any(const struct numbering *numbering, uint32_t host,
		   uint32_t number)
{
	return true;
}

static void give(struct numbering *numbering, uint32_t count,
		 bool (*may)(const struct numbering *numbering, uint32_t host,
			     uint32_t number))
{
	uint32_t host, number;

	for (host = 0; host < count; host++) {
		if (numbering->numbers[host] != NO_NUMBER)
			continue;
		for (number = 0; number < SWITCH_NUMBERS; number++)
			if (!numbering->taken[number] &&
			    may(numbering, host, number))
				break;
		if (number == SWITCH_NUMBERS)
			continue;
		numbering->taken[number] = true;
		numbering->numbers[host] = number;
	}
}

void switch_numbers__give(const struct switch_entry entries[SWITCH_NUMBERS],
			  const void *hosts, uint32_t count,
			  switch_numbers_same *is_same, uint8_t *numbers)
{
	struct numbering numbering = {
		.entries = entries,
		.hosts = hosts,
		.is_same = is_same,
		.numbers = numbers,
	};

	memset(numbers, NO_NUMBER, count);
	give(&numbering, count, is_its_own);
	give(&numbering, count, is_unused);
	give(&numbering, count, is_any);
}
