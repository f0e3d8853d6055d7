// SPDX-License-Identifier: GPL-2.0-only
/* Applies names to an entry. */
#include "plan_named.h"

#include <stdio.h>
#include <string.h>

#define TERMS_MAX 16

/* Returns the index of a field, or PLAN_NONE. */
static uint32_t find_field(const struct dart_schema *schema, const char *name)
{
	const struct dart_field *field = dart_schema__find(schema, name);

	return field ? field - schema->fields : PLAN_NONE;
}

static void mark_field(struct plan_entry *entry, const char *name)
{
	const uint32_t field = find_field(plan_entry__schema(entry), name);

	if (field != PLAN_NONE)
		entry->named[field] = true;
}

/* Names apply to the host's own namespace only, unless a label tells the namespace. */
static bool is_meant(const struct name_series *series, const struct plan_entry *entry)
{
	uint32_t i;

	if (!*entry->parts.netns)
		return true;
	for (i = 0; i < series->label_count; i++)
		if (series->labels[i].kind == NAME_LABEL_NETNS)
			return true;
	return false;
}

static void mark_series(struct plan_entry *entry, const struct name_series *series)
{
	const struct name_value *value = series->values;
	uint32_t i;

	if (series->per)
		mark_field(entry, series->per);
	for (i = 0; i < series->label_count; i++)
		if (series->labels[i].kind == NAME_LABEL_FIELD)
			mark_field(entry, series->labels[i].text);
	for (; value < series->values + series->value_count; value++)
		for (i = 0; i < value->term_count; i++)
			if (value->terms[i].field)
				mark_field(entry, value->terms[i].field);
}

void plan_named__mark(struct plan_entry *entry, const struct names *names)
{
	uint32_t at = names__of_source(names, entry->parts.source);

	for (; at != NAMES_END; at = names->series[at].next)
		if (is_meant(&names->series[at], entry))
			mark_series(entry, &names->series[at]);
}

/* Labels of one row, with their texts. */
struct row_labels {
	struct label_list list;
	char values[NAMES_LABELS_MAX][LABEL_VALUE_MAX];
	uint32_t used;
};

static void print_id(const uint8_t id[16], char value[static LABEL_VALUE_MAX])
{
	int i;

	for (i = 0; i < 16; i++)
		sprintf(value + 2 * i, "%02x", id[i]);
}

/* Prints a field of the copy; false if the entry lacks this field. */
static bool print_field(const struct plan_entry *entry, const char *name, uint32_t copy,
			char value[static LABEL_VALUE_MAX])
{
	const struct dart_field *field = dart_schema__find(plan_entry__schema(entry), name);

	if (!field || copy == PLAN_NONE)
		return false;
	label_value__of_field(field, plan_entry__copy(entry, copy), value);
	return true;
}

/* The selector of an application that has instances is APPLICATION[INSTANCE]. */
static void print_part(const char *selector, bool is_instance, char value[static LABEL_VALUE_MAX])
{
	const size_t length = strlen(selector), before = strcspn(selector, "[");
	const bool has_instance = before < length && selector[length - 1] == ']';
	size_t begin = 0, end = has_instance ? before : length;

	if (is_instance) {
		begin = has_instance ? before + 1 : length;
		end = has_instance ? length - 1 : length;
	}
	snprintf(value, LABEL_VALUE_MAX, "%.*s", (int)(end - begin), selector + begin);
}

static bool row_labels__add(struct row_labels *labels, const struct plan_entry *entry,
			    const struct dart_table *table, const struct name_label *label,
			    uint32_t copy)
{
	char *text = labels->values[labels->used++];
	const char *value = text;

	switch (label->kind) {
	case NAME_LABEL_CONSTANT:
		label_list__add(&labels->list, label->name, label->text);
		return true;
	case NAME_LABEL_SELECTOR:
		value = entry->selector;
		break;
	case NAME_LABEL_APPLICATION:
	case NAME_LABEL_INSTANCE:
		print_part(entry->selector, label->kind == NAME_LABEL_INSTANCE, text);
		break;
	case NAME_LABEL_NETNS:
		value = entry->netns;
		break;
	case NAME_LABEL_NODE_NAME:
		label_value__of_node(table, text);
		break;
	case NAME_LABEL_BOOT_ID:
		print_id(table->boot_id, text);
		break;
	case NAME_LABEL_HOST_ID:
		print_id(table->host_id, text);
		break;
	case NAME_LABEL_FIELD:
		if (!print_field(entry, label->text, copy, text))
			return false;
	}
	label_list__add(&labels->list, label->name, value);
	return true;
}

/* Makes the labels of the series; false if a field is missing. */
static bool row_labels__init(struct row_labels *labels, const struct plan_entry *entry,
			     const struct dart_table *table, const struct name_series *series,
			     uint32_t copy)
{
	char *number;
	uint32_t i;

	labels->list.count = 0;
	labels->used = 0;
	for (i = 0; i < series->label_count; i++)
		if (!row_labels__add(labels, entry, table, &series->labels[i], copy))
			return false;
	if (!series->rows || copy == PLAN_NONE)
		return true;
	/* The host has added up all CPUs: a sum carries no number. */
	if (entry->entry->entry->copies_are == DART_CONTROL_COPIES_SUM)
		return true;
	number = labels->values[labels->used++];
	plan_entry__number(entry, copy, number);
	label_list__add(&labels->list, series->rows, number);
	return true;
}

