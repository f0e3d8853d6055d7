// SPDX-License-Identifier: GPL-2.0-only
/* Gives access to the copies, rows and fields of an entry. */
#include "plan_entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

/*
 * Copies @text, escaped as the value of a label, to the arena of the plan; NULL if memory ran out.
 */
static const char *make_label(struct plan_builder *builder, const char *text)
{
	char *escaped = dart_escape__new(text, DART_ESCAPE_NAME);
	const char *label = escaped ? plan_builder__keep(builder, escaped) : NULL;

	free(escaped);
	return label;
}

int plan_entry__open(struct plan_entry *entry, struct plan_builder *builder, uint32_t index)
{
	const struct sample_entry *of = &builder->sample->entries[index];
	const size_t rows = (size_t)of->entry->copies + 1;
	size_t i;

	*entry = (struct plan_entry){ .index = index, .entry = of };
	entry_parts__split(of->entry->name, &entry->parts);
	entry->number = row__number(of->entry);
	entry->watch = plan_builder__watch(builder, index);
	entry->rows = malloc(rows * sizeof(*entry->rows));
	entry->named = calloc((size_t)of->entry->schema->field_count + 1, sizeof(*entry->named));
	entry->selector = make_label(builder, entry->parts.selector);
	entry->netns = make_label(builder, entry->parts.netns);
	if (!entry->rows || !entry->named || !entry->selector || !entry->netns)
		return -ENOMEM;
	for (i = 0; i < rows; i++)
		entry->rows[i] = PLAN_NONE;
	return 0;
}

void plan_entry__close(struct plan_entry *entry)
{
	free(entry->rows);
	free(entry->named);
}

bool plan_entry__has_copy(const struct plan_entry *entry, const struct plan_builder *builder,
			  uint32_t copy)
{
	const struct dart_table *table = builder->sample->table;

	if (plan_entry__is_by_cpu(entry))
		return !table->online || (copy < table->cpus && dart_table__is_online(table, copy));
	return !entry->watch || entry->watch->present[copy];
}

bool plan_entry__has_any(const struct plan_entry *entry, const struct plan_builder *builder)
{
	uint32_t i;

	for (i = 0; i < plan_entry__copies(entry); i++)
		if (plan_entry__has_copy(entry, builder, i))
			return true;
	return false;
}

void plan_entry__number(const struct plan_entry *entry, uint32_t copy,
			char value[static LABEL_VALUE_MAX])
{
	if (entry->number)
		label_value__of_field(entry->number, plan_entry__copy(entry, copy), value);
	else
		snprintf(value, LABEL_VALUE_MAX, "%" PRIu32, copy);
}

uint32_t plan_entry__row(struct plan_entry *entry, struct plan_builder *builder, uint32_t copy)
{
	const uint32_t copies = plan_entry__copies(entry);
	uint32_t *row = &entry->rows[copy == PLAN_NONE ? copies : copy];

	if (*row == PLAN_NONE)
		*row = plan_builder__row(builder, entry->index, copy);
	return *row;
}

struct plan_term plan_entry__term(const struct plan_entry *entry, struct plan_builder *builder,
				  uint32_t field, uint32_t element)
{
	const char *name = plan_entry__schema(entry)->fields[field].name;
	struct plan_term term = {
		.kind = PLAN_TERM_FIELD,
		.field = field,
		.element = element,
	};

	if (!plan_entry__is_by_cpu(entry) || entry->parts.interval_ms ||
	    strcmp(entry->parts.source, "cpustat"))
		return term;
	if (!strcmp(name, "idle"))
		term.kind = PLAN_TERM_IDLE;
	else if (!strcmp(name, "iowait"))
		term.kind = PLAN_TERM_IOWAIT;
	if (term.kind != PLAN_TERM_FIELD)
		builder->plan->cpustat = entry->index;
	return term;
}

/*
 * Prints the first @width bytes of a text, up to its first NUL, escaped with DART_ESCAPE_NAME: the
 * bytes may be hostile. Cuts a longer text between characters.
 */
static void label_value__of_text(const void *text, size_t width, char value[static LABEL_VALUE_MAX])
{
	dart_escape__text(text, width, DART_ESCAPE_NAME, value, LABEL_VALUE_MAX);
}

void label_value__of_node(const struct dart_table *table, char value[static LABEL_VALUE_MAX])
{
	dart_escape__text(table->node_name, sizeof(table->node_name), DART_ESCAPE_SENTENCE, value,
			  LABEL_VALUE_MAX);
}

void label_value__of_field(const struct dart_field *field, const void *copy,
			   char value[static LABEL_VALUE_MAX])
{
	uint64_t number;

	if (field->kind == DART_CONTROL_FIELD_TEXT) {
		label_value__of_text((const char *)copy + field->offset, field->width, value);
	} else if (field->kind == DART_CONTROL_FIELD_ADDRESS) {
		dart_field__address(field, copy, value);
	} else {
		number = dart_field__get(field, copy, 0);
		if (field->is_signed)
			snprintf(value, LABEL_VALUE_MAX, "%" PRId64, (int64_t)number);
		else
			snprintf(value, LABEL_VALUE_MAX, "%" PRIu64, number);
	}
}
