// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries from JSON: see parser.h.  Written by hand because imports are long: jansson takes 1.9 us
 * to parse an entry of NAT into temporary objects, this file takes 0.3 us and writes the entry
 * itself; and jansson has no unsigned integers of 64 bits.
 */
#include <errno.h>
#include <string.h>

#include "parser.h"

/*
 * The position of one call.  If the call succeeds, it copies line to the parser and at to the span.
 */
struct cursor {
	struct lookup_parser *parser;
	const char *at, *end;
	bool is_last;
	uint64_t line;
	struct dart_error *error;
	size_t used; /* characters in parser->cell */
};

/* Sets the error, a format and its arguments, and the line; returns -EINVAL. */
#define refuse(cursor, ...)      \
	((cursor)->parser->line = (cursor)->line, \
	 dart_error__set((cursor)->error, EINVAL, __VA_ARGS__))

/* ---- strings, with their escapes */

/* The text ends here, within an entry: returns -EAGAIN if more follows, or refuses it. */
static int ends(const struct cursor *cursor)
{
	if (!cursor->is_last)
		return -EAGAIN;
	return refuse(cursor, "the text ends within an entry: is it complete?");
}

/* Adds a byte to the cell.  Returns 0, or refuses it. */
static int put(struct cursor *cursor, uint8_t byte)
{
	struct lookup_parser *parser = cursor->parser;

	if (cursor->used == sizeof(parser->cell))
		return refuse(cursor, "a value has more than %zu characters: no field is as long",
			      sizeof(parser->cell));
	parser->cell[cursor->used++] = byte;
	return 0;
}

/* Takes the four hexadecimal digits of \uXXXX. */
static int take_unit(struct cursor *cursor, uint32_t *unit)
{
	uint32_t i, digit;

	if (cursor->end - cursor->at < 4)
		return ends(cursor);
	for (*unit = 0, i = 0; i < 4; i++) {
		digit = (unsigned char)*cursor->at++;
		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if ((digit | 32) >= 'a' && (digit | 32) <= 'f')
			digit = (digit | 32) - 'a' + 10;
		else
			return refuse(cursor, "expected four hexadecimal digits behind \\u");
		*unit = *unit << 4 | digit;
	}
	return 0;
}

/* Adds a character in UTF-8. */
static int put_character(struct cursor *cursor, uint32_t code)
{
	static const uint8_t marks[] = { 0, 0xc0, 0xe0, 0xf0 };
	const uint32_t more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
	uint32_t i;
	int ret;

	ret = put(cursor, marks[more] | code >> 6 * more);
	for (i = more; i && !ret; i--)
		ret = put(cursor, 0x80 | (code >> 6 * (i - 1) & 0x3f));
	return ret;
}

/* Takes one or two units, after the first backslash and u. */
static int take_character(struct cursor *cursor)
{
	uint32_t code, low = 0;
	int ret = take_unit(cursor, &code);

	if (ret)
		return ret;
	if (code < 0xd800 || code > 0xdfff)
		return put_character(cursor, code);
	if (cursor->end - cursor->at < 2)
		return ends(cursor);
	if (code < 0xdc00 && cursor->at[0] == '\\' && cursor->at[1] == 'u') {
		cursor->at += 2;
		ret = take_unit(cursor, &low);
		if (ret)
			return ret;
	}
	if (low < 0xdc00 || low > 0xdfff)
		return refuse(cursor, "half of a pair of \\u escapes");
	return put_character(cursor, 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff));
}

static int take_escape(struct cursor *cursor)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *letter;
	char c;

	if (cursor->at == cursor->end)
		return ends(cursor);
	c = *cursor->at++;
	if (c == 'u')
		return take_character(cursor);
	letter = c ? strchr(letters, c) : NULL;
	if (!letter)
		return refuse(cursor, "\\%c is not an escape of JSON: a backslash is \\\\", c);
	return put(cursor, bytes[letter - letters]);
}

/*
 * Adds the characters of a string to the cell, without escapes; its first quotation mark has
 * been taken.  Returns 0 or -errno, as above.
 */
static int copy_string(struct cursor *cursor)
{
	int ret = 0;
	char c;

	while (!ret) {
		if (cursor->at == cursor->end)
			return ends(cursor);
		c = *cursor->at++;
		if (c == '"')
			return 0;
		if ((unsigned char)c < ' ')
			return refuse(
				cursor,
				"a string has a control character: is a quotation mark missing?");
		ret = c == '\\' ? take_escape(cursor) : put(cursor, c);
	}
	return ret;
}

