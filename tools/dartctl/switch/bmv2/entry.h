/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables that a P4 program must have, and entries of them that consist of numbers. */
#ifndef SWITCH_ENTRY_H
#define SWITCH_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#define SWITCH_VALUES_MAX 8

enum switch_notation { SWITCH_DECIMAL, SWITCH_HEX, SWITCH_MAC, SWITCH_IPV4 };

/* A table that the program must have. */
struct switch_table {
	const char *name;
	const char *action;
	uint32_t key_bits; /* 0: the table has only a default action */
	uint32_t entries; /* that the key can tell apart */
	uint32_t room; /* entries that the table must hold at least */
	uint32_t value_count;
	struct {
		const char *name;
		uint8_t bits;
		enum switch_notation notation;
	} values[SWITCH_VALUES_MAX];
};

struct switch_entry {
	bool there;
	int32_t handle; /* of the switch for it */
	uint64_t values[SWITCH_VALUES_MAX]; /* the rest is 0 */
};

#define SWITCH_VALUE_TEXT 24 /* bytes, with the NUL */

/* Formats a value as people and simple_switch_CLI write it. */
void switch_table__value_text(const struct switch_table *table, uint32_t index,
			      uint64_t value, char text[SWITCH_VALUE_TEXT]);

/* Addresses as values: that of @mac, and a locally administered one that has @ip in it. */
uint64_t switch_mac__number(const uint8_t mac[static 6]);
uint64_t switch_mac__of_ip(uint32_t ip);

bool switch_entry__equal(const struct switch_entry *a,
			 const struct switch_entry *b);

#endif /* SWITCH_ENTRY_H */
