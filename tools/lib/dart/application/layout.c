// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loads layouts of applications from YAML files, see dart_application(5). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/application/layout.h>

#include "document_internal.h"
#include "entry_internal.h"

static int take_numbers(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	struct dart_application_location *location = into;
	uint64_t number;
	int ret;

	if (!location->address) {
		/* Address 0 is the header of the module, where no value lies. */
		ret = dart_document__take_number(yaml, item, DART_APPLICATION_ADDRESS_END - 1,
						 &location->address);
		if (!ret && !location->address)
			ret = dart_yaml__refuse(yaml, item, "no value lies at address 0");
		return ret;
	}
	if (location->steps == DART_APPLICATION_STEPS_MAX)
		return dart_yaml__refuse(yaml, item, "more than %d steps through pointers",
					 DART_APPLICATION_STEPS_MAX);
	ret = dart_document__take_number(yaml, item, DART_APPLICATION_OFFSET_END - 1, &number);
	if (!ret)
		location->offsets[location->steps++] = number;
	return ret;
}

static int take_location(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_numbers, into);
}

static int take_module_index(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint64_t number;
	int ret = dart_document__take_number(yaml, node, DART_APPLICATION_MODULES_MAX - 1, &number);

	if (!ret)
		*(uint8_t *)into = number;
	return ret;
}

/* ---- modules and checks */

static int take_module(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "soname", dart_document__take_text,
		  offsetof(struct dart_application_module, soname) },
		{ "build_id", dart_document__take_build_id,
		  offsetof(struct dart_application_module, build_id) },
		{}
	};
	struct dart_application_layout *layout = into;
	struct dart_application_module *modules;
	int ret;

	if (layout->module_count == DART_APPLICATION_MODULES_MAX)
		return dart_yaml__refuse(yaml, item, "more than %d modules",
					 DART_APPLICATION_MODULES_MAX);
	modules = dart_document__grow(layout->modules, layout->module_count, sizeof(*modules));
	if (!modules)
		return dart_error__no_memory(yaml->error);
	layout->modules = modules;
	modules += layout->module_count++;
	*modules = (struct dart_application_module){};
	ret = dart_yaml__take_mapping(yaml, item, members, modules);
	if (ret)
		return ret;
	if (!modules->soname != (layout->module_count == 1))
		return dart_yaml__refuse(
			yaml, item,
			modules->soname ?
				"the first module is the executable, which has no soname" :
				"the module has no soname (only the first one, the executable, has none)");
	return 0;
}

static int take_modules(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_module, into);
}

static int take_width(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint64_t number;
	int ret = dart_document__take_number(yaml, node, DART_APPLICATION_TEXT_MAX, &number);

	if (!ret)
		*(uint32_t *)into = number;
	return ret;
}

/* A location, and the width of its value. */
struct placed {
	struct dart_application_location location;
	uint32_t width;
	uint64_t equals;
};

static bool is_width_of_integer(uint32_t width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

static int take_check(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "at", take_location, offsetof(struct placed, location) },
		{ "module", take_module_index, offsetof(struct placed, location.module) },
		{ "width", take_width, offsetof(struct placed, width) },
		{ "equals", dart_document__take_u64, offsetof(struct placed, equals) },
		{}
	};
	struct dart_application_layout *layout = into;
	struct dart_application_check *checks;
	struct placed placed = {};
	const char *objection;
	int ret = dart_yaml__take_mapping(yaml, item, members, &placed);

	if (ret)
		return ret;
	if (!placed.location.address || !is_width_of_integer(placed.width))
		return dart_yaml__refuse(yaml, item, "the check has no '%s'",
					 placed.location.address ? "width: 1, 2, 4 or 8" : "at");
	objection = dart_application_location__objection(&placed.location, placed.width);
	if (objection)
		return dart_yaml__refuse(yaml, item, "the value %s", objection);
	if (placed.width < 8 && placed.equals >> (8 * placed.width))
		return dart_yaml__refuse(yaml, item, "'equals' does not fit into %u bytes",
					 placed.width);
	if (layout->check_count == DART_APPLICATION_CHECKS_MAX)
		return dart_yaml__refuse(yaml, item, "more than %d checks",
					 DART_APPLICATION_CHECKS_MAX);
	checks = dart_document__grow(layout->checks, layout->check_count, sizeof(*checks));
	if (!checks)
		return dart_error__no_memory(yaml->error);
	layout->checks = checks;
	checks[layout->check_count++] = (struct dart_application_check){
		.location = placed.location,
		.width = placed.width,
		.equals = placed.equals,
	};
	return 0;
}