/* ---- tokens */

/* Returns the next character that is not white space, without taking it; -EAGAIN at the end. */
static int peek(struct cursor *cursor)
{
	for (; cursor->at < cursor->end; cursor->at++) {
		switch (*cursor->at) {
		case '\n':
			cursor->line++;
			break;
		case ' ':
		case '\t':
		case '\r':
			break;
		default:
			return (unsigned char)*cursor->at;
		}
	}
	return -EAGAIN;
}

static int take(struct cursor *cursor, char expected)
{
	int next = peek(cursor);

	if (next < 0)
		return ends(cursor);
	if (next != expected)
		return refuse(cursor, "expected '%c' instead of '%c'", expected, next);
	cursor->at++;
	return 0;
}

struct text {
	const char *at;
	size_t length;
};

/* Takes a string; without escapes, @text points to it in place. */
static int take_string(struct cursor *cursor, struct text *text)
{
	const char *from;
	int ret = take(cursor, '"');

	if (ret)
		return ret;
	for (from = cursor->at; from < cursor->end; from++) {
		if (*from == '"') {
			*text = (struct text){ cursor->at, from - cursor->at };
			cursor->at = from + 1;
			return 0;
		}
		if (*from == '\\' || (unsigned char)*from < ' ')
			break;
	}
	cursor->used = 0;
	ret = copy_string(cursor);
	*text = (struct text){ cursor->parser->cell, cursor->used };
	return ret;
}

static bool is_in_word(unsigned char c)
{
	return c > ' ' && c != ',' && c != '}' && c != ']';
}

/* Takes a number, or a word that lookup_text__parse() refuses. */
static int take_word(struct cursor *cursor, struct text *text)
{
	const char *from = cursor->at;

	while (from < cursor->end && is_in_word(*from))
		from++;
	if (from == cursor->end)
		return ends(cursor);
	if (*cursor->at != '-' && (*cursor->at < '0' || *cursor->at > '9'))
		return refuse(cursor, "expected a string or a number instead of '%.*s'",
			      (int)(from - cursor->at < 20 ? from - cursor->at : 20), cursor->at);
	*text = (struct text){ cursor->at, from - cursor->at };
	cursor->at = from;
	return 0;
}

static int take_scalar(struct cursor *cursor, struct text *text)
{
	int next = peek(cursor);

	if (next < 0)
		return ends(cursor);
	return next == '"' ? take_string(cursor, text) : take_word(cursor, text);
}

/* Adds a string or a number to the cell. */
static int add_element(struct cursor *cursor)
{
	struct text word;
	size_t i;
	int ret;

	if (*cursor->at == '"') {
		cursor->at++;
		return copy_string(cursor);
	}
	ret = take_word(cursor, &word);
	for (i = 0; !ret && i < word.length; i++)
		ret = put(cursor, word.at[i]);
	return ret;
}

/* Takes an array, and writes its elements to the cell, with blanks between them. */
static int take_elements(struct cursor *cursor, struct text *text)
{
	int ret, next;

	ret = take(cursor, '[');
	if (ret)
		return ret;
	cursor->used = 0;
	next = peek(cursor);
	while (next >= 0 && next != ']') {
		ret = add_element(cursor);
		if (ret)
			return ret;
		next = peek(cursor);
		if (next == ',') {
			cursor->at++;
			ret = put(cursor, ' ');
			if (ret)
				return ret;
			next = peek(cursor);
			if (next == ']')
				return refuse(cursor, "expected an element behind ','");
		} else if (next >= 0 && next != ']') {
			return refuse(cursor, "expected ',' or ']'");
		}
	}
	if (next < 0)
		return ends(cursor);
	cursor->at++;
	*text = (struct text){ cursor->parser->cell, cursor->used };
	return 0;
}

