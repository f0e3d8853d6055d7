// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loads descriptions of applications from YAML files, see dart_application(5). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/application/description.h>
#include <libdart/application/layout.h>

#include "document_internal.h"

#define SYMBOLS_MAX 1024
#define ADDRESSES_MAX 256 /* of a symbol */

/* ---- symbols */

static int take_address(struct dart_yaml *yaml, const yaml_node_t *key, const char *name,
			const yaml_node_t *value, void *into)
{
	struct dart_description_address *addresses, address = {};
	struct dart_description_symbol *symbol = into;
	uint32_t i;
	int ret = dart_document__take_build_id(yaml, key, &address.build_id);

	if (!ret)
		ret = dart_document__take_number(yaml, value, DART_APPLICATION_ADDRESS_END - 1,
						 &address.address);
	if (ret)
		return ret;
	for (i = 0; i < symbol->address_count; i++)
		if (dart_application_build_id__equals(&symbol->addresses[i].build_id,
						      &address.build_id))
			return dart_yaml__refuse(yaml, key, "the build-id occurs twice");
	if (symbol->address_count == ADDRESSES_MAX)
		return dart_yaml__refuse(yaml, key, "more than %d build-ids", ADDRESSES_MAX);
	addresses =
		dart_document__grow(symbol->addresses, symbol->address_count, sizeof(*addresses));
	if (!addresses)
		return dart_error__no_memory(yaml->error);
	symbol->addresses = addresses;
	addresses[symbol->address_count++] = address;
	return 0;
}

static int take_addresses(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_pairs(yaml, node, take_address, into);
}

static int take_symbol(struct dart_yaml *yaml, const yaml_node_t *key, const char *name,
		       const yaml_node_t *value, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "type", dart_document__take_text,
		  offsetof(struct dart_description_symbol, type) },
		{ "module", dart_document__take_text,
		  offsetof(struct dart_description_symbol, soname) },
		{ "getter", dart_document__take_text,
		  offsetof(struct dart_description_symbol, getter) },
		{ "at", take_addresses, 0 },
		{}
	};
	struct dart_description *description = into;
	struct dart_description_symbol *symbols;
	uint32_t i;
	int ret;

	for (i = 0; i < description->symbol_count; i++)
		if (!strcmp(description->symbols[i].name, name))
			return dart_yaml__refuse(yaml, key, "two symbols are called '%s'", name);
	if (description->symbol_count == SYMBOLS_MAX)
		return dart_yaml__refuse(yaml, key, "more than %d symbols", SYMBOLS_MAX);
	symbols = dart_document__grow(description->symbols, description->symbol_count,
				      sizeof(*symbols));
	if (!symbols)
		return dart_error__no_memory(yaml->error);
	description->symbols = symbols;
	symbols += description->symbol_count++;
	*symbols = (struct dart_description_symbol){ .line = dart_yaml__line(key) };
	ret = dart_document__take_text(yaml, key, &symbols->name);
	if (!ret)
		ret = dart_yaml__take_mapping(yaml, value, members, symbols);
	if (!ret && !symbols->type)
		ret = dart_yaml__refuse(yaml, key, "symbol '%s' has no type", name);
	if (!ret && symbols->getter && symbols->address_count)
		ret = dart_yaml__refuse(yaml, key, "symbol '%s' has both 'getter' and 'at'", name);
	return ret;
}

static int take_symbols(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_pairs(yaml, node, take_symbol, into);
}

/* ---- checks */

static int take_check(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "value", dart_document__take_text,
		  offsetof(struct dart_description_check, value) },
		{ "equals", dart_document__take_u64,
		  offsetof(struct dart_description_check, equals) },
		{}
	};
	struct dart_description *description = into;
	struct dart_description_check *checks;
	int ret;

	if (description->check_count == DART_APPLICATION_CHECKS_MAX)
		return dart_yaml__refuse(yaml, item, "more than %d checks",
					 DART_APPLICATION_CHECKS_MAX);
	checks =
		dart_document__grow(description->checks, description->check_count, sizeof(*checks));
	if (!checks)
		return dart_error__no_memory(yaml->error);
	description->checks = checks;
	checks += description->check_count++;
	*checks = (struct dart_description_check){ .line = dart_yaml__line(item) };
	ret = dart_yaml__take_mapping(yaml, item, members, checks);
	return ret || checks->value ? ret : dart_yaml__refuse(yaml, item, "the check has no value");
}

static int take_checks(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_check, into);
}

/* ---- entries */

static int take_width(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint64_t number;
	int ret = dart_document__take_number(yaml, node, DART_APPLICATION_TEXT_MAX, &number);

	if (!ret)
		*(uint32_t *)into = number;
	return ret;
}

