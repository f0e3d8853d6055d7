/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values: the bytes of an entry's copies, decoded by its schema.
 *
 * The copies lie one behind the other, schema->length bytes each, in a buffer
 * of the caller (a controller READs them there, the agent copies them there).
 */
#ifndef DART_VALUE_H
#define DART_VALUE_H

#include <jansson.h>
#include <netinet/in.h>

#include "table.h"

/* Bytes of all copies of @entry. */
size_t dart_entry__size(const struct dart_entry *entry);

/*
 * Element @index of @field in the copy at @copy; sign-extended if the field is
 * signed.  Not for texts and addresses.
 */
uint64_t dart_field__get(const struct dart_field *field, const void *copy,
			 uint32_t index);

/* An address as people write it, "10.0.0.1" or "fe80::1". */
void dart_field__address(const struct dart_field *field, const void *copy,
			 char text[INET6_ADDRSTRLEN]);

enum dart_row_state {
	DART_ROW_WHOLE,
	DART_ROW_TORN,		/* it says nothing, in this sample */
	DART_ROW_EMPTY,
};

/* What the sequences of a row say; one without is whole. */
enum dart_row_state dart_row__state(const struct dart_schema *schema,
				    const void *row);
bool dart_schema__has_sequence(const struct dart_schema *schema);

/*
 * The sum of element @index over all copies, modulo 2^64 (modulo the field's
 * width for narrower ones, as the kernel's own counters wrap).  For counters
 * and histograms of entries whose copies are of CPUs.
 */
uint64_t dart_entry__sum(const struct dart_entry *entry,
			 const struct dart_field *field, const void *copies,
			 uint32_t index);

/*
 * The values as JSON, a new reference, NULL if memory is short:
 *
 *   copies of CPUs  {"kind": "source", "schema": "kernel_cpustat",
 *                    "copies": "cpu", "sum": {"user": 12, ...},
 *                    "cpus": [{"user": 5, ...}, {"user": 7, ...}]}
 *                   "sum" has counters and histograms only
 *   rows            {"kind": "map", "schema": "...", "copies": "row",
 *                    "rows": [{...}, ...]}
 *   with a sequence  {..., "rows": {"3": {...}, "17": null}}
 *                    by their number; empty ones are left out, torn ones null,
 *                    and the sequences themselves are not shown
 *
 * Fields with more than one element are arrays, texts are strings (byte XX as
 * the code point U+00XX: dump them with JSON_ENSURE_ASCII, or a remote text
 * could steer a terminal), addresses are strings.  Integers above 2^63-1 appear as
 * reals: JSON has no wider integers that readers agree on.
 */
json_t *dart_entry__to_json(const struct dart_entry *entry,
			    const void *copies);

/* The @width bytes of a text, or those before the first NUL, as above. */
json_t *dart_text__to_json(const void *bytes, size_t width);

/* Fields, kinds and units of a schema as JSON, a new reference. */
json_t *dart_schema__to_json(const struct dart_schema *schema);

const char *dart_field_kind__name(enum dart_control_field_kind kind);
const char *dart_entry_kind__name(enum dart_control_entry_kind kind);
const char *dart_exposure__name(enum dart_control_exposure exposure);

#endif /* DART_VALUE_H */
