// SPDX-License-Identifier: GPL-2.0-only
/* Layouts of applications, as libdartzero-preload reads them inside a program. */
#include "fuzz.h"
#include "tools/lib/zero/preload_layout.h"

/* A layout that is accepted keeps the promises of its header. */
static void check(const struct preload_layout *layout)
{
	const struct preload_entry *entry;
	const struct preload_field *field;
	uint32_t i, j;

	require(layout->module_count <= PRELOAD_MODULES_MAX);
	require(layout->entry_count <= PRELOAD_ENTRIES_MAX);
	for (i = 0; i < layout->entry_count; i++) {
		entry = &layout->entries[i];
		require(*entry->name && entry->field_count <= PRELOAD_FIELDS_MAX);
		for (j = 0; j < entry->field_count; j++) {
			field = &entry->fields[j];
			require(field->module < layout->module_count && field->address);
			require(strlen(field->shown.name) + strlen(field->shown.unit) <=
				PRELOAD_LAYOUT_BYTES_MAX);
			require(field->shown.width && field->shown.count &&
				field->shown.width <= PRELOAD_LAYOUT_BYTES_MAX &&
				field->shown.count <= PRELOAD_FIELDS_MAX);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32], reason[PRELOAD_REASON_MAX] = "";
	int fd = memfd_create("layout", MFD_CLOEXEC);
	struct preload_layout layout;

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (preload_layout__read(path, &layout, reason)) {
		require(*reason);
	} else {
		check(&layout);
		preload_layout__free(&layout);
	}
	close(fd);
	return 0;
}
