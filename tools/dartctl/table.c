// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "table.h"

struct libscols_table *table__new(void)
{
	return scols_new_table();
}

int table__add_column(struct libscols_table *table, const char *title,
		      bool is_number)
{
	if (!scols_table_new_column(table, title, 0,
				    is_number ? SCOLS_FL_RIGHT : 0))
		return -ENOMEM;
	return 0;
}

int table__add_line(struct libscols_table *table)
{
	return scols_table_new_line(table, NULL) ? 0 : -ENOMEM;
}

/* @value as a new string. */
static char *text_of(const json_t *value)
{
	char *text = NULL;

	if (json_is_string(value))
		return strdup(json_string_value(value));
	/* An integer that JSON could not hold. */
	if (json_is_real(value))
		return asprintf(&text, "%.0f", json_real_value(value)) < 0 ?
			       NULL : text;
	return json_dumps(value, JSON_ENCODE_ANY);
}

/* By number it would be searched from the first one on. */
static struct libscols_line *last_line(struct libscols_table *table)
{
	struct libscols_iter *iterator = scols_new_iter(SCOLS_ITER_BACKWARD);
	struct libscols_line *line = NULL;

	if (iterator)
		scols_table_next_line(table, iterator, &line);
	scols_free_iter(iterator);
	return line;
}

int table__set(struct libscols_table *table, size_t column, const json_t *value)
{
	struct libscols_line *line;
	char *text;
	int ret;

	if (!value)
		return 0;
	line = last_line(table);
	text = text_of(value);
	if (!line || !text) {
		free(text);
		return -ENOMEM;
	}
	ret = scols_line_refer_data(line, column, text);
	if (ret)
		free(text);
	return ret;
}

int table__print(struct libscols_table *table, int ret)
{
	if (!ret)
		ret = scols_print_table(table);
	scols_unref_table(table);
	if (ret)
		return fail("cannot print a table: %s", strerror(-ret));
	return EXIT_SUCCESS;
}

static int fill(struct libscols_table *table, json_t *objects,
		const struct table_column *columns)
{
	const struct table_column *column;
	json_t *object;
	size_t i;
	int ret = 0;

	for (column = columns; column->title && !ret; column++)
		ret = table__add_column(table, column->title,
					column->is_number);
	json_array_foreach(objects, i, object) {
		if (!ret)
			ret = table__add_line(table);
		for (column = columns; column->title && !ret; column++)
			ret = table__set(table, column - columns,
					 json_object_get(object,
							 column->member));
	}
	return ret;
}

int table__print_objects(json_t *objects, const struct table_column *columns)
{
	struct libscols_table *table = table__new();

	if (!table)
		return fail("memory is short");
	return table__print(table, fill(table, objects, columns));
}
