// SPDX-License-Identifier: GPL-2.0-only
/* Derives the names of families from the fields themselves. */
#include "plan_generic.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/controller/metrics/names/base_unit.h"

#define TOTAL "_total"
/* Families of the controller itself, for which alerts wait: no agent may add to them. */
#define OWN "dart_controller_"
#define NOT_OWN "dart_agent_controller_"

/* A name while it is composed: words with one '_' between them. */
struct name_text {
	char text[PLAN_NAME_MAX];
	size_t length;
};

static void name_text__add(struct name_text *name, const char *word)
{
	/* name_text__end() may make it longer. */
	const size_t most =
		sizeof(name->text) - sizeof(TOTAL) - (strlen(NOT_OWN) - strlen(OWN));
	char to;

	if (name->length && name->length < most && *word)
		name->text[name->length++] = '_';
	for (; *word && name->length < most; word++) {
		to = isalnum((unsigned char)*word) ? *word : '_';
		if (to != '_' || name->text[name->length - 1] != '_')
			name->text[name->length++] = to;
	}
	while (name->length > 1 && name->text[name->length - 1] == '_')
		name->length--;
	name->text[name->length] = '\0';
}

static bool name_text__ends(const struct name_text *name, const char *word)
{
	const size_t length = strlen(word);

	return name->length > length && name->text[name->length - length - 1] == '_' &&
	       !strcmp(name->text + name->length - length, word);
}

/* Removes @word and the '_' before it from the end of the name. */
static bool name_text__strip(struct name_text *name, const char *word)
{
	if (!*word || !name_text__ends(name, word))
		return false;
	name->length -= strlen(word) + 1;
	name->text[name->length] = '\0';
	return true;
}

/* The name is whole. */
static void name_text__end(struct name_text *name)
{
	const size_t length = strlen(OWN);

	if (strncmp(name->text, OWN, length))
		return;
	memmove(name->text + strlen(NOT_OWN), name->text + length, name->length - length + 1);
	memcpy(name->text, NOT_OWN, strlen(NOT_OWN));
	name->length += strlen(NOT_OWN) - length;
}

static enum metric_type type_of(const struct dart_field *field)
{
	switch (field->kind) {
	case DART_CONTROL_FIELD_COUNTER:
		return METRIC_COUNTER;
	case DART_CONTROL_FIELD_HISTOGRAM:
		return METRIC_HISTOGRAM;
	default:
		return METRIC_GAUGE;
	}
}

/*
 * "controllers_total" in "peers" becomes ..._controllers_total: next to the gauge
 * ..._controllers_peers, OpenMetrics would take ..._controllers_peers_total for the same family.
 */
static void name_field(struct name_text *name, const char *source, const struct dart_field *field,
		       const struct base_unit *unit)
{
	bool is_total;

	name->length = 0;
	name_text__add(name, "dart");
	name_text__add(name, source);
	name_text__add(name, field->name);
	is_total = name_text__strip(name, "total");
	if (!unit->is_count)
		name_text__strip(name, field->unit);
	if (!(is_total && unit->is_count) && !name_text__ends(name, unit->name))
		name_text__add(name, unit->name);
	if (field->kind == DART_CONTROL_FIELD_COUNTER)
		name_text__add(name, "total");
	name_text__end(name);
}

/* Finds or adds the family in the plan; PLAN_NONE if neither is possible. */
static uint32_t find_family(struct plan_builder *builder, const char *name, const char *help,
			    const char *unit, enum metric_type type)
{
	struct built_family family = {
		.name = name,
		.help = "",
		.unit = "",
		.type = type,
	};

	/* Copy the texts only for a new family. */
	if (text_index__find(&builder->by_name, name) == TEXT_INDEX_NONE) {
		family.name = plan_builder__keep(builder, name);
		family.help = plan_builder__keep(builder, help);
		family.unit = plan_builder__keep(builder, unit);
	}
	if (!family.name || !family.help || !family.unit)
		return PLAN_NONE;
	return plan_builder__family(builder, &family);
}

static uint32_t find_field_family(struct plan_builder *builder, const char *source,
				  const struct dart_field *field, const struct base_unit *unit)
{
	char help[PLAN_NAME_MAX + 100];
	struct name_text name;

	name_field(&name, source, field, unit);
	snprintf(help, sizeof(help), "Field %s of %.255s%s%s.", field->name, source,
		 *field->unit ? ", there in " : "", field->unit);
	return find_family(builder, name.text, help,
			   strstr(name.text, unit->name) ? unit->name : "", type_of(field));
}

/* The copies of a direct source belong to CPUs, whose values add up. */
static bool is_added_up(const struct plan_entry *entry)
{
	return plan_entry__is_by_cpu(entry) && plan_entry__copies(entry) > 1;
}

