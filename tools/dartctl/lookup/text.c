// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fields of entries from texts, and back, see text.h.  The parser is called for each field of
 * millions of lines, so it reads numbers and IPv4 addresses without a copy that ends with a NUL.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "text.h"

bool lookup_text__is_list(const struct dart_key_field *field)
{
	return field->count > 1 && field->type->kind != DART_KEY_BYTES &&
	       field->type->kind != DART_KEY_TEXT;
}

/* The value of a hexadecimal digit, 16 of any other character. */
static uint32_t digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool parse_decimal(const char *text, size_t length, uint64_t *value)
{
	uint64_t sum = 0;
	uint32_t next;
	size_t i;

	for (i = 0; i < length; i++) {
		next = (unsigned char)text[i] - '0';
		if (next > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, next, &sum))
			return false;
	}
	*value = sum;
	return length;
}

static bool parse_hexadecimal(const char *text, size_t length, uint64_t *value)
{
	uint64_t sum = 0;
	size_t i;

	if (!length || length > 16)
		return false;
	for (i = 0; i < length; i++) {
		if (digit(text[i]) > 15)
			return false;
		sum = sum << 4 | digit(text[i]);
	}
	*value = sum;
	return true;
}

static bool parse_name(const struct dart_key_field *field, const char *text,
		       size_t length, uint64_t *value)
{
	uint32_t i;

	for (i = 0; i < field->name_count; i++) {
		const char *name = field->names[i].name;

		if (strlen(name) != length || memcmp(name, text, length))
			continue;
		*value = field->names[i].number;
		return true;
	}
	return false;
}

static uint64_t greatest(const struct dart_key_field *field)
{
	return UINT64_MAX >> (64 - 8 * field->type->width_max);
}

static bool parse_number(const struct dart_key_field *field, const char *text,
			 size_t length, uint8_t *bytes)
{
	uint32_t i = field->type->width_max;
	uint64_t value;
	bool is_right;

	/* No name begins with a digit. */
	if (!length || text[0] < '0' || text[0] > '9')
		is_right = parse_name(field, text, length, &value);
	else if (length > 2 && text[0] == '0' && text[1] == 'x')
		is_right = parse_hexadecimal(text + 2, length - 2, &value);
	else
		is_right = parse_decimal(text, length, &value);
	if (!is_right || value > greatest(field))
		return false;
	for (; i; i--, value >>= 8)
		bytes[i - 1] = value;
	return true;
}

/* As inet_pton(3) does: no leading zeros. */
static bool parse_ipv4(const char *text, size_t length, uint8_t *bytes)
{
	const char *end = text + length, *begin;
	uint32_t part, next, i;

	for (i = 0; i < 4; i++) {
		if (i && (text == end || *text++ != '.'))
			return false;
		begin = text;
		for (part = 0; text < end && text - begin < 3; text++) {
			next = (unsigned char)*text - '0';
			if (next > 9)
				break;
			part = part * 10 + next;
		}
		if (text == begin || part > 255 || (*begin == '0' && text - begin > 1))
			return false;
		bytes[i] = part;
	}
	return text == end;
}

static bool parse_ipv6(const char *text, size_t length, uint8_t *bytes)
{
	char copy[INET6_ADDRSTRLEN];

	if (length >= sizeof(copy) || memchr(text, '\0', length))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return inet_pton(AF_INET6, copy, bytes) == 1;
}

/* @count bytes of two digits; with @gap, a character between two of them. */
static bool parse_bytes(const char *text, size_t length, char gap, uint8_t *bytes, uint32_t count)
{
	const size_t step = gap ? 3 : 2;
	uint32_t i;

	if (length != count * step - (gap ? 1 : 0))
		return false;
	for (i = 0; i < count; i++, text += step) {
		if (digit(text[0]) > 15 || digit(text[1]) > 15 ||
		    (gap && i + 1 < count && text[2] != gap))
			return false;
		bytes[i] = digit(text[0]) << 4 | digit(text[1]);
	}
	return true;
}

