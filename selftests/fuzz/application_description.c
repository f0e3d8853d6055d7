// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions of applications, YAML: loaded, and their expressions begun. */
#include <libdart/application/description.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct dart_description *description;
	struct dart_error error = {};
	uint32_t i;

	if (!file)
		return 0;
	if (dart_description__load(file, "description", &description, &error)) {
		require_sentence(&error);
		require(strstr(error.text, "description:") || strstr(error.text, "memory"));
	} else {
		require(description->symbol_count && description->entry_count);
		for (i = 0; i < description->symbol_count; i++)
			require(description->symbols[i].name && description->symbols[i].type);
		for (i = 0; i < description->entry_count; i++)
			require(description->entries[i].rows &&
				description->entries[i].field_count);
		dart_description__free(description);
	}
	fclose(file);
	return 0;
}