static int take_checks(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_check, into);
}

static int take_bool(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);

	if (!text || (strcmp(text, "true") && strcmp(text, "false")))
		return dart_yaml__refuse(yaml, node, "expected true or false");
	*(bool *)into = *text == 't';
	return 0;
}

/* ---- entries */

/* An entry whose keys are being taken. */
struct draft {
	char *name;
	struct dart_entry_draft fields;
	uint64_t rows, stride;
};

static int take_count(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint64_t number;
	int ret = dart_document__take_number(yaml, node, DART_APPLICATION_FIELDS_MAX, &number);

	if (!ret)
		*(uint32_t *)into = number;
	return ret;
}

/* A field and its location, as one mapping has them. */
struct placed_field {
	struct dart_field field;
	struct dart_application_location location;
};

/* Why the keys of a field do not fit together, or NULL. */
static const char *field_objection(const struct placed_field *placed)
{
	const struct dart_field *field = &placed->field;
	const bool is_text = field->kind == DART_CONTROL_FIELD_TEXT;

	if (!field->name || !dart_name__is_valid(field->name))
		return "has no valid name";
	if (!placed->location.address)
		return "has no 'at'";
	if (is_text ? !field->width : !is_width_of_integer(field->width))
		return "has no width that its kind allows: 1, 2, 4 or 8, or the bytes of a text";
	if (is_text && (field->is_signed || field->count != 1))
		return "is a text, which has neither sign nor count";
	if (!field->count)
		return "has no elements";
	return dart_application_location__objection(&placed->location, is_text ? 1 : field->width);
}

static int take_field(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_document__take_text, offsetof(struct placed_field, field.name) },
		{ "at", take_location, offsetof(struct placed_field, location) },
		{ "module", take_module_index, offsetof(struct placed_field, location.module) },
		{ "width", take_width, offsetof(struct placed_field, field.width) },
		{ "count", take_count, offsetof(struct placed_field, field.count) },
		{ "signed", take_bool, offsetof(struct placed_field, field.is_signed) },
		{ "kind", dart_document__take_kind, offsetof(struct placed_field, field.kind) },
		{ "unit", dart_document__take_text, offsetof(struct placed_field, field.unit) },
		{}
	};
	struct placed_field placed = { .field = { .kind = DART_CONTROL_FIELD_GAUGE, .count = 1 } };
	struct draft *draft = into;
	const char *objection;
	int ret = dart_yaml__take_mapping(yaml, item, members, &placed);

	objection = ret ? NULL : field_objection(&placed);
	if (objection)
		ret = dart_yaml__refuse(yaml, item, "field '%s' %s", placed.field.name ?: "?",
					objection);
	if (!ret && draft->fields.field_count == DART_APPLICATION_FIELDS_MAX)
		ret = dart_yaml__refuse(yaml, item, "more than %d fields",
					DART_APPLICATION_FIELDS_MAX);
	if (!ret && !placed.field.unit)
		placed.field.unit = strdup("");
	if (!ret && (!placed.field.unit ||
		     dart_entry_draft__add(&draft->fields, &placed.field, &placed.location)))
		ret = dart_error__no_memory(yaml->error);
	if (ret) {
		free(placed.field.name);
		free(placed.field.unit);
	}
	return ret;
}

static int take_fields(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_field, into);
}