static void add_field(struct plan_entry *entry, struct plan_builder *builder, uint32_t index,
		      const struct label_list *labels, uint32_t copy)
{
	const struct dart_field *field = &plan_entry__schema(entry)->fields[index];
	struct plan_term term = plan_entry__term(entry, builder, index, 0);
	struct built_value value = {
		.terms = &term,
		.term_count = 1,
		.when = PLAN_NONE,
		.per = PLAN_NONE,
		.priority = PLAN_PRIORITY_GENERIC,
	};
	struct label_list list;
	struct base_unit unit;
	char number[16];
	uint32_t family;

	base_unit__of(field->unit, &unit);
	value.scale = unit.scale;
	value.row = plan_entry__row(entry, builder, copy);
	family = find_field_family(builder, entry->parts.source, field, &unit);
	if (field->kind == DART_CONTROL_FIELD_HISTOGRAM) {
		plan_builder__add_histogram(builder, family, labels, &value, field);
		return;
	}
	for (; term.element < field->count; term.element++) {
		label_list__copy(&list, labels);
		if (field->count > 1) {
			snprintf(number, sizeof(number), "%" PRIu32, term.element);
			label_list__add(&list, "index", number);
		}
		plan_builder__add(builder, family, &list, &value);
	}
}

static bool is_text(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_TEXT || field->kind == DART_CONTROL_FIELD_ADDRESS;
}

static bool is_number(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_COUNTER ||
	       field->kind == DART_CONTROL_FIELD_GAUGE ||
	       field->kind == DART_CONTROL_FIELD_HISTOGRAM;
}

/* Adds the texts of a row as labels of a series whose value is 1. */
static void add_info(struct plan_entry *entry, struct plan_builder *builder,
		     const struct label_list *labels, uint32_t copy)
{
	const struct dart_schema *schema = plan_entry__schema(entry);
	static const struct plan_term one = {
		.kind = PLAN_TERM_CONSTANT,
		.field = 1,
	};
	struct built_value value = {
		.terms = &one,
		.term_count = 1,
		.when = PLAN_NONE,
		.per = PLAN_NONE,
		.priority = PLAN_PRIORITY_GENERIC,
		.scale = 1,
	};
	char values[LABEL_LIST_MAX][LABEL_VALUE_MAX];
	struct name_text names[LABEL_LIST_MAX], name = {};
	struct label_list list;
	uint32_t i, count = 0;

	label_list__copy(&list, labels);
	for (i = 0; i < schema->field_count && count < LABEL_LIST_MAX; i++) {
		const struct dart_field *field = &schema->fields[i];

		if (!is_text(field) || entry->named[i])
			continue;
		names[count].length = 0;
		if (isdigit((unsigned char)*field->name) || !isalnum((unsigned char)*field->name))
			name_text__add(&names[count], "field");
		name_text__add(&names[count], field->name);
		label_value__of_field(field, plan_entry__copy(entry, copy), values[count]);
		label_list__add(&list, names[count].text, values[count]);
		count++;
	}
	if (!count)
		return;
	name_text__add(&name, "dart");
	name_text__add(&name, entry->parts.source);
	name_text__add(&name, "info");
	name_text__end(&name);
	value.row = plan_entry__row(entry, builder, copy);
	plan_builder__add(builder,
			  find_family(builder, name.text, "Texts of a row, as labels.", "",
				      METRIC_GAUGE),
			  &list, &value);
}

/* Adds all fields of a row, or the sums over all copies. */
static void add_row(struct plan_entry *entry, struct plan_builder *builder, uint32_t copy)
{
	const struct dart_schema *schema = plan_entry__schema(entry);
	const struct entry_parts *parts = &entry->parts;
	char number[LABEL_VALUE_MAX];
	struct label_list list;
	uint32_t i;

	list.count = 0;
	label_list__add(&list, "selector", entry->selector);
	label_list__add(&list, "netns", entry->netns);
	if (entry->has_twin)
		label_list__add(&list, "interval", parts->interval);
	if (entry->entry->entry->copies_are == DART_CONTROL_COPIES_ROW &&
	    (plan_entry__copies(entry) > 1 || entry->number)) {
		plan_entry__number(entry, copy, number);
		label_list__add(&list, entry->number ? entry->number->name : "row", number);
	}
	for (i = 0; i < schema->field_count; i++)
		if (is_number(&schema->fields[i]) && !entry->named[i] &&
		    &schema->fields[i] != entry->number)
			add_field(entry, builder, i, &list, copy);
	if (copy != PLAN_NONE)
		add_info(entry, builder, &list, copy);
}

void plan_generic__add(struct plan_entry *entry, struct plan_builder *builder)
{
	uint32_t copy;

	if (is_added_up(entry)) {
		add_row(entry, builder, PLAN_NONE);
		return;
	}
	for (copy = 0; copy < plan_entry__copies(entry); copy++)
		if (plan_entry__has_copy(entry, builder, copy))
			add_row(entry, builder, copy);
}
