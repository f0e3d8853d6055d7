// SPDX-License-Identifier: LGPL-2.1-or-later
/* Growing arrays of raw elements, one for each section of a control region. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table_sections_internal.h"

#define BYTES_MIN 256

int dart_sections__reserve(struct dart_sections *sections, enum dart_section section, uint64_t more)
{
	const uint32_t size = dart_section_element[section];
	uint64_t needed = sections->of[section].count + more;
	uint64_t room;
	uint8_t *bytes;

	if (needed > DART_CONTROL_LENGTH_MAX / size)
		return -EINVAL;
	if (needed <= sections->of[section].room)
		return 0;

	room = 2 * needed + BYTES_MIN / size;
	bytes = realloc(sections->of[section].bytes, room * size);
	if (!bytes)
		return -ENOMEM;
	sections->of[section].bytes = bytes;
	sections->of[section].room = room;
	return 0;
}

void dart_sections__put(struct dart_sections *sections, enum dart_section section, const void *raw)
{
	const uint32_t size = dart_section_element[section];

	memcpy(sections->of[section].bytes +
	       (size_t)sections->of[section].count++ * size, raw, size);
}

void dart_sections__get(const struct dart_sections *sections,
			enum dart_section section, uint32_t index, void *raw)
{
	const uint32_t size = dart_section_element[section];

	memcpy(raw, sections->of[section].bytes + (size_t)index * size, size);
}

void dart_sections__replace(struct dart_sections *sections, enum dart_section section,
			    uint32_t index, const void *raw)
{
	const uint32_t size = dart_section_element[section];

	memcpy(sections->of[section].bytes + (size_t)index * size, raw, size);
}

__le32 dart_sections__put_string(struct dart_sections *sections, const char *text)
{
	uint32_t *count = &sections->of[DART_SECTION_STRINGS].count;
	uint32_t offset = *count;
	size_t size = strlen(text) + 1;

	if (size == 1)
		return htole32(0);
	memcpy(sections->of[DART_SECTION_STRINGS].bytes + offset, text, size);
	*count += size;
	return htole32(offset);
}

const char *dart_sections__string(const struct dart_sections *sections, __le32 reference)
{
	return (const char *)sections->of[DART_SECTION_STRINGS].bytes + le32toh(reference);
}

void dart_sections__release(struct dart_sections *sections)
{
	int i;

	for (i = 0; i < DART_SECTIONS; i++)
		free(sections->of[i].bytes);
}
