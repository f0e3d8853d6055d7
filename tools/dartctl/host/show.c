// SPDX-License-Identifier: GPL-2.0-only
/* dartctl entry show: the values of an entry, as a table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"

/* Most copies that are printed side by side. */
#define COPIES_WIDE 8
#define ROW_NUMBER "#" /* a member that is not the name of a field */

/* An entry as dartd shows it; all references are borrowed from the reply. */
struct shown {
	json_t *fields;		/* of the schema */
	json_t *sum;		/* NULL for rows */
	/* an array, of CPUs or rows; an object by number if rows have sequences; or NULL */
	json_t *copies;
	const char *copy_name;	/* "CPU" or "ROW" */
};

static const char *name_of(const json_t *field)
{
	return json_string_value(json_object_get(field, "name"));
}

static int shown__of(struct shown *shown, json_t *entry)
{
	json_t *values = json_object_get(entry, "values"), *field;
	size_t i;

	shown->fields = json_object_get(json_object_get(entry, "schema"), "fields");
	shown->sum = json_object_get(values, "sum");
	shown->copies = json_object_get(values, "cpus");
	shown->copy_name = "CPU";
	if (!shown->copies) {
		shown->copies = json_object_get(values, "rows");
		shown->copy_name = "ROW";
	}
	json_array_foreach(shown->fields, i, field)
		if (!name_of(field))
			return -EPROTO;
	return json_is_array(shown->fields) && (json_is_array(shown->copies) ||
						json_is_object(shown->copies) || shown->sum) ?
		       0 :
		       -EPROTO;
}

/* Hide sequences: they tell whether a row is torn, and dartd has checked that. */
static bool is_shown(const json_t *field)
{
	const char *kind = json_string_value(json_object_get(field, "kind"));

	return !kind || strcmp(kind, "sequence");
}

/* Prints a line for each field, with the sum, and with the copies if they are few. */
static int print_by_field(const struct shown *shown)
{
	json_t *lines = json_array();
	int status;

	struct table_column columns[4 + COPIES_WIDE + 1] = {
		TEXT_COLUMN("FIELD", "name"),
		TEXT_COLUMN("KIND", "kind"),
		TEXT_COLUMN("UNIT", "unit"),
	};
	size_t copies = json_array_size(shown->copies), count = 3, i, copy;
	char titles[COPIES_WIDE][32];
	json_t *field;

	if (copies > COPIES_WIDE)
		copies = 0;
	if (shown->sum)
		columns[count++] = (struct table_column)NUMBER_COLUMN("SUM", "SUM");
	for (copy = 0; copy < copies; copy++) {
		snprintf(titles[copy], sizeof(titles[copy]), "%s %zu", shown->copy_name, copy);
		columns[count++] = (struct table_column){ titles[copy], titles[copy], true, NULL };
	}

	/* The fields become the lines; the members that are added have names that no field uses. */
	json_array_foreach(shown->fields, i, field) {
		const char *name = name_of(field);

		if (!is_shown(field))
			continue;
		json_array_append(lines, field);
		json_object_set(field, "SUM", json_object_get(shown->sum, name));
		for (copy = 0; copy < copies; copy++)
			json_object_set(field, titles[copy],
					json_object_get(json_array_get(shown->copies, copy), name));
	}
	status = lines ? table__print_objects(lines, columns) : fail__out_of_memory();
	json_decref(lines);
	return status;
}

/* Adds a line for a row; a torn row is not an object. */
static void add_row(json_t *lines, const struct table_column *columns,
		    const char *number, json_t *row)
{
	json_t *line = json_is_object(row) ? json_copy(row) : json_object();

	if (!json_is_object(row) && columns[1].title)
		json_object_set_new(line, columns[1].member, json_string("torn"));
	json_object_set_new(line, ROW_NUMBER, json_string(number));
	json_array_append_new(lines, line);
}

/* Prints a line for each row, with a column for each field. */
static int print_by_row(const struct shown *shown)
{
	struct table_column *columns;
	json_t *lines = json_array(), *field, *row;
	size_t i, count = 0;
	char number[32];
	const char *key;
	int status;

	columns = calloc(json_array_size(shown->fields) + 2, sizeof(*columns));
	if (!columns || !lines) {
		status = fail__out_of_memory();
		goto out;
	}
	columns[count++] = (struct table_column){ "ROW", ROW_NUMBER, true, NULL };
	json_array_foreach(shown->fields, i, field)
		if (is_shown(field))
			columns[count++] =
				(struct table_column){ name_of(field), name_of(field), true, NULL };
	json_array_foreach(shown->copies, i, row) {
		snprintf(number, sizeof(number), "%zu", i);
		add_row(lines, columns, number, row);
	}
	json_object_foreach(shown->copies, key, row)
		add_row(lines, columns, key, row);
	status = table__print_objects(lines, columns);
out:
	json_decref(lines);
	free(columns);
	return status;
}

/* Prints which copies lag; dartd reports lags only of entries that can lag. */
static void print_lag(const json_t *entry)
{
	const char *cpus = json_string_value(json_object_get(entry, "nohz_full"));

	if (cpus)
		printf("CPUs of nohz_full= lag and jump: %s\n", cpus);
}

int entry__print(json_t *entry)
{
	struct shown shown;
	int status;

	if (shown__of(&shown, entry))
		return fail(EPROTO, "the reply of dartd has no values of an entry");
	if (json_is_object(shown.copies) ||
	    (!shown.sum && json_array_size(shown.copies) > COPIES_WIDE))
		status = print_by_row(&shown);
	else
		status = print_by_field(&shown);
	if (!status)
		print_lag(entry);
	return status;
}
