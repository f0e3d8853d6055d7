// SPDX-License-Identifier: GPL-2.0-only
/* Makes a plan use the memory of another plan where both are equal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan_store.h"

/* A plan on its way to the root's memory; the parts that differ are copied to a new arena. */
struct derived {
	const struct plan *root;
	struct arena arena;
	bool has_failed; /* memory ran out */
};

static void *derived__take(struct derived *derived, size_t count, size_t size)
{
	void *memory = arena__take_array(&derived->arena, count ?: 1, size);

	derived->has_failed |= !memory;
	return memory;
}

static void *derived__copy(struct derived *derived, const void *bytes, size_t count, size_t size)
{
	void *copy = derived__take(derived, count, size);

	if (copy)
		memcpy(copy, bytes, count * size);
	return copy;
}

/* Returns @other if it equals @text, otherwise a copy of @text; @other may be NULL. */
static const char *derived__text(struct derived *derived, const char *text, const char *other)
{
	if (other && !strcmp(text, other))
		return other;
	return derived__copy(derived, text, strlen(text) + 1, 1);
}

static int compare_family(const void *name, const void *family)
{
	return strcmp(name, ((const struct metric_family *)family)->name);
}

/* Returns the root's family of this name; NULL if none exists. */
static const struct metric_family *find_family(const struct plan *root, const char *name)
{
	return bsearch(name, root->metrics.families, root->metrics.family_count,
		       sizeof(*root->metrics.families), compare_family);
}

static int compare_series(const void *a, const void *b)
{
	const struct metric_series *one = a, *other = b;

	return strcmp(one->name, other->name) ?: strcmp(one->text, other->text);
}

/* Returns the equal series of the root; NULL if none exists. */
static const struct metric_series *find_series(const struct plan *root,
					       const struct metric_plan *metrics, uint32_t at)
{
	const struct metric_series *series = &metrics->series[at];
	const struct metric_family *family;

	if (at < root->metrics.series_count && !compare_series(series, &root->metrics.series[at]))
		return &root->metrics.series[at];
	family = find_family(root, metrics->families[series->family].name);
	return family ? bsearch(series, root->metrics.series + family->first_series,
				family->series_count, sizeof(*series), compare_series) :
			NULL;
}

static const struct metric_label *derived__labels(struct derived *derived,
						  const struct metric_label *labels, uint32_t count)
{
	struct metric_label *own = derived__take(derived, count, sizeof(*own));
	uint32_t i;

	for (i = 0; own && i < count; i++) {
		own[i].name = derived__text(derived, labels[i].name, NULL);
		own[i].value = derived__text(derived, labels[i].value, NULL);
	}
	return own;
}

static void derived__add_series(struct derived *derived, const struct metric_plan *before,
				struct metric_plan *metrics)
{
	struct metric_series *all = derived__take(derived, before->series_count, sizeof(*all));
	const struct metric_series *same;
	uint32_t i;

	metrics->series = all;
	for (i = 0; all && i < before->series_count; i++) {
		const struct metric_series *series = &before->series[i];

		same = find_series(derived->root, before, i);
		all[i] = same ? *same : *series;
		all[i].family = series->family;
		if (same)
			continue;
		all[i].name = derived__text(derived, series->name, NULL);
		all[i].text = derived__text(derived, series->text, NULL);
		all[i].labels = derived__labels(derived, series->labels, series->label_count);
	}
}

static bool are_families_equal(const struct metric_plan *one, const struct metric_plan *other)
{
	const struct metric_family *a = one->families, *b = other->families;
	uint32_t i;

	if (one->family_count != other->family_count)
		return false;
	for (i = 0; i < one->family_count; i++, a++, b++)
		if (strcmp(a->name, b->name) || strcmp(a->help, b->help) ||
		    strcmp(a->unit, b->unit) || a->type != b->type ||
		    a->first_series != b->first_series || a->series_count != b->series_count)
			return false;
	return true;
}

static void derived__add_families(struct derived *derived, const struct metric_plan *before,
				  struct metric_plan *metrics)
{
	const struct plan *root = derived->root;
	const struct metric_family *same;
	struct metric_family *all;
	uint32_t i;

	if (are_families_equal(before, &root->metrics)) {
		metrics->families = root->metrics.families;
		return;
	}
	all = derived__copy(derived, before->families, before->family_count, sizeof(*all));
	metrics->families = all;
	for (i = 0; all && i < before->family_count; i++) {
		same = find_family(root, all[i].name);
		all[i].name = derived__text(derived, all[i].name, same ? same->name : NULL);
		all[i].help = derived__text(derived, all[i].help, same ? same->help : NULL);
		all[i].unit = derived__text(derived, all[i].unit, same ? same->unit : NULL);
	}
}

static void derived__add_listing(struct derived *derived, const struct metric_plan *before,
				 struct metric_plan *metrics)
{
	const struct metric_plan *root = &derived->root->metrics;
	const uint32_t count = before->series_count;

	if (!before->listing)
		return;
	if (root->listing && root->series_count == count &&
	    !memcmp(root->listing, before->listing, count * sizeof(*before->listing)))
		metrics->listing = root->listing;
	else
		metrics->listing =
			derived__copy(derived, before->listing, count, sizeof(*before->listing));
}