/* Takes the name of a member.  Returns the index of its field, probably @guess, or -errno. */
static int take_name(struct cursor *cursor, uint32_t guess)
{
	const struct lookup_layout *layout = cursor->parser->layout;
	const struct lookup_field *field = &layout->fields[guess % layout->count];
	const size_t length = field->name_length;
	char names[256];
	struct text text;
	int index, ret;

	if (peek(cursor) == '"' && (size_t)(cursor->end - cursor->at) > 1 + length &&
	    cursor->at[1 + length] == '"' && !memcmp(cursor->at + 1, field->is->name, length)) {
		cursor->at += length + 2;
		return field - layout->fields;
	}
	ret = take_string(cursor, &text);
	if (ret)
		return ret;
	index = lookup_layout__find(layout, text.at, text.length);
	if (index >= 0)
		return index;
	lookup_layout__names(layout, names, sizeof(names));
	return refuse(cursor, "'%.*s' is not a field of the entries: these are %s",
				       (int)(text.length < 32 ? text.length : 32), text.at, names);
}

static int take_member(struct cursor *cursor, uint64_t *seen, uint8_t *entry)
{
	const struct lookup_layout *layout = cursor->parser->layout;
	const struct lookup_field *field;
	struct text text;
	int index, ret;

	/* Most entries have the fields in order. */
	index = take_name(cursor, __builtin_popcountll(*seen));
	if (index < 0)
		return index;
	field = &layout->fields[index];
	if (*seen & UINT64_C(1) << index)
		return refuse(cursor, "'%s' occurs twice in an entry", field->is->name);
	*seen |= UINT64_C(1) << index;
	ret = take(cursor, ':');
	if (ret)
		return ret;
	ret = lookup_text__is_list(field->is) && peek(cursor) == '[' ?
		      take_elements(cursor, &text) :
		      take_scalar(cursor, &text);
	if (ret)
		return ret;
	ret = lookup_text__parse(field->is, text.at, text.length,
			      entry + field->offset, cursor->error);
	if (ret)
		cursor->parser->line = cursor->line;
	return ret;
}

static int take_object(struct cursor *cursor, uint8_t *entry)
{
	const struct lookup_layout *layout = cursor->parser->layout;
	uint64_t seen = 0;
	uint32_t i;
	int ret, next;

	ret = take(cursor, '{');
	while (!ret) {
		ret = take_member(cursor, &seen, entry);
		if (ret)
			return ret;
		next = peek(cursor);
		if (next < 0)
			return ends(cursor);
		if (next == '}')
			break;
		ret = take(cursor, ',');
	}
	if (ret)
		return ret;
	cursor->at++;
	for (i = 0; i < layout->count; i++)
		if (!(seen & UINT64_C(1) << i))
			return refuse(cursor, "an entry has no '%s': all fields are needed",
				      layout->fields[i].is->name);
	return 1;
}

/* Takes the punctuation before an object, or at the end.  Returns 1 if an object follows. */
static int take_front(struct cursor *cursor, bool *is_array, bool *is_ended)
{
	const struct lookup_parser *parser = cursor->parser;
	int next = peek(cursor);

	*is_array = parser->is_array;
	*is_ended = parser->is_ended;
	if (next == '[' && !parser->is_behind && !parser->is_array) {
		*is_array = true;
		cursor->at++;
		next = peek(cursor);
	} else if (next == ',' && parser->is_array && parser->is_behind && !parser->is_ended) {
		cursor->at++;
		next = peek(cursor);
		return next < 0 ? ends(cursor) : 1;
	} else if (next == '{' && parser->is_array && parser->is_behind) {
		return refuse(cursor, "expected ',' or ']' between two entries");
	}
	if (next == ']' && *is_array && !*is_ended) {
		*is_ended = true;
		cursor->at++;
		next = peek(cursor);
	}
	if (next < 0 && (!cursor->is_last || (*is_array && !*is_ended)))
		return ends(cursor);
	if (next >= 0 && *is_ended)
		return refuse(cursor, "'%c' follows the end of the array", next);
	return next >= 0;
}

int lookup_json__next(struct lookup_parser *parser, struct lookup_span *span,
		   uint8_t *entry, struct dart_error *error)
{
	struct cursor cursor = {
		.parser = parser,
		.at = span->at,
		.end = span->end,
		.is_last = span->is_last,
		.line = parser->line,
		.error = error,
	};
	bool is_array, is_ended;
	int ret;

	ret = take_front(&cursor, &is_array, &is_ended);
	if (ret > 0)
		ret = take_object(&cursor, entry);
	if (ret < 0)
		return ret;
	parser->is_array = is_array;
	parser->is_ended = is_ended;
	parser->is_behind = true;
	parser->line = cursor.line;
	span->at = cursor.at;
	return ret;
}
