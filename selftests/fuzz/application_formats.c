// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that describes itself: mmv, hsperfdata, or files of Varnish.  An input of Varnish is the
 * index, a NUL, and the bytes of both files of the index that corpus/ has.
 */
#include <libdart/application/formats.h>

#include "fuzz.h"

#define ADDRESS 0x7f0000001000ULL

/* Each value that is described lies inside the bytes. */
static void check(const struct dart_application_layout *layout, size_t size)
{
	const struct dart_application_entry *entry;
	struct dart_application_location location;
	uint32_t i, j, row;

	require(layout->entry_count && layout->check_count);
	for (i = 0; i < layout->check_count; i++) {
		location = layout->checks[i].location;
		require(location.address >= ADDRESS &&
			location.address - ADDRESS <= size - layout->checks[i].width);
	}
	for (i = 0; i < layout->entry_count; i++) {
		entry = &layout->entries[i];
		require(entry->rows && entry->rows <= DART_APPLICATION_ROWS_MAX);
		require(entry->schema->field_count <= DART_APPLICATION_FIELDS_MAX);
		for (row = 0; row < entry->rows; row++) {
			for (j = 0; j < entry->schema->field_count; j++) {
				location = dart_application_entry__location(entry, row, j);
				require(!location.steps && location.address >= ADDRESS &&
					location.address - ADDRESS <=
						size - entry->schema->fields[j].width);
			}
		}
	}
}

static int describe_varnish(const struct dart_mapped *mapped,
			    struct dart_application_layout **layout, struct dart_error *error)
{
	const size_t index = strnlen((const char *)mapped->bytes, mapped->length);
	const size_t at = (index + 8) / 8 * 8;
	const size_t rest = mapped->length > at ? mapped->length - at : 0;
	const size_t half = rest / 2 / 8 * 8;
	const struct dart_varnish_file files[] = {
		{ "_.Stat.1", { mapped->bytes + at, half, mapped->address + at } },
		{ "_.StatDoc.2",
		  { mapped->bytes + at + half, rest - half, mapped->address + at + half } },
	};

	return dart_varnish__describe((const char *)mapped->bytes, index, files, rest ? 2 : 0,
				      layout, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = exact_copy(data, size);
	const struct dart_mapped mapped = { bytes, size, ADDRESS };
	struct dart_application_layout *layout;
	struct dart_error error = {};
	int ret;

	if (dart_mmv__begins(bytes, size))
		ret = dart_mmv__describe(&mapped, &layout, &error);
	else if (dart_hsperfdata__begins(bytes, size))
		ret = dart_hsperfdata__describe(&mapped, &layout, &error);
	else
		ret = describe_varnish(&mapped, &layout, &error);
	if (ret) {
		require_sentence(&error);
	} else {
		check(layout, size);
		dart_application_layout__free(layout);
	}
	free(bytes);
	return 0;
}