static int take_field(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_document__take_text, offsetof(struct dart_description_field, name) },
		{ "value", dart_document__take_text,
		  offsetof(struct dart_description_field, value) },
		{ "kind", dart_document__take_kind, offsetof(struct dart_description_field, kind) },
		{ "unit", dart_document__take_text, offsetof(struct dart_description_field, unit) },
		{ "width", take_width, offsetof(struct dart_description_field, width) },
		{}
	};
	struct dart_description_entry *entry = into;
	struct dart_description_field *fields;
	uint32_t i;
	int ret;

	if (entry->field_count == DART_APPLICATION_FIELDS_MAX)
		return dart_yaml__refuse(yaml, item, "more than %d fields",
					 DART_APPLICATION_FIELDS_MAX);
	fields = dart_document__grow(entry->fields, entry->field_count, sizeof(*fields));
	if (!fields)
		return dart_error__no_memory(yaml->error);
	entry->fields = fields;
	fields += entry->field_count++;
	*fields = (struct dart_description_field){
		.kind = DART_CONTROL_FIELD_GAUGE,
		.line = dart_yaml__line(item),
	};
	ret = dart_yaml__take_mapping(yaml, item, members, fields);
	if (ret)
		return ret;
	if (!fields->name || !fields->value)
		return dart_yaml__refuse(yaml, item, "the field has no '%s'",
					 fields->name ? "value" : "name");
	if (!dart_name__is_valid(fields->name))
		return dart_yaml__refuse(yaml, item, "'%s' is not a name (letters, digits and _-.)",
					 fields->name);
	if (fields->width && fields->kind != DART_CONTROL_FIELD_TEXT)
		return dart_yaml__refuse(yaml, item, "only a text has a width of its own");
	for (i = 0; i < entry->field_count - 1; i++)
		if (!strcmp(entry->fields[i].name, fields->name))
			return dart_yaml__refuse(yaml, item, "two fields are called '%s'",
						 fields->name);
	return 0;
}

static int take_fields(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_field, into);
}

static int take_row_count(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint64_t number;
	int ret = dart_document__take_number(yaml, node, DART_APPLICATION_ROWS_MAX, &number);

	if (!ret && number < 2)
		ret = dart_yaml__refuse(yaml, node, "an array has at least 2 rows");
	if (!ret)
		*(uint32_t *)into = number;
	return ret;
}

static int take_rows(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "symbol", dart_document__take_text,
		  offsetof(struct dart_description_entry, rows_symbol) },
		{ "count", take_row_count, offsetof(struct dart_description_entry, rows) },
		{}
	};
	struct dart_description_entry *entry = into;
	int ret = dart_yaml__take_mapping(yaml, node, members, entry);

	if (!ret && (!entry->rows_symbol || entry->rows < 2))
		ret = dart_yaml__refuse(yaml, node, "rows have a 'symbol' and a 'count'");
	return ret;
}

static int take_entry(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_document__take_text, offsetof(struct dart_description_entry, name) },
		{ "rows", take_rows, 0 },
		{ "fields", take_fields, 0 },
		{}
	};
	struct dart_description *description = into;
	struct dart_description_entry *entries;
	int ret;

	if (description->entry_count == DART_APPLICATION_ENTRIES_MAX)
		return dart_yaml__refuse(yaml, item, "more than %d entries",
					 DART_APPLICATION_ENTRIES_MAX);
	entries = dart_document__grow(description->entries, description->entry_count,
				      sizeof(*entries));
	if (!entries)
		return dart_error__no_memory(yaml->error);
	description->entries = entries;
	entries += description->entry_count++;
	*entries = (struct dart_description_entry){ .rows = 1, .line = dart_yaml__line(item) };
	ret = dart_yaml__take_mapping(yaml, item, members, entries);
	if (!ret && (!entries->name || !dart_name__is_valid(entries->name)))
		ret = dart_yaml__refuse(yaml, item, "the entry has no valid name");
	if (!ret && !entries->field_count)
		ret = dart_yaml__refuse(yaml, item, "entry '%s' has no fields", entries->name);
	return ret;
}

static int take_entries(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_entry, into);
}

/* ---- the document */

int dart_description__load(FILE *file, const char *path, struct dart_description **result,
			   struct dart_error *error)
{
	static const struct dart_yaml_member members[] = {
		{ "description", dart_document__take_text,
		  offsetof(struct dart_description, description) },
		{ "symbols", take_symbols, 0 },
		{ "checks", take_checks, 0 },
		{ "entries", take_entries, 0 },
		{}
	};
	struct dart_description *description = calloc(1, sizeof(*description));
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret;

	if (!description)
		return dart_error__no_memory(error);
	ret = dart_yaml__load(&yaml, file, path, NULL, &root, error);
	if (!ret) {
		ret = root ? dart_yaml__take_mapping(&yaml, root, members, description) :
			     dart_error__set(error, EINVAL, "%s:1: the file is empty", path);
		if (!ret && (!description->symbol_count || !description->entry_count))
			ret = dart_yaml__refuse(&yaml, root, "the description has no '%s'",
						description->symbol_count ? "entries" : "symbols");
		dart_yaml__close(&yaml);
	}
	if (ret)
		dart_description__free(description);
	else
		*result = description;
	return ret;
}

static void free_symbols(struct dart_description *description)
{
	struct dart_description_symbol *symbol;
	uint32_t i;

	for (i = 0; i < description->symbol_count; i++) {
		symbol = &description->symbols[i];
		free(symbol->name);
		free(symbol->type);
		free(symbol->soname);
		free(symbol->getter);
		free(symbol->addresses);
	}
	free(description->symbols);
}

static void free_entries(struct dart_description *description)
{
	struct dart_description_entry *entry;
	uint32_t i, j;

	for (i = 0; i < description->entry_count; i++) {
		entry = &description->entries[i];
		for (j = 0; j < entry->field_count; j++) {
			free(entry->fields[j].name);
			free(entry->fields[j].value);
			free(entry->fields[j].unit);
		}
		free(entry->fields);
		free(entry->rows_symbol);
		free(entry->name);
	}
	free(description->entries);
}

void dart_description__free(struct dart_description *description)
{
	uint32_t i;

	if (!description)
		return;
	free_symbols(description);
	free_entries(description);
	for (i = 0; i < description->check_count; i++)
		free(description->checks[i].value);
	free(description->checks);
	free(description->description);
	free(description);
}
