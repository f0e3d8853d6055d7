/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values: the bytes of an entry's copies, decoded by its schema.
 *
 * The copies lie one after the other, schema->length bytes each, in the caller's buffer (a
 * controller READs them, the agent copies them).
 */
#ifndef DART_VALUE_H
#define DART_VALUE_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>

#include "table.h"

/* Bytes of all copies of @entry. */
size_t dart_entry__size(const struct dart_entry *entry);

/*
 * Element @index of @field in the copy at @copy, sign-extended if the field is
 * signed.  Not for texts and addresses.
 */
uint64_t dart_field__get(const struct dart_field *field, const void *copy, uint32_t index);

/* An address as text: "10.0.0.1" or "fe80::1". */
void dart_field__address(const struct dart_field *field, const void *copy,
			 char text[INET6_ADDRSTRLEN]);

enum dart_row_state {
	DART_ROW_WHOLE,
	DART_ROW_TORN,		/* no values in this sample */
	DART_ROW_EMPTY,
};

/* The state by the sequences of a row; a row without any is whole. */
enum dart_row_state dart_row__state(const struct dart_schema *schema, const void *row);
/* Has it a field that lags on CPUs of nohz_full=? */
bool dart_schema__lags(const struct dart_schema *schema);
/* When @row was written, CLOCK_BOOTTIME of its host in ns; 0 if it does not tell. */
uint64_t dart_row__time(const struct dart_schema *schema, const void *row);

/*
 * The sum of element @index over all copies, modulo 2^64 (modulo the field's
 * width if it is narrower, as the kernel's own counters wrap).  For counters
 * and histograms of entries with per-CPU copies.
 */
uint64_t dart_entry__sum(const struct dart_entry *entry, const struct dart_field *field,
			 const void *copies, uint32_t index);

/*
 * The values as JSON, a new reference, NULL if out of memory:
 *
 *   copies of CPUs  {"kind": "source", "schema": "kernel_cpustat",
 *                    "copies": "cpu", "since": 7, "sum": {"user": 12, ...},
 *                    "cpus": [{"user": 5, ...}, {"user": 7, ...}]}
 *                   "sum" has only counters and histograms; "lags_on_nohz_full":
 *                   true follows "since" if a field lags there
 *   rows            {"kind": "map", "schema": "...", "copies": "row",
 *                    "since": 8, "rows": [{...}, ...]}
 *                   "since" is the generation that first had the entry
 *   a sum           {..., "copies": "sum", "since": 9, "sum": {"time": ..., ...}}
 *                   "sum" has all fields; it is null if the row is torn or empty
 *   with a sequence  {..., "rows": {"3": {...}, "17": null}}
 *                    by number; empty rows are left out, torn rows are null,
 *                    and sequences are not shown
 *
 * Fields with more than one element are arrays.  Texts are strings with the
 * escapes of escape.h (bytes that are not UTF-8, and control characters, are
 * \xHH), and so are addresses.  Integers above 2^63-1 are
 * reals, because Jansson has no wider type: dart_entry__print_json() prints them.
 */
json_t *dart_entry__to_json(const struct dart_entry *entry, const void *copies);

/*
 * Prints the same values, compact and in ASCII, to @out; the caller checks ferror().
 * All integers are printed as such, up to 2^64-1.
 */
void dart_entry__print_json(const struct dart_entry *entry, const void *copies, FILE *out);
void dart_text__print_json(const void *bytes, size_t width, FILE *out);

/* Prints a set of the first @cpus CPUs, as in struct dart_table: "0-3,8", or "". */
void dart_cpus__print(const uint64_t *set, uint32_t cpus, FILE *out);

/* Writes the @width bytes of a text, or the bytes before its first NUL, as above. */
json_t *dart_text__to_json(const void *bytes, size_t width);

/* Fields, kinds and units of a schema as JSON, a new reference. */
json_t *dart_schema__to_json(const struct dart_schema *schema);

const char *dart_field_kind__name(enum dart_control_field_kind kind);
const char *dart_copies__name(enum dart_control_copies copies);
const char *dart_entry_kind__name(enum dart_control_entry_kind kind);
const char *dart_exposure__name(enum dart_control_exposure exposure);

#endif /* DART_VALUE_H */
