/* SPDX-License-Identifier: GPL-2.0-only */
/* The numbers by which a switch knows the hosts that it sends to. */
#ifndef SWITCH_NUMBERS_H
#define SWITCH_NUMBERS_H

#include "tools/dartctl/switch/bmv2/entry.h"

#define SWITCH_NUMBERS 64

/* Is @entry that of the host @index of @hosts? */
typedef bool switch_numbers_same(const void *hosts, uint32_t index,
				 const struct switch_entry *entry);

/*
 * Gives each of @count hosts, at most SWITCH_NUMBERS, a number of its own in @numbers.
 * @entries: those of the switch, by number.  A host that has an entry keeps its number.
 * Others get unused numbers as long as there are any, so that nothing that is on its way by
 * a number goes to another host.
 */
void switch_numbers__give(const struct switch_entry entries[SWITCH_NUMBERS],
			  const void *hosts, uint32_t count,
			  switch_numbers_same *is_same, uint8_t *numbers);

#endif /* SWITCH_NUMBERS_H */
