// SPDX-License-Identifier: LGPL-2.1-or-later
/* Keys from texts: see key_schema.h. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "key_schema.h"

/* Sets the error about @text for @field; returns -EINVAL. */
#define refuse(error, field, text, format, ...)                              \
	dart_error__set(error, EINVAL, "%s '%.40s': " format, (field)->name, \
			text, ##__VA_ARGS__)

static int parse_number(const char *text, uint64_t *value)
{
	const bool is_hex = !strncmp(text, "0x", 2);
	char *end;

	if (!isxdigit((unsigned char)text[is_hex ? 2 : 0]))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, is_hex ? 16 : 10);
	return *end ? -EINVAL : -errno;
}

static int put_number(const struct dart_key_field *field, const char *text,
		      uint8_t *bytes, struct dart_error *error)
{
	const uint32_t width = field->type->width_max;
	const uint64_t max = UINT64_MAX >> (64 - 8 * width);
	uint64_t value;
	uint32_t i;
	int ret;

	for (i = 0; i < field->name_count; i++)
		if (!strcmp(field->names[i].name, text))
			break;
	if (i < field->name_count) {
		value = field->names[i].number;
	} else {
		ret = parse_number(text, &value);
		if (ret == -EINVAL)
			return refuse(error, field, text, "expected a number%s",
				      i ? " or one of its names" : "");
		if (ret || value > max)
			return refuse(error, field, text, "more than %llu",
				      (unsigned long long)max);
	}
	for (i = width; i; i--, value >>= 8)
		bytes[i - 1] = value;
	return width;
}

static int put_address(const struct dart_key_field *field, const char *text,
		       uint8_t *bytes, struct dart_error *error)
{
	if (field->type->width_min == 4 && inet_pton(AF_INET, text, bytes) == 1)
		return 4;
	if (field->type->width_max == 16 && inet_pton(AF_INET6, text, bytes) == 1)
		return 16;
	return refuse(error, field, text, "expected an %s address",
		      field->type->width_max == 4  ? "IPv4" :
		      field->type->width_min == 16 ? "IPv6" :
						     "IPv4 or IPv6");
}

static int nibble(char c)
{
	if (!isxdigit((unsigned char)c))
		return -EINVAL;
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Reads @length bytes of two digits; @separator between them unless 0. */
static int put_digits(const char *text, char separator, uint8_t *bytes, uint32_t length)
{
	uint32_t i;
	int high, low;

	for (i = 0; i < length; i++) {
		if (i && separator && *text++ != separator)
			return -EINVAL;
		high = nibble(text[0]);
		low = high < 0 ? high : nibble(text[1]);
		if (low < 0)
			return low;
		bytes[i] = high << 4 | low;
		text += 2;
	}
	return *text ? -EINVAL : (int)length;
}

/* Returns the number of bytes, or -EINVAL. */
static int put(const struct dart_key_field *field, const char *text,
	       uint8_t *bytes, struct dart_error *error)
{
	size_t length;
	int ret;

	switch (field->type->kind) {
	case DART_KEY_NUMBER:
		return put_number(field, text, bytes, error);
	case DART_KEY_ADDRESS:
		return put_address(field, text, bytes, error);
	case DART_KEY_MAC:
		ret = put_digits(text, ':', bytes, field->type->width_max);
		if (ret >= 0)
			return ret;
		return refuse(error, field, text, "expected 00:11:22:33:44:55");
	case DART_KEY_BYTES:
		ret = put_digits(text, '\0', bytes, field->count);
		if (ret >= 0)
			return ret;
		return refuse(error, field, text, "expected %u hexadecimal digits",
			      2 * field->count);
	case DART_KEY_TEXT:
		length = strlen(text);
		if (length > field->count)
			return refuse(error, field, text, "longer than %u bytes", field->count);
		memset(bytes, 0, field->count);
		memcpy(bytes, text, length);
		return field->count;
	}
	return -EINVAL;
}

int dart_key_schema__key(const struct dart_key_schema *schema, const char *const *texts,
			 uint8_t key[DART_STORE_KEY_MAX], struct dart_error *error)
{
	int length = 0, family = 0, ret;
	uint32_t i;

	for (i = 0; i < schema->key.count; i++) {
		const struct dart_key_field *field = &schema->key.list[i];

		ret = put(field, texts[i], key + length, error);
		if (ret < 0)
			return ret;
		length += ret;
		if (field->type->width_min == field->type->width_max)
			continue;
		/* No packet carries addresses of both families. */
		if (family && ret != family)
			return refuse(error, field, texts[i],
				      "not in the family of the other address");
		family = ret;
	}
	return length;
}
