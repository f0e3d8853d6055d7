/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan while it is made: the caller adds families and series in any order, and
 * plan_builder__finish() sorts them. The builder remembers a failed allocation until then:
 * functions that return a number return PLAN_NONE after it, and all functions accept PLAN_NONE.
 */
#ifndef CONTROLLER_PLAN_BUILDER_H
#define CONTROLLER_PLAN_BUILDER_H

#include "plan.h"
#include "tools/controller/metrics/labels/label_sets.h"

/* Largest number of series of one target: the builder counts further series as dropped. */
#define PLAN_SERIES_MAX (1U << 20)

/* Bytes of a name that is composed of others. */
#define PLAN_NAME_MAX 600

struct built_family {
	const char *name;
	const char *help;
	const char *unit;
	enum metric_type type;
};

struct built_series {
	uint32_t family;
	uint32_t set; /* number of the set of labels */
	uint32_t base; /* for a bucket, the set without "le" */
	uint32_t bucket; /* number of the bucket, from the least */
	uint32_t priority; /* of equal series the lowest stays, see below */
	uint32_t *place; /* without a rule: receives the number of the series in the plan */
	uint32_t rule; /* or PLAN_NONE */
};

struct plan_builder {
	const struct sample *sample;
	struct plan *plan;
	struct built_family *families;
	struct built_series *series;
	struct text_index by_name;
	struct label_sets sets;
	uint32_t family_count;
	uint32_t family_room;
	uint32_t series_count;
	uint32_t series_room;
	uint32_t rule_room;
	uint32_t term_room;
	uint32_t row_room;
	uint32_t bucket_room;
	uint32_t watch_room;
	uint32_t dropped;
	bool has_failed; /* memory ran out */
};

/* @names may be NULL. Returns 0 or -ENOMEM; call plan_builder__close() in both cases. */
int plan_builder__open(struct plan_builder *builder, struct names *names,
		       const struct sample *sample);
/* Frees everything that the plan does not take over. */
void plan_builder__close(struct plan_builder *builder);

/*
 * Returns the family of this name, and adds it if it is new, with texts that outlive the plan or
 * lie in its arena. Returns PLAN_NONE if memory ran out, or if the existing family is of another
 * type.
 */
uint32_t plan_builder__family(struct plan_builder *builder, const struct built_family *family);
/* Adds a row; see struct plan_row. */
uint32_t plan_builder__row(struct plan_builder *builder, uint32_t entry, uint32_t copy);
/* Watches the rows of an entry; NULL if the entry needs no watch or memory ran out. */
const struct row_watch *plan_builder__watch(struct plan_builder *builder, uint32_t entry);

/*
 * Priorities, of which lower is stronger. A series from names adds its position in the files to
 * PLAN_PRIORITY_NAMED.
 */
#define PLAN_PRIORITY_OWN 0
#define PLAN_PRIORITY_NAMED 1
#define PLAN_PRIORITY_GENERIC UINT32_MAX

/* A value: terms, and the conversion of their sum; see struct plan_rule. */
struct built_value {
	const struct plan_term *terms;
	const struct name_series *named;
	uint32_t term_count;
	uint32_t row;
	uint32_t when; /* field, or PLAN_NONE */
	uint32_t per; /* field, or PLAN_NONE */
	bool is_unsigned;
	uint32_t priority;
	double scale;
};

/* Adds a series to @family; counts it as dropped if @family is PLAN_NONE. */
void plan_builder__add(struct plan_builder *builder, uint32_t family,
		       const struct label_list *labels, const struct built_value *value);
/*
 * Adds one series for each bucket of histogram @field; the value consists of one term. @labels do
 * not contain "le" yet.
 */
void plan_builder__add_histogram(struct plan_builder *builder, uint32_t family,
				 const struct label_list *labels, const struct built_value *value,
				 const struct dart_field *field);
/* Adds a series that no rule computes, and writes its number in the plan to @place. */
void plan_builder__add_own(struct plan_builder *builder, uint32_t family,
			   const struct label_list *labels, uint32_t *place);

/* Adds a series that is complete.  Returns false if the plan is full, or memory ran out. */
bool plan_builder__add_series(struct plan_builder *builder, const struct built_series *series);

/* Copies @text to the arena of the plan; NULL if memory ran out, which the builder remembers. */
const char *plan_builder__keep(struct plan_builder *builder, const char *text);

#endif /* CONTROLLER_PLAN_BUILDER_H */
