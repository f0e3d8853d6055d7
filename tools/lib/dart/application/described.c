// SPDX-License-Identifier: LGPL-2.1-or-later
/* Takes values out of mapped bytes into layouts, for all formats: see described_internal.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "described_internal.h"
#include "document_internal.h"

/* ---- mapped bytes */

bool dart_mapped__holds(const struct dart_mapped *mapped, uint64_t offset, uint64_t count,
			uint64_t size)
{
	return offset <= mapped->length && count <= (mapped->length - offset) / size;
}

uint32_t dart_mapped__u32(const struct dart_mapped *mapped, uint64_t offset)
{
	uint32_t value;

	memcpy(&value, mapped->bytes + offset, sizeof(value));
	return value;
}

uint64_t dart_mapped__u64(const struct dart_mapped *mapped, uint64_t offset)
{
	uint64_t value;

	memcpy(&value, mapped->bytes + offset, sizeof(value));
	return value;
}

const char *dart_mapped__text(const struct dart_mapped *mapped, uint64_t offset, uint64_t size)
{
	if (offset >= mapped->length)
		return NULL;
	if (size > mapped->length - offset)
		size = mapped->length - offset;
	return memchr(mapped->bytes + offset, '\0', size) ? (const char *)mapped->bytes + offset :
							    NULL;
}

/* ---- layouts */

struct dart_application_layout *dart_described__new(const char *description)
{
	struct dart_application_layout *layout = calloc(1, sizeof(*layout));

	if (!layout)
		return NULL;
	layout->modules = calloc(1, sizeof(*layout->modules));
	layout->description = strdup(description);
	if (!layout->modules || !layout->description) {
		dart_application_layout__free(layout);
		return NULL;
	}
	layout->modules[0].is_address_space = true;
	layout->module_count = 1;
	return layout;
}

static bool fits(const struct dart_entry_draft *draft, const struct dart_field *field,
		 const struct dart_application_location *location)
{
	uint32_t i;

	if (!field->name || !dart_name__is_valid(field->name) || !dart_text__is_valid(field->unit))
		return false;
	if (dart_application_location__objection(location, dart_field__alignment(field)))
		return false;
	for (i = 0; i < draft->field_count; i++)
		if (!strcmp(draft->fields[i].name, field->name))
			return false;
	return true;
}

int dart_described__add(struct dart_application_layout *layout, struct dart_entry_draft *draft,
			const struct dart_mapped *mapped, uint64_t offset,
			const struct dart_field *field, struct dart_error *error)
{
	const struct dart_application_location location = { .address = mapped->address + offset };
	struct dart_field copy = *field;
	bool is_whole = true;

	if (field->kind == DART_CONTROL_FIELD_TEXT && field->width > DART_DESCRIBED_TEXT_MAX) {
		copy.width = DART_DESCRIBED_TEXT_MAX;
		is_whole = memchr(mapped->bytes + offset, '\0', copy.width);
	}
	if (!is_whole || !fits(draft, field, &location)) {
		layout->left_out++;
		return 0;
	}
	if (draft->field_count == DART_APPLICATION_FIELDS_MAX)
		return dart_error__set(error, E2BIG, "there are more than %d values",
				       DART_APPLICATION_FIELDS_MAX);
	copy.count = 1;
	copy.name = strdup(field->name);
	copy.unit = strdup(field->unit);
	if (copy.name && copy.unit && !dart_entry_draft__add(draft, &copy, &location))
		return 0;
	free(copy.name);
	free(copy.unit);
	return dart_error__no_memory(error);
}

int dart_described__check(struct dart_application_layout *layout, const struct dart_mapped *mapped,
			  uint64_t offset, uint8_t width, struct dart_error *error)
{
	struct dart_application_check *checks =
		dart_document__grow(layout->checks, layout->check_count, sizeof(*checks));

	if (!checks)
		return dart_error__no_memory(error);
	layout->checks = checks;
	checks += layout->check_count++;
	*checks = (struct dart_application_check){
		.location.address = mapped->address + offset,
		.width = width,
	};
	/* Little-endian, as the host is. */
	memcpy(&checks->equals, mapped->bytes + offset, width);
	return 0;
}

int dart_described__finish(struct dart_application_layout *layout, struct dart_entry_draft *draft,
			   const char *name, const char *instance,
			   struct dart_application_entry **result, struct dart_error *error)
{
	struct dart_application_entry *entries, entry = {};
	int ret;

	if (result)
		*result = NULL;
	if (!draft->field_count)
		return 0;
	ret = dart_entry_draft__finish(draft, name, &entry, error);
	if (!ret && instance) {
		entry.instance = strdup(instance);
		if (!entry.instance)
			ret = dart_error__no_memory(error);
	}
	entries = ret ? NULL :
			dart_document__grow(layout->entries, layout->entry_count, sizeof(entry));
	if (!entries) {
		dart_application_entry__clear(&entry);
		return ret ?: dart_error__no_memory(error);
	}
	layout->entries = entries;
	entries += layout->entry_count++;
	*entries = entry;
	if (result)
		*result = entries;
	return 0;
}
