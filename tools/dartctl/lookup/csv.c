// SPDX-License-Identifier: GPL-2.0-only
/* Entries from CSV: see parser.h. */
#include <errno.h>
#include <string.h>

#include "parser.h"

void lookup_parser__init(struct lookup_parser *parser,
		      const struct lookup_layout *layout, lookup_parser_next *next)
{
	memset(parser, 0, sizeof(*parser));
	parser->layout = layout;
	parser->next = next;
	parser->line = 1;
}

/* A part of the text, or of parser->cell. */
struct cell {
	const char *text;
	size_t length;
};

/*
 * Takes a cell in quotation marks; *@at is after the first one.  "" stands for a quotation mark.
 * The last one must be on the same line.
 */
static int take_quoted(struct lookup_parser *parser, const char **at, const char *end,
		       struct cell *cell, struct dart_error *error)
{
	const char *from = *at;
	size_t length = 0;

	for (;; from++) {
		if (from == end || *from == '\n')
			return dart_error__set(
				error, EINVAL,
				"the quotation mark of a cell is not closed in its line: add one, or write it as \"\"");
		if (*from == '"' && (from + 1 == end || from[1] != '"'))
			break;
		if (*from == '"')
			from++;
		if (length == sizeof(parser->cell))
			return dart_error__set(
				error, EINVAL,
				"a cell has more than %zu characters: no field is as long",
				sizeof(parser->cell));
		parser->cell[length++] = *from;
	}
	*cell = (struct cell){ parser->cell, length };
	*at = from + 1;
	return 0;
}

/*
 * Takes the next cell of the line up to @end.  Returns 1 if another one follows, 0 if it is
 * the last one of the line, or -EINVAL.
 */
static int take_cell(struct lookup_parser *parser, const char **at, const char *end,
		     struct cell *cell, struct dart_error *error)
{
	const char *from = *at;
	int ret;

	if (from < end && *from == '"') {
		from++;
		ret = take_quoted(parser, &from, end, cell, error);
		if (ret)
			return ret;
		if (from < end && *from != ',')
			return dart_error__set(
				error, EINVAL,
				"a cell continues behind its quotation marks: expected a comma or the end of the line");
	} else {
		while (from < end && *from != ',')
			from++;
		*cell = (struct cell){ *at, from - *at };
	}
	*at = from + (from < end);
	return from < end;
}

static int take_column(struct lookup_parser *parser, const struct cell *name,
		       struct dart_error *error)
{
	char names[256];
	uint32_t i;
	int field = lookup_layout__find(parser->layout, name->text, name->length);

	if (field < 0) {
		lookup_layout__names(parser->layout, names, sizeof(names));
		return dart_error__set(
			error, EINVAL,
			"column '%.*s' is not a field of the entries: the first line names %s",
			(int)(name->length < 32 ? name->length : 32), name->text, names);
	}
	for (i = 0; i < parser->column_count; i++)
		if (parser->columns[i] == (uint32_t)field)
			return dart_error__set(error, EINVAL,
					       "column '%s' occurs twice: remove one",
					       parser->layout->fields[field].is->name);
	parser->columns[parser->column_count++] = field;
	return 0;
}

static const char *absent(const struct lookup_parser *parser)
{
	uint32_t i, j;

	for (i = 0; i < parser->layout->count; i++) {
		for (j = 0; j < parser->column_count; j++)
			if (parser->columns[j] == i)
				break;
		if (j == parser->column_count)
			return parser->layout->fields[i].is->name;
	}
	return NULL;
}

static int take_names(struct lookup_parser *parser, const char *at,
		      const char *end, struct dart_error *error)
{
	struct cell name;
	int more, ret;

	do {
		more = take_cell(parser, &at, end, &name, error);
		if (more < 0)
			return more;
		ret = take_column(parser, &name, error);
		if (ret)
			return ret;
	} while (more);
	if (absent(parser))
		return dart_error__set(error, EINVAL,
				       "no column is called '%s': the first line names each field",
				       absent(parser));
	return 0;
}

static int take_entry(struct lookup_parser *parser, const char *at,
		      const char *end, uint8_t *entry, struct dart_error *error)
{
	struct cell cell;
	uint32_t i;
	int more, ret;

	for (i = 0;; i++) {
		const struct lookup_field *field;

		more = take_cell(parser, &at, end, &cell, error);
		if (more < 0)
			return more;
		field = &parser->layout->fields[parser->columns[i]];
		ret = lookup_text__parse(field->is, cell.text, cell.length,
				      entry + field->offset, error);
		if (ret)
			return ret;
		if (!more || i + 1 == parser->column_count)
			break;
	}
	if (more || i + 1 < parser->column_count)
		return dart_error__set(
			error, EINVAL,
			"the line has %s cells than the %u that the first line names",
			more ? "more" : "fewer", parser->column_count);
	return 1;
}

int lookup_csv__next(struct lookup_parser *parser, struct lookup_span *span,
		  uint8_t *entry, struct dart_error *error)
{
	const char *at, *end, *next;
	int ret = 0;

	while (!ret && span->at < span->end) {
		at = span->at;
		end = memchr(at, '\n', span->end - at);
		if (!end && !span->is_last)
			return -EAGAIN;
		next = end ? end + 1 : span->end;
		end = end ?: span->end;
		if (end > at && end[-1] == '\r')
			end--;
		if (end > at)
			ret = parser->column_count ? take_entry(parser, at, end, entry, error) :
						     take_names(parser, at, end, error);
		if (ret < 0)
			return ret;
		span->at = next;
		parser->line++;
	}
	if (!ret && !span->is_last)
		return -EAGAIN;
	if (!ret && !parser->column_count)
		return dart_error__set(error, EINVAL,
				       "the text is empty: the first line of CSV names the fields");
	return ret;
}
