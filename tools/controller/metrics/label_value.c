// SPDX-License-Identifier: GPL-2.0-only
/* Makes UTF-8 without control characters of any bytes. */
#include "label_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character that begins at @bytes; 0: it is none (RFC 3629). */
static size_t character_length(const unsigned char *bytes, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t point;
	size_t length, i;

	if (*bytes < 0x80)
		return 1;
	length = *bytes >= 0xf0 ? 4 : *bytes >= 0xe0 ? 3 : 2;
	if (*bytes < 0xc2 || *bytes > 0xf4 || length > left)
		return 0;
	point = *bytes & (0xff >> (length + 1));
	for (i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (bytes[i] & 0x3f);
	}
	if (point < least[length] || point > 0x10ffff ||
	    (point >= 0xd800 && point <= 0xdfff))
		return 0;
	return length;
}

static bool is_control(const unsigned char *bytes, size_t length)
{
	return length == 1 ? *bytes < 0x20 || *bytes == 0x7f :
			     length == 2 && *bytes == 0xc2 && bytes[1] < 0xa0;
}

void label_value__of_text(const void *text, size_t width,
			  char value[static LABEL_VALUE_MAX])
{
	const unsigned char *bytes = text;
	size_t left = strnlen(text, width), used = 0, length;

	while (left && used + 4 < LABEL_VALUE_MAX) {
		length = character_length(bytes, left);
		if (!length) {
			value[used++] = 0xc0 | *bytes >> 6;
			value[used++] = 0x80 | (*bytes & 0x3f);
			length = 1;
		} else if (is_control(bytes, length)) {
			value[used++] = '?';
		} else {
			memcpy(value + used, bytes, length);
			used += length;
		}
		bytes += length;
		left -= length;
	}
	value[used] = '\0';
}

void label_value__of_field(const struct dart_field *field, const void *copy,
			   char value[static LABEL_VALUE_MAX])
{
	uint64_t number;

	if (field->kind == DART_CONTROL_FIELD_TEXT) {
		label_value__of_text((const char *)copy + field->offset,
				     field->width, value);
	} else if (field->kind == DART_CONTROL_FIELD_ADDRESS) {
		dart_field__address(field, copy, value);
	} else {
		number = dart_field__get(field, copy, 0);
		if (field->is_signed)
			snprintf(value, LABEL_VALUE_MAX, "%" PRId64,
				 (int64_t)number);
		else
			snprintf(value, LABEL_VALUE_MAX, "%" PRIu64, number);
	}
}
