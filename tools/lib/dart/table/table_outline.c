// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decodes the header of a control region: checksum and bounds of sections. */
#include <endian.h>
#include <errno.h>
#include <string.h>

/* Inlined: the state of a hash on the stack must not depend on a library. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "table_format_internal.h"

uint64_t dart_block__hash(const void *block, size_t size, uint32_t index)
{
	uint8_t first[DART_CONTROL_BLOCK];

	if (index)
		return XXH64(block, size, index);
	memcpy(first, block, size);
	memset(first + offsetof(struct dart_control_header, checksum), 0,
	       sizeof(((struct dart_control_header *)NULL)->checksum));
	return XXH64(first, size, 0);
}

uint64_t dart_table__checksum(const void *bytes, size_t length)
{
	const uint8_t *block = bytes;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; length > DART_CONTROL_BLOCK; i++) {
		sum += dart_block__hash(block, DART_CONTROL_BLOCK, i);
		block += DART_CONTROL_BLOCK;
		length -= DART_CONTROL_BLOCK;
	}
	return sum + dart_block__hash(block, length, i);
}

/* Order matters: members that a change can garble come after -EAGAIN. */
static int decode_header(struct dart_table_outline *outline, const void *bytes, size_t length,
			 size_t *needed, struct dart_error *error)
{
	const struct dart_control_header *header = &outline->header;
	uint32_t table_length;

	if (length < sizeof(*header))
		return refuse(error, "%zu bytes are too few for a header", length);
	memcpy(&outline->header, bytes, sizeof(*header));

	if (le64toh(header->magic) != DART_CONTROL_MAGIC)
		return refuse(error, "the magic number is wrong");
	if (le32toh(header->abi_version) != DART_CONTROL_ABI_VERSION)
		return dart_error__set(error, EPROTONOSUPPORT,
				       "the ABI version is %u instead of %u",
				       le32toh(header->abi_version), DART_CONTROL_ABI_VERSION);
	if (header->generation_begin != header->generation_end)
		return dart_error__set(error, EAGAIN, "the table was being changed, or is damaged");
	if (le32toh(header->header_size) != sizeof(*header))
		return refuse(error, "the header has %u bytes instead of %zu",
			      le32toh(header->header_size), sizeof(*header));

	table_length = le32toh(header->table_length);
	if (table_length < sizeof(*header) || table_length > DART_CONTROL_LENGTH_MAX)
		return refuse(error, "a table cannot have %u bytes", table_length);
	if (table_length > length) {
		if (needed)
			*needed = table_length;
		return dart_error__set(error, EMSGSIZE, "%zu bytes were read of %u", length,
				       table_length);
	}

	if (le64toh(header->checksum) != dart_table__checksum(bytes, table_length))
		return dart_error__set(
			error, EAGAIN,
			"the checksum is wrong: the table was being changed, or is damaged");
	if (header->reserved)
		return refuse(error, "a reserved member of the header is not 0");
	return 0;
}

int dart_table_outline__decode(struct dart_table_outline *outline, const void *bytes, size_t length,
			       size_t *needed, struct dart_error *error)
{
	static const char *const names[DART_SECTIONS] = {
		"memory regions", "entries", "ranges", "schemas", "fields", "strings", "CPU sets",
	};
	const struct dart_control_header *header = &outline->header;
	const struct dart_control_section *const sections[DART_SECTIONS] = {
		&header->memory_regions, &header->entries, &header->ranges,   &header->schemas,
		&header->fields,	 &header->strings, &header->cpu_sets,
	};
	int i, ret = decode_header(outline, bytes, length, needed, error);
	uint64_t end = sizeof(*header);

	if (ret)
		return ret;
	for (i = 0; i < DART_SECTIONS; i++) {
		uint32_t offset = le32toh(sections[i]->offset);
		uint32_t count = le32toh(sections[i]->count);

		if (offset % DART_SECTION_ALIGNMENT)
			return refuse(error, "the section of %s is not aligned",
				      names[i]);
		if (offset < end)
			return refuse(
				error,
				"the section of %s overlaps the one before it",
				names[i]);
		/* 32 bits by less than 32 bits: no overflow. */
		end = offset + (uint64_t)count * dart_section_element[i];
		if (end > le32toh(header->table_length))
			return refuse(error, "the section of %s reaches beyond the table",
				      names[i]);
		outline->sections[i].offset = offset;
		outline->sections[i].count = count;
	}
	return 0;
}
