/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries in tables of simple_switch, whose key is one field of exact match, as strings of
 * bytes.  All functions return 0, or -errno with a sentence in @error.
 */
#ifndef BMV2_TABLE_H
#define BMV2_TABLE_H

#include <libdart/error.h>

#include "entry.h"
#include "tools/dartctl/switch/thrift/thrift.h"

#define BMV2_BYTES_MAX 64 /* of a key or a value */

/* Network byte order.  A switch may omit leading zeros. */
struct bmv2_bytes {
	uint32_t length;
	uint8_t bytes[BMV2_BYTES_MAX];
};

struct bmv2_entry {
	int32_t handle; /* number that the switch gave to the entry */
	struct bmv2_bytes key;
	bool is_ours; /* its action is the one that the caller named */
	uint32_t value_count;
	struct bmv2_bytes values[SWITCH_VALUES_MAX];
};

/* The lowest @bits bits of @number, in whole bytes. */
void bmv2_bytes__set(struct bmv2_bytes *bytes, uint64_t number, uint32_t bits);

/* Sets the key and the values, not the handle. */
void bmv2_entry__set(struct bmv2_entry *entry, const struct switch_table *table, uint64_t key,
		     const struct switch_entry *numbers);

/* Adds @entry and sets its handle. */
int bmv2_table__add(struct thrift *thrift, const char *table, const char *action,
		    struct bmv2_entry *entry, struct dart_error *error);
int bmv2_table__change(struct thrift *thrift, const char *table, const char *action,
		       const struct bmv2_entry *entry, struct dart_error *error);
int bmv2_table__remove(struct thrift *thrift, const char *table, int32_t handle,
		       struct dart_error *error);
/* Removes all entries; the default action stays. */
int bmv2_table__clear(struct thrift *thrift, const char *table, struct dart_error *error);
/* Counts the entries. */
int bmv2_table__count(struct thrift *thrift, const char *table, uint64_t *count,
		      struct dart_error *error);
/* Sets the default action; the key of @entry does not matter. */
int bmv2_table__set_default(struct thrift *thrift, const char *table, const char *action,
			    const struct bmv2_entry *entry, struct dart_error *error);

/* Takes an entry, which is valid until it returns; false: the entry makes no sense. */
typedef bool (*bmv2_take)(void *subject, const struct bmv2_entry *entry);

/* Reads all entries; refuses more than @most. */
int bmv2_table__read(struct thrift *thrift, const char *table, const char *action, uint32_t most,
		     bmv2_take take, void *subject, struct dart_error *error);

/*
 * Reads the entries of @table, which consist of numbers, to the array @entries, whose entries must
 * be absent.  An entry with another action gets SWITCH_FOREIGN for all its values.  A table without
 * a key has one entry, its default action, which is there if it is the action of @table.
 */
int bmv2_table__read_numbers(struct thrift *thrift, const struct switch_table *table,
			     struct switch_entry *entries, struct dart_error *error);

#endif /* BMV2_TABLE_H */
