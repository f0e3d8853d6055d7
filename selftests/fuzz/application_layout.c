// SPDX-License-Identifier: GPL-2.0-only
/* Layouts of applications, YAML: loaded, and the calls for their values planned. */
#include <libdart/application/layout.h>

#include "agent/application/reader.h"
#include "fuzz.h"

/* A layout that is accepted keeps the promises of its header. */
static void check(const struct dart_application_layout *layout)
{
	const struct dart_application_entry *entry;
	struct application_reader *reader;
	struct dart_error error = {};
	uint32_t i, j;

	require(layout->module_count && layout->entry_count);
	for (i = 0; i < layout->check_count; i++)
		require(layout->checks[i].location.module < layout->module_count);
	for (i = 0; i < layout->entry_count; i++) {
		entry = &layout->entries[i];
		require(entry->rows && entry->rows <= DART_APPLICATION_ROWS_MAX);
		for (j = 0; j < entry->schema->field_count; j++) {
			require(entry->locations[j].module < layout->module_count);
			require(entry->locations[j].steps <= DART_APPLICATION_STEPS_MAX);
		}
		if (application_reader__new(&reader, entry, &error))
			require_sentence(&error);
		else
			application_reader__free(reader);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct dart_application_layout *layout;
	struct dart_error error = {};

	if (!file)
		return 0;
	if (dart_application_layout__load(file, "layout", &layout, &error)) {
		require_sentence(&error);
	} else {
		check(layout);
		dart_application_layout__free(layout);
	}
	fclose(file);
	return 0;
}
