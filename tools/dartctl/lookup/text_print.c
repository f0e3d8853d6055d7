// SPDX-License-Identifier: GPL-2.0-only
/* Texts of fields of entries: see tea_text.h. */
#include <arpa/inet.h>
#include <string.h>

#include "text.h"

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

size_t tea_text__print(const struct dart_key_field *field, const uint8_t *bytes,
		       char text[static TEA_TEXT_MAX])
{
	return tea_text__is_list(field) ? print_list(field, bytes, text) :
					  print_element(field, bytes, text);
}
