/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables that a P4 program must have, and their entries, which consist of numbers. */
#ifndef SWITCH_ENTRY_H
#define SWITCH_ENTRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SWITCH_VALUES_MAX 8

enum switch_notation { SWITCH_DECIMAL, SWITCH_HEX, SWITCH_MAC, SWITCH_IPV4 };

/* A table that the program must have. */
struct switch_table {
	const char *name;
	const char *action;
	uint32_t key_bits; /* 0: the table has only a default action */
	uint32_t entries; /* length of an array that holds all entries, see struct switch_entry */
	uint32_t room; /* entries that the table must hold at least */
	uint32_t value_count; /* parameters of the action */
	struct {
		const char *name;
		uint8_t bits;
		enum switch_notation notation;
	} values[SWITCH_VALUES_MAX];
	bool is_sparse; /* keys are larger than indexes of the array */
};

/*
 * The entries of a table lie in an array.  The key of an entry is its index, or, if the table is
 * sparse, its member key.
 */
struct switch_entry {
	bool there;
	int32_t handle; /* number that the switch gave to the entry */
	uint64_t key; /* only in a sparse table */
	uint64_t values[SWITCH_VALUES_MAX]; /* unused ones are 0 */
};

/* A value that no wanted entry contains: the object was made by others than this program. */
#define SWITCH_FOREIGN UINT64_MAX

#define SWITCH_VALUE_TEXT 24 /* bytes, with the NUL */

/* Formats a value as people and simple_switch_CLI write it. */
void switch_table__value_text(const struct switch_table *table, uint32_t index, uint64_t value,
			      char text[SWITCH_VALUE_TEXT]);

/* Addresses as values: that of @mac, and a locally administered one that contains @ip. */
uint64_t switch_mac__number(const uint8_t mac[static 6]);
uint64_t switch_mac__of_ip(uint32_t ip);

/* Makes it an entry of one value. */
void switch_entry__set(struct switch_entry *entry, uint64_t value);
/* Compares values; all absent entries are equal. */
bool switch_entry__equal(const struct switch_entry *a, const struct switch_entry *b);

/* Prints the values of an entry: ": mac 52:54:00:00:00:01, ip 10.0.0.1" */
void switch_entry__print(const struct switch_table *table, const struct switch_entry *entry);
/* Adds the values of an entry as members to @json.  Returns 0 or -ENOMEM. */
int switch_entry__add_to(json_t *json, const struct switch_table *table,
			 const struct switch_entry *entry);

#endif /* SWITCH_ENTRY_H */
