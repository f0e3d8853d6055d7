// SPDX-License-Identifier: GPL-2.0-only
/* Prints entries as CSV, as objects of JSON in a line each, or in columns. */
#include <string.h>

#include "printer.h"
#include "text.h"

/* ---- CSV */

static void begin_csv(FILE *file, const struct lookup_layout *layout)
{
	uint32_t i;

	for (i = 0; i < layout->count; i++)
		fprintf(file, "%s%s", i ? "," : "", layout->fields[i].is->name);
	fputc('\n', file);
}

static void print_cell(FILE *file, const char *text, size_t length)
{
	size_t i;

	if (!memchr(text, ',', length) && !memchr(text, '"', length)) {
		fwrite(text, 1, length, file);
		return;
	}
	fputc('"', file);
	for (i = 0; i < length; i++) {
		if (text[i] == '"')
			fputc('"', file);
		fputc(text[i], file);
	}
	fputc('"', file);
}

static void print_csv(FILE *file, const struct lookup_layout *layout, const uint8_t *entry)
{
	char text[LOOKUP_TEXT_MAX];
	size_t length;
	uint32_t i;

	for (i = 0; i < layout->count; i++) {
		length = lookup_text__print(layout->fields[i].is, entry + layout->fields[i].offset,
					 text);
		if (i)
			fputc(',', file);
		print_cell(file, text, length);
	}
	fputc('\n', file);
}

/* ---- JSON */

/* Prints numbers as such, other texts as strings; the text is printable ASCII. */
static void print_scalar(FILE *file, const char *text, size_t length, bool is_number)
{
	size_t i;

	if (is_number && length && text[0] >= '0' && text[0] <= '9') {
		fwrite(text, 1, length, file);
		return;
	}
	fputc('"', file);
	for (i = 0; i < length; i++) {
		if (text[i] == '"' || text[i] == '\\')
			fputc('\\', file);
		fputc(text[i], file);
	}
	fputc('"', file);
}

static void print_array(FILE *file, const char *text, size_t length, bool is_number)
{
	const char *end = text + length, *blank;

	fputc('[', file);
	while (text < end) {
		blank = memchr(text, ' ', end - text) ?: end;
		print_scalar(file, text, blank - text, is_number);
		if (blank < end)
			fputs(", ", file);
		text = blank + (blank < end);
	}
	fputc(']', file);
}

static void print_json(FILE *file, const struct lookup_layout *layout, const uint8_t *entry)
{
	char text[LOOKUP_TEXT_MAX];
	size_t length;
	uint32_t i;

	for (i = 0; i < layout->count; i++) {
		const struct dart_key_field *field = layout->fields[i].is;
		const bool is_number = field->type->kind == DART_KEY_NUMBER;

		length = lookup_text__print(field, entry + layout->fields[i].offset, text);
		fprintf(file, "%s\"%s\": ", i ? ", " : "{", field->name);
		if (lookup_text__is_list(field))
			print_array(file, text, length, is_number);
		else
			print_scalar(file, text, length, is_number);
	}
	fputs("}\n", file);
}

/* ---- columns */

/* A width that few texts exceed. */
static int width_of(const struct dart_key_field *field)
{
	static const int digits[] = { [1] = 3, [2] = 5, [4] = 10, [8] = 20 };
	int width = strlen(field->name), its = 16;
	uint32_t i;

	if (lookup_text__is_list(field))
		return width > its ? width : its;
	switch (field->type->kind) {
	case DART_KEY_NUMBER:
		its = digits[field->type->width_max];
		for (i = 0; i < field->name_count; i++)
			if (its < (int)strlen(field->names[i].name))
				its = strlen(field->names[i].name);
		break;
	case DART_KEY_ADDRESS:
		its = field->type->width_max == 4 ? 15 : 39;
		break;
	case DART_KEY_MAC:
		its = 17;
		break;
	case DART_KEY_BYTES:
		its = 2 * field->count;
		break;
	case DART_KEY_TEXT:
		its = field->count;
		break;
	}
	return width > its ? width : its;
}

static void print_column(FILE *file, const struct lookup_layout *layout,
			 uint32_t index, const char *text, size_t length)
{
	if (index + 1 == layout->count)
		fprintf(file, "%.*s\n", (int)length, text);
	else
		fprintf(file, "%-*.*s ", width_of(layout->fields[index].is), (int)length, text);
}

static void begin_columns(FILE *file, const struct lookup_layout *layout)
{
	const char *name;
	uint32_t i;

	for (i = 0; i < layout->count; i++) {
		name = layout->fields[i].is->name;
		print_column(file, layout, i, name, strlen(name));
	}
}

static void print_columns(FILE *file, const struct lookup_layout *layout, const uint8_t *entry)
{
	char text[LOOKUP_TEXT_MAX];
	size_t length;
	uint32_t i;

	for (i = 0; i < layout->count; i++) {
		length = lookup_text__print(layout->fields[i].is, entry + layout->fields[i].offset,
					 text);
		print_column(file, layout, i, text, length);
	}
}

const struct lookup_printer *lookup_printer__find(const char *name)
{
	static const struct lookup_printer printers[] = {
		{ "csv", begin_csv, print_csv },
		{ "json", NULL, print_json },
		{ "table", begin_columns, print_columns },
	};
	size_t i;

	for (i = 0; i < sizeof(printers) / sizeof(printers[0]); i++)
		if (!strcmp(printers[i].name, name))
			return &printers[i];
	return NULL;
}
