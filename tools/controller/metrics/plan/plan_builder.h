/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan while it is made: families and series in any order, which plan_builder__finish()
 * sorts.  An error of memory is kept until then: what returns a number returns PLAN_NONE
 * after it, which all take.
 */
#ifndef CONTROLLER_PLAN_BUILDER_H
#define CONTROLLER_PLAN_BUILDER_H

#include "plan.h"
#include "tools/controller/metrics/labels/label_sets.h"

/* Of one target: what does not fit is counted as dropped. */
#define PLAN_SERIES_MAX (1U << 20)

/* Bytes of a name that is made of others. */
#define PLAN_NAME_MAX 600

struct built_family {
	const char *name;
	const char *help;
	const char *unit;
	enum metric_type type;
};

struct built_series {
	uint32_t family;
	uint32_t set; /* of labels */
	uint32_t base; /* of a bucket: the set without "le" */
	uint32_t bucket; /* from the least */
	uint32_t priority; /* of equal series the lowest stays, see below */
	uint32_t *place; /* without a rule: takes its number in the plan */
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
	bool has_failed; /* out of memory */
};

/* @names may be NULL.  Returns 0 or -ENOMEM; plan_builder__close() in both cases. */
int plan_builder__open(struct plan_builder *builder, struct names *names,
		       const struct sample *sample);
/* Frees all that the plan does not take. */
void plan_builder__close(struct plan_builder *builder);

/*
 * The family of this name; it is added, with texts that outlive the plan or lie in its
 * arena, if there is none.  PLAN_NONE also if there is one of another type.
 */
uint32_t plan_builder__family(struct plan_builder *builder, const struct built_family *family);
/* A new row; see struct plan_row. */
uint32_t plan_builder__row(struct plan_builder *builder, uint32_t entry, uint32_t copy);
/* Watches the rows of an entry; NULL if none is needed or there is no memory. */
const struct row_watch *plan_builder__watch(struct plan_builder *builder, uint32_t entry);

/* Of series that names have: that of their place in the files.  Lower is stronger. */
#define PLAN_PRIORITY_OWN 0
#define PLAN_PRIORITY_NAMED 1
#define PLAN_PRIORITY_GENERIC UINT32_MAX

/* A value: terms, and what becomes of their sum; see struct plan_rule. */
struct built_value {
	const struct plan_term *terms;
	const struct name_series *named;
	uint32_t term_count;
	uint32_t row;
	uint32_t when; /* PLAN_NONE: none */
	uint32_t per; /* the same */
	bool is_unsigned;
	uint32_t priority;
	double scale;
};

/* A series of @family, unless that is PLAN_NONE, which is counted as dropped. */
void plan_builder__add(struct plan_builder *builder, uint32_t family,
		       const struct label_list *labels, const struct built_value *value);
/*
 * The buckets of histogram @field, in a series each; the value has one term.  Labels have
 * no "le" yet.
 */
void plan_builder__add_histogram(struct plan_builder *builder, uint32_t family,
				 const struct label_list *labels, const struct built_value *value,
				 const struct dart_field *field);
/* A series that no rule computes; it takes its number to @place in the plan. */
void plan_builder__add_own(struct plan_builder *builder, uint32_t family,
			   const struct label_list *labels, uint32_t *place);

/* In the arena of the plan; NULL if out of memory, which is kept. */
const char *plan_builder__keep(struct plan_builder *builder, const char *text);

#endif /* CONTROLLER_PLAN_BUILDER_H */