static bool parse_text(const char *text, size_t length, uint8_t *bytes, uint32_t count)
{
	const char *end = text + length;
	uint32_t used = 0;
	char c;

	for (; text < end; used++) {
		c = *text++;
		if (used == count)
			return false;
		if (c == '\\' && text < end && *text == '\\') {
			text++;
		} else if (c == '\\') {
			if (end - text < 3 || *text != 'x' ||
			    digit(text[1]) > 15 || digit(text[2]) > 15)
				return false;
			c = digit(text[1]) << 4 | digit(text[2]);
			text += 3;
		}
		bytes[used] = c;
	}
	memset(bytes + used, 0, count - used);
	return true;
}

static bool parse_element(const struct dart_key_field *field, const char *text,
			  size_t length, uint8_t *bytes)
{
	switch (field->type->kind) {
	case DART_KEY_NUMBER:
		return parse_number(field, text, length, bytes);
	case DART_KEY_ADDRESS:
		return field->type->width_max == 4 ? parse_ipv4(text, length, bytes) :
						     parse_ipv6(text, length, bytes);
	case DART_KEY_MAC:
		return parse_bytes(text, length, ':', bytes, field->type->width_max);
	case DART_KEY_BYTES:
		return parse_bytes(text, length, '\0', bytes, field->count);
	case DART_KEY_TEXT:
		return parse_text(text, length, bytes, field->count);
	}
	return false;
}

/* Reverses the first @count of @total elements, and fills the rest with zeros. */
static void make_stack(uint8_t *bytes, uint32_t width, uint32_t count, uint32_t total)
{
	uint8_t other[16];
	uint32_t i;

	for (i = 0; i < count / 2; i++) {
		uint8_t *a = bytes + i * width, *b = bytes + (count - 1 - i) * width;

		memcpy(other, a, width);
		memcpy(a, b, width);
		memcpy(b, other, width);
	}
	memset(bytes + count * width, 0, (total - count) * width);
}

static bool parse_list(const struct dart_key_field *field, const char *text,
		       size_t length, uint8_t *bytes)
{
	const uint32_t width = field->type->width_max;
	const char *end = text + length, *begin;
	uint32_t count = 0;

	while (text < end) {
		if (*text == ' ') {
			text++;
			continue;
		}
		begin = text;
		while (text < end && *text != ' ')
			text++;
		if (count == field->count ||
		    !parse_element(field, begin, text - begin, bytes + count * width))
			return false;
		count++;
	}
	if (field->is_stack)
		make_stack(bytes, width, count, field->count);
	return field->is_stack || count == field->count;
}

/* Describes valid texts of the field. */
static void expect(const struct dart_key_field *field, char *text, size_t size)
{
	char list[64] = "";

	if (lookup_text__is_list(field))
		snprintf(list, sizeof(list), "%s%u elements, each ",
			 field->is_stack ? "up to " : "", field->count);
	switch (field->type->kind) {
	case DART_KEY_NUMBER:
		snprintf(text, size, "%sa number up to %llu%s", list,
			 (unsigned long long)greatest(field),
			 field->name_count ? " or one of its names" : "");
		return;
	case DART_KEY_ADDRESS:
		snprintf(text, size, "%san %s", list,
			 field->type->width_max == 4 ? "IPv4 address such as 10.0.0.1" :
						       "IPv6 address such as fd00::1");
		return;
	case DART_KEY_MAC:
		snprintf(text, size, "%s00:11:22:33:44:55", list);
		return;
	case DART_KEY_BYTES:
		snprintf(text, size, "%u hexadecimal digits", 2 * field->count);
		return;
	case DART_KEY_TEXT:
		snprintf(text, size, "a text of up to %u bytes, with \\x5c for a backslash",
			 field->count);
		return;
	}
}

int lookup_text__parse(const struct dart_key_field *field, const char *text,
		    size_t length, uint8_t *bytes, struct dart_error *error)
{
	char expected[160] = "";

	if (lookup_text__is_list(field) ? parse_list(field, text, length, bytes) :
					  parse_element(field, text, length, bytes))
		return 0;
	expect(field, expected, sizeof(expected));
	return dart_error__set(error, EINVAL, "%s '%.*s%s': expected %s",
			       field->name, length > 60 ? 60 : (int)length,
			       text, length > 60 ? "..." : "", expected);
}

