/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries of layouts: the fields that become an entry of a table, and where their values lie. */
#ifndef DART_APPLICATION_ENTRY_H
#define DART_APPLICATION_ENTRY_H

#include <stdint.h>

#include <libdart/application/location.h>
#include <libdart/table/schema.h>

#define DART_APPLICATION_FIELDS_MAX 1024 /* of an entry */
#define DART_APPLICATION_ROWS_MAX 4096 /* of an entry */
#define DART_APPLICATION_STRIDE_MAX (1 << 20) /* bytes */
#define DART_APPLICATION_TEXT_MAX 256 /* bytes of a text field */

/* The fields of an object in the program, or of each element of an array. */
struct dart_application_entry {
	/* its name is the one of the entry; a copy has the fields side by side */
	struct dart_schema *schema;
	/*
	 * Of each field, in row 0.  If @rows is above 1 and @stride 0, the rows lie anywhere: then
	 * the locations of row 1 follow, and so on.
	 */
	struct dart_application_location *locations;
	char *instance; /* tells entries of the same schema apart; NULL for the only one */
	uint32_t rows; /* at least 1 */
	uint32_t stride; /* bytes from the address of a row to the next one, or 0 */
};

/* Finds the location of a field in a row. */
struct dart_application_location
dart_application_entry__location(const struct dart_application_entry *entry, uint32_t row,
				 uint32_t field);

/* Releases the memory that @entry owns. */
void dart_application_entry__clear(struct dart_application_entry *entry);

#endif /* DART_APPLICATION_ENTRY_H */