static void derived__add_label_names(struct derived *derived, const struct metric_plan *before,
				     struct metric_plan *metrics)
{
	const struct metric_plan *root = &derived->root->metrics;
	const uint32_t count = before->label_name_count;
	bool is_equal = root->label_name_count == count;
	const char **names;
	uint32_t i;

	for (i = 0; is_equal && i < count; i++)
		is_equal = !strcmp(root->label_names[i], before->label_names[i]);
	if (is_equal) {
		metrics->label_names = root->label_names;
		return;
	}
	names = derived__take(derived, count, sizeof(*names));
	metrics->label_names = names;
	for (i = 0; names && i < count; i++)
		names[i] = derived__text(derived, before->label_names[i], NULL);
}

/* Returns the root's bytes if they are equal, otherwise a copy of @bytes. */
static void *derived__bytes(struct derived *derived, const void *bytes, const void *other,
			    bool has_same_length, size_t length)
{
	if (has_same_length && (!length || !memcmp(bytes, other, length)))
		return (void *)other;
	return derived__copy(derived, bytes, length, 1);
}

/*
 * Copies the watches with their memory in the new arena; the plan keeps its old ones until nothing
 * can fail any more.
 */
static void derived__add_watches(struct derived *derived, const struct plan *plan,
				 struct row_watch *watches)
{
	static const struct row_watch none;
	const struct plan *root = derived->root;
	uint32_t i;

	for (i = 0; i < plan->watch_count; i++) {
		const struct row_watch *watch = &plan->watches[i];
		const struct row_watch *other = i < root->watch_count ? &root->watches[i] : &none;
		const bool has_same_copies = watch->copies == other->copies;

		watches[i] = *watch;
		watches[i].fields = derived__bytes(derived, watch->fields, other->fields,
						   watch->field_count == other->field_count,
						   watch->field_count * sizeof(*watch->fields));
		watches[i].present = derived__bytes(derived, watch->present, other->present,
						    has_same_copies,
						    watch->copies * sizeof(*watch->present));
		watches[i].keys =
			derived__bytes(derived, watch->keys, other->keys,
				       has_same_copies && watch->key_length == other->key_length,
				       (size_t)watch->copies * watch->key_length);
	}
}

static bool are_rules_equal(const struct plan *one, const struct plan *other)
{
	const struct plan_rule *a = one->rules, *b = other->rules;
	uint32_t i;

	if (one->rule_count != other->rule_count)
		return false;
	for (i = 0; i < one->rule_count; i++, a++, b++)
		if (a->named != b->named || a->factor != b->factor || a->divisor != b->divisor ||
		    a->row != b->row || a->first_term != b->first_term ||
		    a->term_count != b->term_count || a->when != b->when ||
		    a->is_unsigned != b->is_unsigned || a->bucket_count != b->bucket_count ||
		    a->series != b->series)
			return false;
	return true;
}

static bool are_terms_equal(const struct plan *one, const struct plan *other)
{
	const struct plan_term *a = one->terms, *b = other->terms;
	uint32_t i;

	if (one->term_count != other->term_count)
		return false;
	for (i = 0; i < one->term_count; i++, a++, b++)
		if (a->kind != b->kind || a->is_minus != b->is_minus || a->element != b->element ||
		    a->field != b->field)
			return false;
	return true;
}

static bool are_rows_equal(const struct plan *one, const struct plan *other)
{
	return one->row_count == other->row_count &&
	       (!one->row_count ||
		!memcmp(one->rows, other->rows, one->row_count * sizeof(*one->rows)));
}

static bool are_buckets_equal(const struct plan *one, const struct plan *other)
{
	return one->bucket_count == other->bucket_count &&
	       (!one->bucket_count ||
		!memcmp(one->buckets, other->buckets, one->bucket_count * sizeof(*one->buckets)));
}

/* Frees arrays that equal the root's, and uses the root's. */
static void share_arrays(struct plan *plan, const struct plan *root)
{
	if (are_rules_equal(plan, root)) {
		free(plan->rules);
		plan->rules = root->rules;
	}
	if (are_terms_equal(plan, root)) {
		free(plan->terms);
		plan->terms = root->terms;
	}
	if (are_rows_equal(plan, root)) {
		free(plan->rows);
		plan->rows = root->rows;
	}
	if (are_buckets_equal(plan, root)) {
		free(plan->buckets);
		plan->buckets = root->buckets;
	}
}

int plan__derive(struct plan *plan, struct plan *root)
{
	const struct metric_plan before = plan->metrics;
	struct derived derived = { .root = root };
	struct metric_plan metrics = before;
	struct row_watch *watches = calloc(plan->watch_count + 1, sizeof(*watches));

	/* Rules point into the names, so plans with different names cannot share them. */
	if (!watches || plan->names != root->names) {
		free(watches);
		return -ENOMEM;
	}
	derived__add_families(&derived, &before, &metrics);
	derived__add_series(&derived, &before, &metrics);
	derived__add_listing(&derived, &before, &metrics);
	derived__add_label_names(&derived, &before, &metrics);
	derived__add_watches(&derived, plan, watches);
	if (derived.has_failed) {
		arena__free(&derived.arena);
		free(watches);
		return -ENOMEM;
	}
	plan->metrics = metrics;
	arena__free(&plan->arena);
	plan->arena = derived.arena;
	free(plan->watches);
	plan->watches = watches;
	share_arrays(plan, root);
	plan->root = root;
	return 0;
}
