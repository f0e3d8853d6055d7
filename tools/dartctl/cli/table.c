// SPDX-License-Identifier: GPL-2.0-only
/* Tables on stdout. */
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

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

/* ---- the cells */

#define ROWS_FIRST 64

struct cell {
	const char *text;	/* of the caller, or one of @texts; need not end with NUL */
	uint32_t length;
	uint32_t width;		/* columns of a terminal */
};

/* The last value of a column, and its cell. */
struct last_value {
	struct json_span value;
	struct cell cell;
};

struct known_key {
	struct json_span key;
	ptrdiff_t column;
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	/* Of the cells of each column so far: most columns of a terminal, and bytes. */
	size_t *widths, *longest;
	struct cell *cells;	/* row by row */
	size_t row_count, row_capacity;
	struct last_value *last;	/* by column, of table__add() */
	/* Of the members of that row: their keys, and their columns or -1. */
	struct known_key *known;
	size_t known_count;
	char **texts;		/* that were made for cells */
	size_t text_count, text_capacity;
};

struct table *table__new(const struct table_column *columns)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = columns;
	while (columns[table->column_count].title)
		table->column_count++;
	table->widths = calloc(table->column_count, sizeof(*table->widths));
	table->longest = calloc(table->column_count, sizeof(*table->longest));
	table->last = calloc(table->column_count, sizeof(*table->last));
	if (table->widths && table->longest && table->last)
		return table;
	table__free(table);
	return NULL;
}

void table__free(struct table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->text_count; i++)
		free(table->texts[i]);
	free(table->texts);
	free(table->last);
	free(table->known);
	free(table->cells);
	free(table->longest);
	free(table->widths);
	free(table);
}

/* The cells of a new row, all empty; NULL if out of memory. */
static struct cell *new_row(struct table *table)
{
	size_t capacity = table->row_capacity ? 2 * table->row_capacity : ROWS_FIRST;
	struct cell *cells;

	if (table->row_count == table->row_capacity) {
		cells = reallocarray(table->cells, capacity * table->column_count, sizeof(*cells));
		if (!cells)
			return NULL;
		table->cells = cells;
		table->row_capacity = capacity;
	}
	cells = table->cells + table->row_count++ * table->column_count;
	memset(cells, 0, table->column_count * sizeof(*cells));
	return cells;
}

/* The columns of a terminal that show @text, which is of the locale. */
static size_t width_of(const char *text)
{
	size_t length = mbstowcs(NULL, text, 0);
	wchar_t *wide;
	int width = -1;

	if (length == (size_t)-1)
		return strlen(text);
	wide = calloc(length + 1, sizeof(*wide));
	if (wide && mbstowcs(wide, text, length) == length)
		width = wcswidth(wide, length);
	free(wide);
	return width < 0 ? strlen(text) : (size_t)width;
}

/* Fills a cell with @text, which is ASCII and stays the caller's. */
static void fill(struct table *table, struct cell *cell, size_t column, const char *text,
		 size_t length, size_t width)
{
	*cell = (struct cell){ text, length, width };
	if (width > table->widths[column])
		table->widths[column] = width;
	if (length > table->longest[column])
		table->longest[column] = length;
}

/* The same with the text of @value, which may be of any type. */
static bool fill_with(struct table *table, struct cell *cell, size_t column, const json_t *value)
{
	size_t capacity = table->text_capacity ? 2 * table->text_capacity : ROWS_FIRST;
	char **texts, *text;

	if (table->text_count == table->text_capacity) {
		texts = reallocarray(table->texts, capacity, sizeof(*texts));
		if (!texts)
			return false;
		table->texts = texts;
		table->text_capacity = capacity;
	}
	text = cell_text(&table->columns[column], value);
	if (!text)
		return false;
	table->texts[table->text_count++] = text;
	fill(table, cell, column, text, strlen(text), width_of(text));
	return true;
}

/* Fills a cell with a value that was read but not made a tree. */
static bool fill_with_span(struct table *table, struct cell *cell, size_t column,
			   const struct json_span *value)
{
	const bool is_text = value->token == JSON_TOKEN_STRING && value->is_plain;
	json_t *json;
	bool is_filled;

	if (!table->columns[column].convert && is_text) {
		fill(table, cell, column, value->text + 1, value->length - 2, value->length - 2);
		return true;
	}
	if (!table->columns[column].convert && value->token == JSON_TOKEN_NUMBER) {
		fill(table, cell, column, value->text, value->length, value->length);
		return true;
	}
	json = json_span__load(value);
	is_filled = json && fill_with(table, cell, column, json);
	json_decref(json);
	return is_filled;
}

static inline bool is_same(const struct json_span *a, const struct json_span *b)
{
	return a->text == b->text ||
	       (a->length == b->length && !memcmp(a->text, b->text, a->length));
}

/* The column of the members called @key; -1 without one. */
static ptrdiff_t find_column(const struct table *table, const struct json_span *key)
{
	size_t i;

	for (i = 0; i < table->column_count; i++)
		if (json_span__equals(key, table->columns[i].member))
			return i;
	return -1;
}

