// SPDX-License-Identifier: GPL-2.0-only
/* dartctl entry show: the values of an entry, as a table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "command.h"

/* More copies than this are not printed side by side. */
#define COPIES_WIDE 8

/* An entry as dartd shows it; all of it is borrowed from the reply. */
struct shown {
	json_t *fields;		/* of the schema */
	json_t *sum;		/* NULL for rows */
	/* of CPUs, or rows; an object by number if rows have sequences */
	json_t *copies;
	const char *copy_name;	/* "CPU" or "ROW" */
};

static int shown__of(struct shown *shown, json_t *entry)
{
	json_t *values = json_object_get(entry, "values");

	shown->fields = json_object_get(json_object_get(entry, "schema"),
					"fields");
	shown->sum = json_object_get(values, "sum");
	shown->copies = json_object_get(values, "cpus");
	shown->copy_name = "CPU";
	if (!shown->copies) {
		shown->copies = json_object_get(values, "rows");
		shown->copy_name = "ROW";
	}
	return json_is_array(shown->fields) &&
	       (json_is_array(shown->copies) ||
		json_is_object(shown->copies)) ? 0 : -EPROTO;
}

static int add_numbered_column(struct libscols_table *table, const char *name,
			       size_t number)
{
	char title[32];

	snprintf(title, sizeof(title), "%s %zu", name, number);
	return table__add_column(table, title, true);
}

/* Fields down; across: the sum, and the copies if they are few. */
static int fill_by_field(struct libscols_table *table,
			 const struct shown *shown)
{
	size_t copies = json_array_size(shown->copies), i, copy, column;
	json_t *field;
	int ret;

	if (copies > COPIES_WIDE)
		copies = 0;
	ret = table__add_column(table, "FIELD", false);
	if (!ret)
		ret = table__add_column(table, "KIND", false);
	if (!ret)
		ret = table__add_column(table, "UNIT", false);
	if (!ret && shown->sum)
		ret = table__add_column(table, "SUM", true);
	for (copy = 0; copy < copies && !ret; copy++)
		ret = add_numbered_column(table, shown->copy_name, copy);

	json_array_foreach(shown->fields, i, field) {
		json_t *name = json_object_get(field, "name");
		const char *key = json_string_value(name);

		if (!key)
			return -EPROTO;
		if (!ret)
			ret = table__add_line(table);
		if (!ret)
			ret = table__set(table, 0, name);
		if (!ret)
			ret = table__set(table, 1,
					 json_object_get(field, "kind"));
		if (!ret)
			ret = table__set(table, 2,
					 json_object_get(field, "unit"));
		column = 3;
		if (!ret && shown->sum)
			ret = table__set(table, column++,
					 json_object_get(shown->sum, key));
		for (copy = 0; copy < copies && !ret; copy++)
			ret = table__set(table, column++,
				json_object_get(json_array_get(shown->copies,
							       copy), key));
	}
	return ret;
}

/* Sequences say whether a row is torn, which dartd has checked. */
static bool is_shown(const json_t *field)
{
	const char *kind = json_string_value(json_object_get(field, "kind"));

	return !kind || strcmp(kind, "sequence");
}

static int add_row(struct libscols_table *table, const struct shown *shown,
		   const char *number, const json_t *row)
{
	json_t *field, *text = json_string(number), *torn = json_string("torn");
	size_t i, column = 1;
	int ret;

	ret = table__add_line(table);
	if (!ret)
		ret = table__set(table, 0, text);
	json_array_foreach(shown->fields, i, field) {
		const char *name = json_string_value(json_object_get(field,
								     "name"));

		if (ret || !is_shown(field))
			continue;
		ret = table__set(table, column,
				 json_is_object(row) ?
					 json_object_get(row, name) :
				 column == 1 ? torn : NULL);
		column++;
	}
	json_decref(text);
	json_decref(torn);
	return ret;
}

/* Rows down, fields across. */
static int fill_by_row(struct libscols_table *table, const struct shown *shown)
{
	json_t *field, *row;
	const char *key;
	char number[32];
	size_t i;
	int ret;

	ret = table__add_column(table, "ROW", true);
	json_array_foreach(shown->fields, i, field) {
		const char *name = json_string_value(json_object_get(field,
								     "name"));

		if (!name)
			return -EPROTO;
		if (!ret && is_shown(field))
			ret = table__add_column(table, name, true);
	}

	json_array_foreach(shown->copies, i, row) {
		snprintf(number, sizeof(number), "%zu", i);
		if (!ret)
			ret = add_row(table, shown, number, row);
	}
	json_object_foreach(shown->copies, key, row) {
		if (!ret)
			ret = add_row(table, shown, key, row);
	}
	return ret;
}

static int print(json_t *entry)
{
	struct libscols_table *table;
	struct shown shown;
	int ret;

	if (shown__of(&shown, entry))
		return fail(EPROTO,
			    "the reply of dartd has no values of an entry");
	table = table__new();
	if (!table)
		return fail__out_of_memory();

	if (json_is_object(shown.copies) ||
	    (!shown.sum && json_array_size(shown.copies) > COPIES_WIDE))
		ret = fill_by_row(table, &shown);
	else
		ret = fill_by_field(table, &shown);
	return table__print(table, ret);
}

int command_entry_show(const struct options *options, int argc, char **argv)
{
	json_t *entry, *reply;
	int status;

	entry = client__ask(options,
			    json_pack("{s:s, s:s}", "request", "show", "name",
				      argv[0]),
			    -1, "entry", &reply, NULL);
	if (!entry)
		return EXIT_FAILURE;
	status = options->json ? print_json(json_incref(entry), 0) :
				 print(entry);
	json_decref(reply);
	return status;
}
