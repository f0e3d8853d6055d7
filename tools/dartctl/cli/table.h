/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables on stdout. */
#ifndef TABLE_H
#define TABLE_H

#include <jansson.h>
#include <stdbool.h>

#include "json_reader.h"

/* If the title of the first column is empty, no titles are printed. */
struct table_column {
	const char *title;
	const char *member;	/* of each object */
	bool is_number;
	json_t *(*convert)(const json_t *value);	/* or NULL */
};

#define TEXT_COLUMN(title, member) { title, member, false, NULL }
#define NUMBER_COLUMN(title, member) { title, member, true, NULL }

/* Converts seconds to the largest suitable unit: "17s", "3h". */
json_t *table__age(const json_t *seconds);
/* Converts a uid to the name of its user, if there is one. */
json_t *table__user(const json_t *uid);

struct table;

/*
 * A table without rows, whose @columns end with zeros; NULL if out of memory.  A cell shows a text,
 * a number, yes or no, or an array of these; it is empty if the object lacks the member.
 */
struct table *table__new(const struct table_column *columns);
void table__free(struct table *table);
/*
 * Appends a row with the members of an object, into whose text the table points from now on.
 * Returns false if out of memory.
 */
bool table__add(struct table *table, const struct json_members *members);
/* Prints the rows; nothing without one.  Returns an exit status. */
int table__print(struct table *table);

/*
 * Prints an array of objects, a line each, by @columns, likewise.  Returns an exit status.
 */
int table__print_objects(json_t *objects, const struct table_column *columns);

#endif /* TABLE_H */