/* Makes room to note the columns of @count members. */
static bool reserve_known(struct table *table, size_t count)
{
	struct known_key *known;

	if (count <= table->known_count)
		return true;
	known = reallocarray(table->known, count, sizeof(*known));
	if (!known)
		return false;
	memset(known + table->known_count, 0, (count - table->known_count) * sizeof(*known));
	table->known = known;
	table->known_count = count;
	return true;
}

/*
 * Most members have the column of the member at the same place in the row above, and a cell is the
 * last one of its column if the values are equal: in 20,000 rows of one user only one name is
 * looked up.
 */
bool table__add(struct table *table, const struct json_members *members)
{
	struct cell *row = reserve_known(table, members->count) ? new_row(table) : NULL;
	const struct json_member *member = members->list;
	struct known_key *known = table->known;
	struct last_value *last;
	size_t i;

	for (i = 0; row && i < members->count; i++, member++, known++) {
		if (!is_same(&member->key, &known->key))
			*known = (struct known_key){ member->key,
						     find_column(table, &member->key) };
		if (known->column < 0)
			continue;
		last = &table->last[known->column];
		if (!is_same(&member->value, &last->value)) {
			if (!fill_with_span(table, &last->cell, known->column, &member->value))
				return false;
			last->value = member->value;
		}
		row[known->column] = last->cell;
	}
	return row;
}

static bool add_object(struct table *table, const json_t *object, const json_t *object_above)
{
	struct cell *row = new_row(table);
	const json_t *value;
	size_t i;

	for (i = 0; row && i < table->column_count; i++) {
		value = json_object_get(object, table->columns[i].member);
		if (!value)
			continue;
		if (object_above &&
		    json_equal(value, json_object_get(object_above, table->columns[i].member)))
			row[i] = row[(ptrdiff_t)i - (ptrdiff_t)table->column_count];
		else if (!fill_with(table, &row[i], i, value))
			return false;
	}
	return row;
}

/* ---- printing */

/* Lines are written to stdout when they fill this many bytes. */
#define PIECE 65536
/* Most columns are shorter, and are padded with this many blanks without a call. */
#define BLANKS 32

struct lines {
	char *bytes, *end;	/* with room for PIECE bytes, a line and BLANKS */
};

/* Most bytes of a line: each cell, as many blanks as its column is wide, and a separator. */
static size_t longest_line(const struct table *table)
{
	size_t length = 0, i;

	for (i = 0; i < table->column_count; i++)
		length += table->longest[i] + table->widths[i] + 1;
	return length;
}

/* Writes @count blanks, perhaps more, to @to, and returns the end of @count. */
static inline char *pad(char *to, size_t count)
{
	if (count > BLANKS)
		memset(to, ' ', count);
	else
		memset(to, ' ', BLANKS);
	return to + count;
}

static void flush(struct lines *lines)
{
	fwrite(lines->bytes, 1, lines->end - lines->bytes, stdout);
	lines->end = lines->bytes;
}

/* A line ends with blanks only if its last cells are empty. */
static void print_row(const struct table *table, const struct cell *cells, struct lines *lines)
{
	const size_t last = table->column_count - 1;
	char *end = lines->end;
	size_t i, blanks;
	bool is_right;

	for (i = 0; i <= last; i++) {
		is_right = table->columns[i].is_number;
		blanks = i < last || (is_right && cells[i].length) ?
				 table->widths[i] - cells[i].width :
				 0;
		if (is_right)
			end = pad(end, blanks);
		if (cells[i].length)
			end = mempcpy(end, cells[i].text, cells[i].length);
		/* With the blank between two columns. */
		end = pad(end, is_right ? 1 : blanks + 1);
	}
	end[-1] = '\n';
	lines->end = end;
	if (end - lines->bytes >= PIECE)
		flush(lines);
}

/* Makes the cells of the titles; returns false if none are printed. */
static bool add_titles(struct table *table, struct cell *titles)
{
	const char *title;
	size_t i;

	if (!*table->columns->title)
		return false;
	for (i = 0; i < table->column_count; i++) {
		title = table->columns[i].title;
		fill(table, &titles[i], i, title, strlen(title), strlen(title));
	}
	return true;
}

int table__print(struct table *table)
{
	struct cell *titles = calloc(table->column_count, sizeof(*titles));
	const bool has_titles = titles && add_titles(table, titles);
	struct lines lines;
	size_t row;

	lines.bytes = titles ? malloc(PIECE + longest_line(table) + BLANKS) : NULL;
	lines.end = lines.bytes;
	if (lines.bytes && table->row_count && has_titles)
		print_row(table, titles, &lines);
	for (row = 0; lines.bytes && row < table->row_count; row++)
		print_row(table, table->cells + row * table->column_count, &lines);
	free(titles);
	if (!lines.bytes)
		return fail__out_of_memory();
	flush(&lines);
	free(lines.bytes);
	return EXIT_SUCCESS;
}

int table__print_objects(json_t *objects, const struct table_column *columns)
{
	struct table *table = table__new(columns);
	bool is_filled = table;
	json_t *object, *above = NULL;
	int status;
	size_t i;

	json_array_foreach(objects, i, object) {
		is_filled = is_filled && add_object(table, object, above);
		above = object;
	}
	status = is_filled ? table__print(table) : fail__out_of_memory();
	table__free(table);
	return status;
}
