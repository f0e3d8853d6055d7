// SPDX-License-Identifier: GPL-2.0-only
/* Strings of JSON, with their escapes. */
#include <errno.h>
#include <string.h>

#include "json_cursor.h"

int tea_json_cursor__ends(const struct tea_json_cursor *cursor)
{
	if (!cursor->is_last)
		return -EAGAIN;
	return tea_json_cursor__refuse(cursor, "the text ends within an entry: is it complete?");
}

int tea_json_cursor__put(struct tea_json_cursor *cursor, uint8_t byte)
{
	struct tea_parser *parser = cursor->parser;

	if (cursor->used == sizeof(parser->cell))
		return tea_json_cursor__refuse(
			cursor, "a value has more than %zu characters: no field is as long",
			sizeof(parser->cell));
	parser->cell[cursor->used++] = byte;
	return 0;
}

/* Four hexadecimal digits, the characters of \uXXXX. */
static int take_unit(struct tea_json_cursor *cursor, uint32_t *unit)
{
	uint32_t i, digit;

	if (cursor->end - cursor->at < 4)
		return tea_json_cursor__ends(cursor);
	for (*unit = 0, i = 0; i < 4; i++) {
		digit = (unsigned char)*cursor->at++;
		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if ((digit | 32) >= 'a' && (digit | 32) <= 'f')
			digit = (digit | 32) - 'a' + 10;
		else
			return tea_json_cursor__refuse(
				cursor, "expected four hexadecimal digits behind \\u");
		*unit = *unit << 4 | digit;
	}
	return 0;
}

/* Adds a character in UTF-8. */
static int put_character(struct tea_json_cursor *cursor, uint32_t code)
{
	static const uint8_t marks[] = { 0, 0xc0, 0xe0, 0xf0 };
	const uint32_t more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
	uint32_t i;
	int ret;

	ret = tea_json_cursor__put(cursor, marks[more] | code >> 6 * more);
	for (i = more; i && !ret; i--)
		ret = tea_json_cursor__put(cursor, 0x80 | (code >> 6 * (i - 1) & 0x3f));
	return ret;
}

/* One or two units, behind the first backslash and u. */
static int take_character(struct tea_json_cursor *cursor)
{
	uint32_t code, low = 0;
	int ret = take_unit(cursor, &code);

	if (ret)
		return ret;
	if (code < 0xd800 || code > 0xdfff)
		return put_character(cursor, code);
	if (cursor->end - cursor->at < 2)
		return tea_json_cursor__ends(cursor);
	if (code < 0xdc00 && cursor->at[0] == '\\' && cursor->at[1] == 'u') {
		cursor->at += 2;
		ret = take_unit(cursor, &low);
		if (ret)
			return ret;
	}
	if (low < 0xdc00 || low > 0xdfff)
		return tea_json_cursor__refuse(cursor, "half of a pair of \\u escapes");
	return put_character(cursor, 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff));
}

static int take_escape(struct tea_json_cursor *cursor)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *letter;
	char c;

	if (cursor->at == cursor->end)
		return tea_json_cursor__ends(cursor);
	c = *cursor->at++;
	if (c == 'u')
		return take_character(cursor);
	letter = c ? strchr(letters, c) : NULL;
	if (!letter)
		return tea_json_cursor__refuse(
			cursor, "\\%c is not an escape of JSON: a backslash is \\\\", c);
	return tea_json_cursor__put(cursor, bytes[letter - letters]);
}

int tea_json_cursor__copy_string(struct tea_json_cursor *cursor)
{
	int ret = 0;
	char c;

	while (!ret) {
		if (cursor->at == cursor->end)
			return tea_json_cursor__ends(cursor);
		c = *cursor->at++;
		if (c == '"')
			return 0;
		if ((unsigned char)c < ' ')
			return tea_json_cursor__refuse(
				cursor,
				"a string has a control character: is a quotation mark missing?");
		ret = c == '\\' ? take_escape(cursor) : tea_json_cursor__put(cursor, c);
	}
	return ret;
}