static int take_rows(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	int ret = dart_document__take_number(yaml, node, DART_APPLICATION_ROWS_MAX, into);

	return ret || *(uint64_t *)into ? ret : dart_yaml__refuse(yaml, node, "no rows");
}

static int take_stride(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_document__take_number(yaml, node, DART_APPLICATION_STRIDE_MAX, into);
}

/* Moves the locations of @draft into @entry. */
static int make_entry(struct dart_yaml *yaml, const yaml_node_t *item, struct draft *draft,
		      struct dart_application_entry *entry)
{
	const struct dart_field *field;
	struct dart_error why;
	uint32_t i;
	int ret;

	for (i = 0; i < draft->fields.field_count; i++) {
		field = &draft->fields.fields[i];
		if (draft->rows > 1 && draft->stride % dart_field__alignment(field))
			return dart_yaml__refuse(yaml, item,
						 "field '%s' is wider than 'stride' allows",
						 field->name);
	}
	ret = dart_entry_draft__finish(&draft->fields, draft->name, entry, &why);
	if (ret == -ENOMEM)
		return dart_error__no_memory(yaml->error);
	if (ret)
		return dart_yaml__refuse(yaml, item, "%s", why.text);
	entry->rows = draft->rows;
	entry->stride = draft->stride;
	return 0;
}

static int check_draft(struct dart_yaml *yaml, const yaml_node_t *item, const struct draft *draft,
		       const struct dart_application_layout *layout)
{
	uint32_t i;

	if (!draft->name || !dart_name__is_valid(draft->name))
		return dart_yaml__refuse(yaml, item, "the entry has no valid name");
	if (!draft->fields.field_count)
		return dart_yaml__refuse(yaml, item, "entry '%s' has no fields", draft->name);
	if ((draft->rows > 1) != !!draft->stride)
		return dart_yaml__refuse(yaml, item,
					 "entry '%s' has only one of 'rows' above 1 and 'stride'",
					 draft->name);
	for (i = 0; i < layout->entry_count; i++)
		if (!strcmp(layout->entries[i].schema->name, draft->name))
			return dart_yaml__refuse(yaml, item, "two entries are called '%s'",
						 draft->name);
	return 0;
}

static int take_entry(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_document__take_text, offsetof(struct draft, name) },
		{ "rows", take_rows, offsetof(struct draft, rows) },
		{ "stride", take_stride, offsetof(struct draft, stride) },
		{ "fields", take_fields, 0 },
		{}
	};
	struct dart_application_layout *layout = into;
	struct dart_application_entry *entries, entry = {};
	struct draft draft = { .rows = 1 };
	int ret = dart_yaml__take_mapping(yaml, item, members, &draft);

	if (!ret && layout->entry_count == DART_APPLICATION_ENTRIES_MAX)
		ret = dart_yaml__refuse(yaml, item, "more than %d entries",
					DART_APPLICATION_ENTRIES_MAX);
	if (!ret)
		ret = check_draft(yaml, item, &draft, layout);
	if (!ret)
		ret = make_entry(yaml, item, &draft, &entry);
	entries = ret ? NULL :
			dart_document__grow(layout->entries, layout->entry_count, sizeof(entry));
	if (entries) {
		layout->entries = entries;
		entries[layout->entry_count++] = entry;
	} else {
		ret = ret ?: dart_error__no_memory(yaml->error);
		dart_application_entry__clear(&entry);
	}
	dart_entry_draft__clear(&draft.fields);
	free(draft.name);
	return ret;
}

static int take_entries(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_entry, into);
}

/* ---- the document */

static bool locations_are_known(const struct dart_application_layout *layout)
{
	uint32_t i, j;

	for (i = 0; i < layout->check_count; i++)
		if (layout->checks[i].location.module >= layout->module_count)
			return false;
	for (i = 0; i < layout->entry_count; i++)
		for (j = 0; j < layout->entries[i].schema->field_count; j++)
			if (layout->entries[i].locations[j].module >= layout->module_count)
				return false;
	return true;
}

