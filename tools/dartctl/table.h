/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables on stdout. */
#ifndef TABLE_H
#define TABLE_H

#include <jansson.h>
#include <libsmartcols.h>
#include <stdbool.h>

/* An empty table; NULL if out of memory. */
struct libscols_table *table__new(void);
int table__add_column(struct libscols_table *table, const char *title,
		      bool is_number);

/*
 * table__set() fills a cell of the last line with a text, a number, yes or no, or
 * an array of these; it leaves the cell empty if @value is NULL.
 */
int table__add_line(struct libscols_table *table);
int table__set(struct libscols_table *table, size_t column,
	       const json_t *value);

struct table_column {
	const char *title;
	const char *member;
	bool is_number;
	json_t *(*convert)(const json_t *value);	/* before it is printed */
};

/* Converts seconds to the largest unit that says them well: "17s", "3h". */
json_t *table__age(const json_t *seconds);
/* Converts a uid to the name of its user, if it has one. */
json_t *table__user(const json_t *uid);

/*
 * Prints an array of objects, a line each, by @columns, which end with zeros.
 * Returns an exit status.
 */
int table__print_objects(json_t *objects, const struct table_column *columns);

/* Prints and frees the table, or fails with @ret, -errno, unless it is 0. */
int table__print(struct libscols_table *table, int ret);

#endif /* TABLE_H */