static bool is_number(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_COUNTER ||
	       field->kind == DART_CONTROL_FIELD_GAUGE ||
	       field->kind == DART_CONTROL_FIELD_HISTOGRAM ||
	       field->kind == DART_CONTROL_FIELD_TIME;
}

/*
 * Makes the terms of a value; false if a field is missing or is not a number: then the value is
 * left out.
 */
static bool make_terms(const struct plan_entry *entry, struct plan_builder *builder,
		       const struct name_value *value, struct plan_term terms[static TERMS_MAX])
{
	const struct dart_schema *schema = plan_entry__schema(entry);
	uint32_t i, field;

	if (value->term_count > TERMS_MAX)
		return false;
	for (i = 0; i < value->term_count; i++) {
		const struct name_term *term = &value->terms[i];

		if (term->field) {
			field = find_field(schema, term->field);
			if (field == PLAN_NONE || !is_number(&schema->fields[field]))
				return false;
			terms[i] = plan_entry__term(entry, builder, field, 0);
		} else {
			terms[i] = (struct plan_term){
				.kind = PLAN_TERM_CONSTANT,
				.field = term->constant,
			};
		}
		terms[i].is_minus = term->is_minus;
	}
	return true;
}

static bool has_signed(const struct dart_schema *schema, const struct plan_term *terms,
		       uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (terms[i].kind == PLAN_TERM_FIELD && schema->fields[terms[i].field].is_signed)
			return true;
	return false;
}

/* Finds a field that the series may name; false if the entry lacks it. */
static bool find_optional(const struct plan_entry *entry, const char *name, uint32_t *field)
{
	if (!name)
		return true;
	*field = find_field(plan_entry__schema(entry), name);
	return *field != PLAN_NONE;
}

/* Adds a value of one row, or of the sum of all rows. */
static void add_value(struct plan_entry *entry, struct plan_builder *builder,
		      const struct names *names, const struct name_series *series,
		      const struct name_value *named, const struct row_labels *labels,
		      uint32_t copy)
{
	const struct name_family *family = &names->families[named->family];
	const struct built_family built = {
		.name = family->name,
		.help = family->help,
		.unit = family->unit,
		.type = family->type,
	};
	const struct dart_field *field = NULL;
	struct plan_term terms[TERMS_MAX];
	struct built_value value = {
		.terms = terms,
		.named = series,
		.term_count = named->term_count,
		.when = PLAN_NONE,
		.per = PLAN_NONE,
		.priority = PLAN_PRIORITY_NAMED + (series - names->series),
		.scale = series->scale,
	};
	struct label_list list;
	uint32_t i;

	if (!make_terms(entry, builder, named, terms))
		return;
	if (!find_optional(entry, series->when, &value.when) ||
	    !find_optional(entry, series->per, &value.per))
		return;
	/* Adding up rows would add up their divisors, too. */
	if (series->per && copy == PLAN_NONE)
		return;
	value.is_unsigned =
		series->sign == NAME_SIGN_OF_FIELDS ?
			!has_signed(plan_entry__schema(entry), terms, value.term_count) :
			series->sign == NAME_SIGN_UNSIGNED;
	if (terms[0].kind == PLAN_TERM_FIELD)
		field = &plan_entry__schema(entry)->fields[terms[0].field];
	if (family->type == METRIC_HISTOGRAM &&
	    (!field || field->kind != DART_CONTROL_FIELD_HISTOGRAM))
		return;
	label_list__copy(&list, &labels->list);
	for (i = 0; i < named->label_count; i++)
		label_list__add(&list, named->labels[i].name, named->labels[i].text);
	value.row = plan_entry__row(entry, builder, copy);
	if (family->type == METRIC_HISTOGRAM)
		plan_builder__add_histogram(builder, plan_builder__family(builder, &built), &list,
					    &value, field);
	else
		plan_builder__add(builder, plan_builder__family(builder, &built), &list, &value);
}

static void add_row(struct plan_entry *entry, struct plan_builder *builder,
		    const struct names *names, const struct name_series *series, uint32_t copy)
{
	const struct name_value *value = series->values;
	struct row_labels labels;

	if (!row_labels__init(&labels, entry, builder->sample->table, series, copy))
		return;
	for (; value < series->values + series->value_count; value++)
		add_value(entry, builder, names, series, value, &labels, copy);
}

static bool is_by_row(const struct name_series *series)
{
	uint32_t i;

	for (i = 0; i < series->label_count; i++)
		if (series->labels[i].kind == NAME_LABEL_FIELD)
			return true;
	return series->rows;
}

static void add_series(struct plan_entry *entry, struct plan_builder *builder,
		       const struct names *names, const struct name_series *series)
{
	const uint32_t copies = plan_entry__copies(entry);
	uint32_t copy;

	if (!is_by_row(series) && copies > 1) {
		if (plan_entry__has_any(entry, builder))
			add_row(entry, builder, names, series, PLAN_NONE);
		return;
	}
	for (copy = 0; copy < copies; copy++)
		if (plan_entry__has_copy(entry, builder, copy))
			add_row(entry, builder, names, series, copy);
}

void plan_named__add(struct plan_entry *entry, struct plan_builder *builder,
		     const struct names *names)
{
	uint32_t at = names__of_source(names, entry->parts.source);

	for (; at != NAMES_END; at = names->series[at].next)
		if (is_meant(&names->series[at], entry))
			add_series(entry, builder, names, &names->series[at]);
}