/* ---- printing */

static const char digits[] = "0123456789abcdef";

static size_t print_decimal(uint64_t value, char *text)
{
	char reversed[20];
	size_t length = 0, i;

	do
		reversed[length++] = '0' + value % 10;
	while (value /= 10);
	for (i = 0; i < length; i++)
		text[i] = reversed[length - 1 - i];
	return length;
}

static size_t print_number(const struct dart_key_field *field, const uint8_t *bytes, char *text)
{
	uint64_t value = 0;
	size_t length;
	uint32_t i;

	for (i = 0; i < field->type->width_max; i++)
		value = value << 8 | bytes[i];
	for (i = 0; i < field->name_count; i++) {
		if (field->names[i].number != value)
			continue;
		length = strlen(field->names[i].name);
		memcpy(text, field->names[i].name, length);
		return length;
	}
	return print_decimal(value, text);
}

static size_t print_ipv4(const uint8_t *bytes, char *text)
{
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < 4; i++) {
		if (i)
			text[used++] = '.';
		used += print_decimal(bytes[i], text + used);
	}
	return used;
}

static size_t print_ipv6(const uint8_t *bytes, char *text)
{
	char copy[INET6_ADDRSTRLEN];
	size_t length;

	inet_ntop(AF_INET6, bytes, copy, sizeof(copy));
	length = strlen(copy);
	memcpy(text, copy, length);
	return length;
}

static size_t print_bytes(const uint8_t *bytes, uint32_t count, char gap, char *text)
{
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (i && gap)
			text[used++] = gap;
		text[used++] = digits[bytes[i] >> 4];
		text[used++] = digits[bytes[i] & 15];
	}
	return used;
}

static size_t print_text(const uint8_t *bytes, uint32_t count, char *text)
{
	size_t used = 0;
	uint32_t i;

	while (count && !bytes[count - 1])
		count--;
	for (i = 0; i < count; i++) {
		if (bytes[i] == '\\') {
			text[used++] = '\\';
			text[used++] = '\\';
		} else if (bytes[i] >= ' ' && bytes[i] <= '~') {
			text[used++] = bytes[i];
		} else {
			text[used++] = '\\';
			text[used++] = 'x';
			text[used++] = digits[bytes[i] >> 4];
			text[used++] = digits[bytes[i] & 15];
		}
	}
	return used;
}

static size_t print_element(const struct dart_key_field *field, const uint8_t *bytes, char *text)
{
	switch (field->type->kind) {
	case DART_KEY_NUMBER:
		return print_number(field, bytes, text);
	case DART_KEY_ADDRESS:
		return field->type->width_max == 4 ? print_ipv4(bytes, text) :
						     print_ipv6(bytes, text);
	case DART_KEY_MAC:
		return print_bytes(bytes, field->type->width_max, ':', text);
	case DART_KEY_BYTES:
		return print_bytes(bytes, field->count, '\0', text);
	case DART_KEY_TEXT:
		return print_text(bytes, field->count, text);
	}
	return 0;
}

static bool is_zero(const uint8_t *bytes, uint32_t length)
{
	while (length && !bytes[length - 1])
		length--;
	return !length;
}

static size_t print_list(const struct dart_key_field *field, const uint8_t *bytes, char *text)
{
	const uint32_t width = field->type->width_max;
	uint32_t count = field->count, i, at;
	size_t used = 0;

	while (field->is_stack && count && is_zero(bytes + (count - 1) * width, width))
		count--;
	for (i = 0; i < count; i++) {
		if (i)
			text[used++] = ' ';
		at = field->is_stack ? count - 1 - i : i;
		used += print_element(field, bytes + at * width, text + used);
	}
	return used;
}

size_t lookup_text__print(const struct dart_key_field *field, const uint8_t *bytes,
		       char text[static LOOKUP_TEXT_MAX])
{
	return lookup_text__is_list(field) ? print_list(field, bytes, text) :
					  print_element(field, bytes, text);
}
