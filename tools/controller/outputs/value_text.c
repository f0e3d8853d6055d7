// SPDX-License-Identifier: GPL-2.0-only
/* Formats values, rates and field names as cells of a table. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

#include "value_text.h"

/* Longer texts are cut, to keep columns narrow. */
#define TEXT_LENGTH 40

#define COLUMN_GAP "  "

int cells__open(struct cells *cells)
{
	*cells = (struct cells){ .table = scols_new_table() };
	if (!cells->table)
		return -ENOMEM;
	/* Do not reduce lines to a terminal's width, and print no blanks at their ends. */
	scols_table_set_termforce(cells->table, SCOLS_TERMFORCE_NEVER);
	scols_table_enable_minout(cells->table, 1);
	/* Texts contain no control characters: see value_text__add_element(). */
	scols_table_enable_noencoding(cells->table, 1);
	cells->ret = scols_table_set_column_separator(cells->table, COLUMN_GAP);
	return 0;
}

void cells__start_line(struct cells *cells)
{
	cells->line = scols_table_new_line(cells->table, NULL);
	cells->count = 0;
	if (!cells->line)
		cells->ret = -ENOMEM;
}

void cells__add(struct cells *cells, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	if (cells->ret)
		return;
	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		cells->ret = -ENOMEM;
		return;
	}
	if (cells->line)
		cells->ret = scols_line_set_data(cells->line, cells->count, text);
	else if (!scols_table_new_column(cells->table, text, 0, cells->count ? SCOLS_FL_RIGHT : 0))
		cells->ret = -ENOMEM;
	free(text);
	cells->count++;
}

static void cells__hide(struct cells *cells, size_t width, size_t fixed)
{
	struct libscols_column *column;
	size_t i, used = 0;

	for (i = 0; i < scols_table_get_ncols(cells->table); i++) {
		column = scols_table_get_column(cells->table, i);
		used += scols_column_get_width(column);
		if (i && (fixed ? i >= fixed : used > width))
			scols_column_set_flags(column, SCOLS_FL_HIDDEN);
		used += strlen(COLUMN_GAP);
	}
}

int cells__print_close(struct cells *cells, size_t width, size_t fixed, FILE *out)
{
	int ret = cells->ret;
	char *text = NULL;

	if (!ret)
		ret = scols_print_table_to_string(cells->table, &text);
	/* libsmartcols computes the widths of columns only while it prints. */
	if (!ret && strcspn(text, "\n") > width) {
		cells__hide(cells, width, fixed);
		free(text);
		text = NULL;
		ret = scols_print_table_to_string(cells->table, &text);
	}
	if (!ret)
		fprintf(out, "%s\n", text);
	free(text);
	scols_unref_table(cells->table);
	return ret;
}

static void add_digits(struct cells *cells, uint64_t value, const char *sign)
{
	char text[32];
	char *c = text + sizeof(text) - 1;
	unsigned int digits = 0;

	*c = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--c = ',';
		*--c = '0' + value % 10;
		value /= 10;
		digits++;
	} while (value);
	cells__add(cells, "%s%s", sign, c);
}

void value_text__add(struct cells *cells, const struct dart_field *field, uint64_t value)
{
	if (field->is_signed && (int64_t)value < 0)
		add_digits(cells, -value, "-");
	else
		add_digits(cells, value, "");
}

void value_text__add_element(struct cells *cells, const struct dart_field *field, const void *copy,
			     uint32_t index)
{
	char address[INET6_ADDRSTRLEN], text[TEXT_LENGTH + 1];

	if (field->kind == DART_CONTROL_FIELD_ADDRESS) {
		dart_field__address(field, copy, address);
		cells__add(cells, "%s", address);
	} else if (field->kind == DART_CONTROL_FIELD_TEXT) {
		dart_escape__text((const char *)copy + field->offset, field->width,
				  DART_ESCAPE_NAME, text, sizeof(text));
		cells__add(cells, "%s", text);
	} else {
		value_text__add(cells, field, dart_field__get(field, copy, index));
	}
}

void value_text__add_rate(struct cells *cells, const struct dart_field *field, uint64_t before,
			  uint64_t now, double seconds)
{
	unsigned int unused = 64 - 8 * field->width;
	/* Narrow counters wrap in normal operation. */
	uint64_t delta = (now - before) << unused >> unused;
	double rate = delta / seconds;

	if (field->width == 8 && now < before)
		cells__add(cells, "%s", "");
	else if (field->kind == DART_CONTROL_FIELD_COUNTER && !strcmp(field->unit, "ns"))
		cells__add(cells, "%.1f%%", rate / 1e7);
	else if (rate < 100)
		cells__add(cells, "%.1f", rate);
	else if (rate < 1e18)
		add_digits(cells, rate, "");
	else
		cells__add(cells, "%g", rate);
}

void value_text__add_name(struct cells *cells, const struct dart_field *field, uint32_t index,
			  const char *suffix)
{
	bool has_unit = *field->unit;
	char subscript[16] = "";

	if (field->count > 1)
		snprintf(subscript, sizeof(subscript), "[%u]", index);
	cells__add(cells, "%s%s%s%s%s%s", field->name, subscript, has_unit ? " (" : "", field->unit,
		   has_unit ? ")" : "", suffix);
}
