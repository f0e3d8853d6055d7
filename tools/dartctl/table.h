/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables on stdout. */
#ifndef TABLE_H
#define TABLE_H

#include <jansson.h>
#include <libsmartcols.h>
#include <stdbool.h>

/* An empty table, NULL if memory is short. */
struct libscols_table *table__new(void);
int table__add_column(struct libscols_table *table, const char *title,
		      bool is_number);

/*
 * Fills a cell of the last line with a text, an integer, or an array of these;
 * with nothing if @value is NULL.
 */
int table__add_line(struct libscols_table *table);
int table__set(struct libscols_table *table, size_t column,
	       const json_t *value);

struct table_column {
	const char *title;
	const char *member;
	bool is_number;
};

/*
 * Prints an array of objects, a line each, by @columns, which end with zeros.
 * Returns an exit status.
 */
int table__print_objects(json_t *objects, const struct table_column *columns);

/* Prints and frees the table; @ret is what went wrong with it before. */
int table__print(struct libscols_table *table, int ret);

#endif /* TABLE_H */
