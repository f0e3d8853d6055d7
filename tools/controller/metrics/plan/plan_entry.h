/* SPDX-License-Identifier: GPL-2.0-only */
/* An entry of a sample while series are made from it. */
#ifndef CONTROLLER_PLAN_ENTRY_H
#define CONTROLLER_PLAN_ENTRY_H

#include "entry_parts.h"
#include "plan_builder.h"

#define LABEL_VALUE_MAX 512 /* bytes, with the NUL */

struct plan_entry {
	uint32_t index;
	const struct sample_entry *entry;
	struct entry_parts parts;
	/* Two members of @parts, escaped as label values. */
	const char *selector;
	const char *netns;
	bool has_twin; /* another entry shows the same object */
	const struct row_watch *watch;
	const struct dart_field *number; /* see row__number() */
	uint32_t *rows; /* rows of the plan, by copy; the last is the sum of all copies */
	bool *named; /* by field: a family names this field */
};

/* Returns 0 or -ENOMEM; call plan_entry__close() in both cases. */
int plan_entry__open(struct plan_entry *entry, struct plan_builder *builder, uint32_t index);
void plan_entry__close(struct plan_entry *entry);

static inline const struct dart_schema *plan_entry__schema(const struct plan_entry *entry)
{
	return entry->entry->entry->schema;
}

static inline uint32_t plan_entry__copies(const struct plan_entry *entry)
{
	return entry->entry->entry->copies;
}

static inline const void *plan_entry__copy(const struct plan_entry *entry, uint32_t copy)
{
	return (const char *)entry->entry->copies +
	       (size_t)copy * plan_entry__schema(entry)->length;
}

static inline bool plan_entry__is_by_cpu(const struct plan_entry *entry)
{
	return entry->entry->entry->copies_are == DART_CONTROL_COPIES_CPU;
}

/* True if row @copy is not empty, or CPU @copy is online. */
bool plan_entry__has_copy(const struct plan_entry *entry, const struct plan_builder *builder,
			  uint32_t copy);
/* True if any copy passes plan_entry__has_copy(). */
bool plan_entry__has_any(const struct plan_entry *entry, const struct plan_builder *builder);
/*
 * Prints the label value that numbers the copy: the CPU, the number inside the row, or the copy's
 * index.
 */
void plan_entry__number(const struct plan_entry *entry, uint32_t copy,
			char value[static LABEL_VALUE_MAX]);
/* Returns the entry's row in the plan; @copy may be PLAN_NONE, for the sum of all copies. */
uint32_t plan_entry__row(struct plan_entry *entry, struct plan_builder *builder, uint32_t copy);
/* Returns the term for element @element of the field with index @field. */
struct plan_term plan_entry__term(const struct plan_entry *entry, struct plan_builder *builder,
				  uint32_t field, uint32_t element);

/* ---- values of labels: UTF-8 without control characters, see escape.h of libdart */

/* Prints the name of a host, which its agent has already escaped. */
void label_value__of_node(const struct dart_table *table, char value[static LABEL_VALUE_MAX]);
/* Prints a text, an address or the first number of @field. */
void label_value__of_field(const struct dart_field *field, const void *copy,
			   char value[static LABEL_VALUE_MAX]);

#endif /* CONTROLLER_PLAN_ENTRY_H */
