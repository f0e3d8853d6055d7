// SPDX-License-Identifier: LGPL-2.1-or-later
/* Build-ids and numbers as texts; rules for locations. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/application/location.h>

static int digit_of(char character)
{
	if (isdigit((unsigned char)character))
		return character - '0';
	return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

bool dart_application_build_id__parse(struct dart_application_build_id *id, const char *text)
{
	size_t length = strlen(text), i;
	int high, low;

	*id = (struct dart_application_build_id){ .length = length / 2 };
	if (!length || length % 2 || length > 2 * DART_APPLICATION_BUILD_ID_MAX)
		return false;
	for (i = 0; i < id->length; i++) {
		high = digit_of(text[2 * i]);
		low = digit_of(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		id->bytes[i] = high << 4 | low;
	}
	return true;
}

void dart_application_build_id__print(const struct dart_application_build_id *id,
				      char text[static 2 * DART_APPLICATION_BUILD_ID_MAX + 1])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < id->length; i++) {
		text[2 * i] = digits[id->bytes[i] >> 4];
		text[2 * i + 1] = digits[id->bytes[i] & 0xf];
	}
	text[2 * i] = '\0';
}

bool dart_application_build_id__equals(const struct dart_application_build_id *id,
				       const struct dart_application_build_id *other)
{
	return id->length == other->length && !memcmp(id->bytes, other->bytes, id->length);
}

bool dart_application_number__parse(const char *text, uint64_t most, uint64_t *number)
{
	const bool is_hexadecimal = text && !strncmp(text, "0x", 2);
	char *end;

	if (!text)
		return false;
	if (is_hexadecimal ? !isxdigit((unsigned char)text[2]) : !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, is_hexadecimal ? 16 : 10);
	return !*end && !errno && *number <= most;
}

const char *dart_application_location__objection(const struct dart_application_location *location,
						 uint32_t width)
{
	uint32_t i;

	for (i = 0; i < location->steps; i++)
		if ((i ? location->offsets[i - 1] : location->address) % sizeof(uint64_t))
			return "follows a pointer that does not lie at a multiple of 8";
	if ((location->steps ? location->offsets[location->steps - 1] : location->address) % width)
		return "does not lie at a multiple of its width";
	return NULL;
}
