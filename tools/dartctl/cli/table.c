// SPDX-License-Identifier: GPL-2.0-only
/* Tables on stdout, over libsmartcols. */
#include <errno.h>
#include <libsmartcols.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>
#include <libdart/json.h>

#include "message.h"
#include "table.h"

static char *text_of(const json_t *value);

/* Returns the elements with blanks between them, as a new string. */
static char *join(const json_t *array)
{
	char *text = strdup(""), *part, *longer;
	json_t *element;
	size_t i;

	json_array_foreach(array, i, element) {
		part = text_of(element);
		longer = NULL;
		if (text && part && asprintf(&longer, "%s%s%s", text, i ? " " : "", part) < 0)
			longer = NULL;
		free(part);
		free(text);
		text = longer;
	}
	return text;
}

/* Returns @value as a new string. */
static char *text_of(const json_t *value)
{
	if (json_is_array(value))
		return join(value);
	if (json_is_boolean(value))
		return strdup(json_is_true(value) ? "yes" : "no");
	if (json_is_string(value))
		return strdup(dart_json__digits(value) ?: json_string_value(value));
	return json_dumps(value, JSON_ENCODE_ANY);
}

json_t *table__age(const json_t *seconds)
{
	static const struct {
		json_int_t seconds;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	json_int_t age = json_integer_value(seconds);
	size_t i = 0;

	while (units[i].seconds > 1 && age < 2 * units[i].seconds)
		i++;
	return json_sprintf("%" JSON_INTEGER_FORMAT "%c", age / units[i].seconds, units[i].letter);
}

json_t *table__user(const json_t *uid)
{
	const struct passwd *user = getpwuid(json_integer_value(uid));

	return user ? json_string(user->pw_name) : json_incref((json_t *)uid);
}

/* The text of a cell, to be freed; NULL without memory. */
static char *cell_text(const struct table_column *column, const json_t *value)
{
	json_t *converted = column->convert ? column->convert(value) : NULL;
	char *text = text_of(converted ?: value), *escaped;

	json_decref(converted);
	/* A name or a sentence may contain control characters, which must not reach a terminal. */
	escaped = text ? dart_escape__new(text, DART_ESCAPE_SENTENCE) : NULL;
	free(text);
	return escaped;
}

/*
 * Fills a cell of @line.  It has the text of the cell of the line @above if the values are equal:
 * in 20,000 lines of one user only one name is looked up.
 */
static int set(struct libscols_line *line, size_t number, const struct table_column *column,
	       const json_t *object, struct libscols_line *above, const json_t *object_above)
{
	const json_t *value = json_object_get(object, column->member);
	const json_t *value_above = json_object_get(object_above, column->member);
	char *text;
	int ret;

	if (!value)
		return 0;
	if (above && json_equal(value, value_above))
		return scols_line_set_data(line, number,
					   scols_cell_get_data(scols_line_get_cell(above, number)));
	text = cell_text(column, value);
	ret = text ? scols_line_refer_data(line, number, text) : -ENOMEM;
	if (ret)
		free(text);
	return ret;
}

static int fill(struct libscols_table *table, json_t *objects, const struct table_column *columns)
{
	const struct table_column *column;
	struct libscols_line *line, *above = NULL;
	json_t *object, *object_above = NULL;
	size_t i;
	int ret;

	ret = scols_table_enable_noheadings(table, !*columns->title) ?:
		      scols_table_enable_noencoding(table, 1);
	for (column = columns; column->title && !ret; column++)
		if (!scols_table_new_column(table, column->title, 0,
					    column->is_number ? SCOLS_FL_RIGHT : 0))
			ret = -ENOMEM;
	json_array_foreach(objects, i, object) {
		line = ret ? NULL : scols_table_new_line(table, NULL);
		if (!line)
			return ret ?: -ENOMEM;
		for (column = columns; column->title && !ret; column++)
			ret = set(line, column - columns, column, object, above, object_above);
		above = line;
		object_above = object;
	}
	return ret;
}

int table__print_objects(json_t *objects, const struct table_column *columns)
{
	struct libscols_table *table = scols_new_table();
	int ret;

	if (!table)
		return fail__out_of_memory();
	ret = fill(table, objects, columns);
	if (!ret)
		ret = scols_print_table(table);
	scols_unref_table(table);
	if (ret)
		return fail(-ret, "cannot print a table: %s", strerror(-ret));
	return EXIT_SUCCESS;
}