static int check_layout(struct dart_yaml *yaml, const yaml_node_t *root,
			const struct dart_application_layout *layout)
{
	uint32_t i;

	if (!layout->module_count || !layout->entry_count)
		return dart_yaml__refuse(yaml, root, "the layout has no '%s'",
					 layout->module_count ? "entries" : "modules");
	if (!locations_are_known(layout))
		return dart_yaml__refuse(yaml, root, "a value lies in a module that is not listed");
	for (i = 0; i < layout->module_count; i++)
		if (!layout->modules[i].build_id.length && !layout->check_count)
			return dart_yaml__refuse(
				yaml, root,
				"module %u has no build_id, and no checks prove that the layout fits a process",
				i);
	return 0;
}

int dart_application_layout__load(FILE *file, const char *path,
				  struct dart_application_layout **result, struct dart_error *error)
{
	static const struct dart_yaml_member members[] = {
		{ "description", dart_document__take_text,
		  offsetof(struct dart_application_layout, description) },
		{ "modules", take_modules, 0 },
		{ "checks", take_checks, 0 },
		{ "entries", take_entries, 0 },
		{}
	};
	struct dart_application_layout *layout = calloc(1, sizeof(*layout));
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret;

	if (!layout)
		return dart_error__no_memory(error);
	ret = dart_yaml__load(&yaml, file, path, NULL, &root, error);
	if (!ret) {
		ret = root ? dart_yaml__take_mapping(&yaml, root, members, layout) :
			     dart_error__set(error, EINVAL, "%s:1: the file is empty", path);
		if (!ret)
			ret = check_layout(&yaml, root, layout);
		dart_yaml__close(&yaml);
	}
	if (ret)
		dart_application_layout__free(layout);
	else
		*result = layout;
	return ret;
}

static bool are_equal_locations(const struct dart_application_location *one,
				const struct dart_application_location *other)
{
	uint32_t i;

	for (i = 0; i < DART_APPLICATION_STEPS_MAX; i++)
		if (one->offsets[i] != other->offsets[i])
			return false;
	return one->address == other->address && one->steps == other->steps &&
	       one->module == other->module;
}

static bool are_equal_entries(const struct dart_application_entry *one,
			      const struct dart_application_entry *other)
{
	const char *instance = one->instance ?: "", *other_instance = other->instance ?: "";
	size_t count, i;

	if (strcmp(instance, other_instance) || one->rows != other->rows ||
	    one->stride != other->stride || !dart_schema__equals(one->schema, other->schema))
		return false;
	count = (size_t)one->schema->field_count * (one->stride ? 1 : one->rows);
	for (i = 0; i < count; i++)
		if (!are_equal_locations(&one->locations[i], &other->locations[i]))
			return false;
	return true;
}

bool dart_application_layout__equals(const struct dart_application_layout *one,
				     const struct dart_application_layout *other)
{
	uint32_t i;

	if (one->entry_count != other->entry_count || one->check_count != other->check_count)
		return false;
	for (i = 0; i < one->check_count; i++)
		if (one->checks[i].equals != other->checks[i].equals ||
		    one->checks[i].width != other->checks[i].width ||
		    !are_equal_locations(&one->checks[i].location, &other->checks[i].location))
			return false;
	for (i = 0; i < one->entry_count; i++)
		if (!are_equal_entries(&one->entries[i], &other->entries[i]))
			return false;
	return true;
}

void dart_application_layout__free(struct dart_application_layout *layout)
{
	uint32_t i;

	if (!layout)
		return;
	for (i = 0; i < layout->module_count; i++)
		free(layout->modules[i].soname);
	for (i = 0; i < layout->entry_count; i++)
		dart_application_entry__clear(&layout->entries[i]);
	free(layout->modules);
	free(layout->checks);
	free(layout->entries);
	free(layout->description);
	free(layout);
}
