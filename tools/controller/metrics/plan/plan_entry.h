/* SPDX-License-Identifier: GPL-2.0-only */
/* An entry of a sample while series are made of it. */
#ifndef CONTROLLER_PLAN_ENTRY_H
#define CONTROLLER_PLAN_ENTRY_H

#include "entry_parts.h"
#include "plan_builder.h"

#define LABEL_VALUE_MAX 512 /* bytes, with the NUL */

struct plan_entry {
	uint32_t index;
	const struct sample_entry *entry;
	struct entry_parts parts;
	/* The members of @parts as label values. */
	const char *selector;
	const char *netns;
	bool has_twin; /* another entry is of the same object */
	const struct row_watch *watch;
	const struct dart_field *number; /* see row__number() */
	uint32_t *rows; /* of the plan, by copy; the last of all added up */
	bool *named; /* by field: a family has its name */
};

/* Returns 0 or -ENOMEM; plan_entry__close() in both cases. */
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

/* A row that is not empty, or the copy of a CPU that is online. */
bool plan_entry__has_copy(const struct plan_entry *entry, const struct plan_builder *builder,
			  uint32_t copy);
/* Has it any? */
bool plan_entry__has_any(const struct plan_entry *entry, const struct plan_builder *builder);
/* Its number as the value of a label: of a CPU, as the row says, or of the copy. */
void plan_entry__number(const struct plan_entry *entry, uint32_t copy,
			char value[static LABEL_VALUE_MAX]);
/* In the plan; @copy may be PLAN_NONE, for all. */
uint32_t plan_entry__row(struct plan_entry *entry, struct plan_builder *builder, uint32_t copy);
/* Element @element of the field with this index. */
struct plan_term plan_entry__term(const struct plan_entry *entry, struct plan_builder *builder,
				  uint32_t field, uint32_t element);

/* ---- values of labels, as UTF-8 without control characters: see escape.h of libdart */

/* The name of a host, which its agent has escaped already. */
void label_value__of_node(const struct dart_table *table, char value[static LABEL_VALUE_MAX]);
/* A text, an address or the first number of @field. */
void label_value__of_field(const struct dart_field *field, const void *copy,
			   char value[static LABEL_VALUE_MAX]);

#endif /* CONTROLLER_PLAN_ENTRY_H */
