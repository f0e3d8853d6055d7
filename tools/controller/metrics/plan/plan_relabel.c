// SPDX-License-Identifier: GPL-2.0-only
/* Applies rules to the series of a plan: see plan_relabel.h. */
#include "plan_relabel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan_builder.h"
#include "plan_sort.h"
#include "plan_store.h"
#include "tools/controller/settings/labels.h"

#define NAME "__name__"
#define BUCKET "_bucket"

/* A series that rules kept. */
struct moved {
	uint32_t series; /* in the old plan */
	uint32_t set, base; /* numbers of sets of labels; base without "le", of buckets */
	uint32_t family; /* in the builder; PLAN_NONE: still a bucket of its old family */
};

struct relabel {
	const struct metric_plan *plan;
	const struct relabel_rules *rules;
	const struct metric_label *labels; /* of the target */
	uint32_t label_count;
	bool *stays; /* by label of the target: it stays one */
	struct plan_builder builder;
	struct relabel_set set;
	struct moved *moved;
	uint32_t moved_count;
	bool *has_buckets; /* by family of the old plan: buckets stay its buckets */
};

static const char *value_of(const struct metric_series *series, const char *name)
{
	uint32_t i;

	for (i = 0; i < series->label_count; i++)
		if (!strcmp(series->labels[i].name, name))
			return series->labels[i].value;
	return "";
}

/* Fills the set with all labels of a series. */
static int fill_set(struct relabel *relabel, const struct metric_series *series)
{
	struct relabel_set *set = &relabel->set;
	uint32_t i;
	int err;

	relabel_set__clear(set);
	err = relabel_set__put(set, NAME, series->name);
	for (i = 0; !err && i < relabel->label_count; i++)
		err = relabel_set__put(set, relabel->labels[i].name, relabel->labels[i].value);
	for (i = 0; !err && i < series->label_count; i++)
		err = relabel_set__put(set, series->labels[i].name, series->labels[i].value);
	return err;
}

/* [a-zA-Z_:][a-zA-Z0-9_:]* */
static bool is_series_name(const char *name)
{
	return *name && !(*name >= '0' && *name <= '9') &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_:")];
}

static bool is_of_target(const struct relabel *relabel, const char *name)
{
	uint32_t i;

	for (i = 0; i < relabel->label_count; i++)
		if (relabel->stays[i] && !strcmp(relabel->labels[i].name, name))
			return true;
	return false;
}

/* Copies the labels of the series; false if a name is invalid, or if there are too many. */
static bool list_labels(const struct relabel *relabel, struct label_list *list)
{
	const struct relabel_set *set = &relabel->set;
	const struct relabel_label *label = set->labels;

	list->count = 0;
	for (; label < set->labels + set->count; label++) {
		if (!strcmp(label->name, NAME) || is_of_target(relabel, label->name))
			continue;
		if (!labels__is_plain_name(label->name) || list->count == LABEL_LIST_MAX)
			return false;
		label_list__add(list, label->name, label->value);
	}
	return is_series_name(relabel_set__get(set, NAME));
}

static bool ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name), of_end = strlen(end);

	return length > of_end && !strcmp(name + length - of_end, end);
}

/* A name must keep the promises that text formats make by type and unit. */
static struct built_family describe(const struct metric_family *family, const char *name)
{
	const size_t unit = strlen(family->unit);
	struct built_family built = {
		.name = name,
		.help = family->help,
		.unit = "",
		.type = family->type,
	};
	const char *at = name + strlen(name);

	if (built.type == METRIC_HISTOGRAM ||
	    (built.type == METRIC_COUNTER && !ends_with(name, "_total")))
		built.type = METRIC_UNTYPED;
	if (built.type == METRIC_COUNTER)
		at -= strlen("_total");
	if (unit && (size_t)(at - name) > unit && at[-(ptrdiff_t)unit - 1] == '_' &&
	    !memcmp(at - unit, family->unit, unit))
		built.unit = family->unit;
	return built;
}

/* Finds or adds the family of a series with this name; families of two types become untyped. */
static uint32_t find_family(struct plan_builder *builder, const struct metric_family *family,
			    const char *name)
{
	const uint32_t found = text_index__find(&builder->by_name, name);
	struct built_family built = describe(family, name), *other;

	if (found == TEXT_INDEX_NONE) {
		built.name = plan_builder__keep(builder, name);
		built.help = plan_builder__keep(builder, built.help);
		built.unit = plan_builder__keep(builder, built.unit);
		return builder->has_failed ? PLAN_NONE : plan_builder__family(builder, &built);
	}
	other = &builder->families[found];
	if (other->type != built.type)
		other->type = METRIC_UNTYPED;
	if (strcmp(other->unit, built.unit))
		other->unit = "";
	return found;
}

static uint32_t find_set(struct plan_builder *builder, const struct label_list *list)
{
	const uint32_t set = label_sets__find(&builder->sets, list);

	builder->has_failed |= set == TEXT_INDEX_NONE;
	return set;
}

static uint32_t find_base(struct plan_builder *builder, const struct label_list *list)
{
	struct label_list base = { .count = 0 };
	uint32_t i;

	for (i = 0; i < list->count; i++)
		if (strcmp(list->labels[i].name, "le"))
			base.labels[base.count++] = list->labels[i];
	return find_set(builder, &base);
}

/* Moves one series.  Returns 0 or -ENOMEM. */
static int move_series(struct relabel *relabel, uint32_t index)
{
	const struct metric_series *series = &relabel->plan->series[index];
	const struct metric_family *family = &relabel->plan->families[series->family];
	struct plan_builder *builder = &relabel->builder;
	struct moved *moved = &relabel->moved[relabel->moved_count];
	struct label_list list;
	const char *name;
	int ret = fill_set(relabel, series) ?: relabel_rules__apply(relabel->rules, &relabel->set);

	if (ret <= 0)
		return ret;
	if (!list_labels(relabel, &list)) {
		builder->dropped++;
		return 0;
	}
	name = relabel_set__get(&relabel->set, NAME);
	*moved = (struct moved){ .series = index, .set = find_set(builder, &list) };
	moved->base = moved->set;
	if (family->type == METRIC_HISTOGRAM && !strcmp(name, series->name) &&
	    !strcmp(relabel_set__get(&relabel->set, "le"), value_of(series, "le"))) {
		moved->base = find_base(builder, &list);
		moved->family = PLAN_NONE;
		relabel->has_buckets[series->family] = true;
	} else {
		moved->family = find_family(builder, family, name);
	}
	relabel->moved_count++;
	return builder->has_failed ? -ENOMEM : 0;
}

static int move_all(struct relabel *relabel)
{
	const struct metric_plan *plan = relabel->plan;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < plan->series_count; i++)
		err = move_series(relabel, plan->listing ? plan->listing[i] : i);
	return err;
}

/* Does another family have a name that the text formats reserve for a histogram? */
static bool is_in_the_way(const struct plan_builder *builder, const char *name)
{
	static const char *const ends[] = { "", BUCKET, "_count", "_sum" };
	char text[PLAN_NAME_MAX + sizeof(BUCKET)];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		strcpy(stpcpy(text, name), ends[i]);
		if (text_index__find(&builder->by_name, text) != TEXT_INDEX_NONE)
			return true;
	}
	return false;
}

/*
 * Adds the histogram, or a family of untyped buckets if a family is in its way.  Other families are
 * complete, and no histogram is in the way of another one, because none was before.
 */
static uint32_t add_histogram(struct plan_builder *builder, const struct metric_family *family)
{
	char name[PLAN_NAME_MAX + sizeof(BUCKET)];
	struct built_family built = { .type = METRIC_HISTOGRAM };

	if (strlen(family->name) >= PLAN_NAME_MAX || is_in_the_way(builder, family->name)) {
		snprintf(name, sizeof(name), "%.*s" BUCKET, PLAN_NAME_MAX - 1, family->name);
		return find_family(builder, family, name);
	}
	built.name = plan_builder__keep(builder, family->name);
	built.help = plan_builder__keep(builder, family->help);
	built.unit = plan_builder__keep(builder, family->unit);
	return builder->has_failed ? PLAN_NONE : plan_builder__family(builder, &built);
}

/* Decides which histograms are still ones, before any is added. */
static int add_histograms(struct relabel *relabel)
{
	const struct metric_plan *plan = relabel->plan;
	uint32_t *families = calloc((size_t)plan->family_count + 1, sizeof(*families));
	struct moved *moved = relabel->moved;
	uint32_t i;

	if (!families)
		return -ENOMEM;
	for (i = 0; i < plan->family_count; i++)
		if (relabel->has_buckets[i])
			families[i] = add_histogram(&relabel->builder, &plan->families[i]);
	for (; moved < relabel->moved + relabel->moved_count; moved++)
		if (moved->family == PLAN_NONE)
			moved->family = families[plan->series[moved->series].family];
	free(families);
	return relabel->builder.has_failed ? -ENOMEM : 0;
}

/* Series are added in the order of the listing, of which the first of equal ones stays. */
static int add_series(struct relabel *relabel, uint32_t *places)
{
	struct plan_builder *builder = &relabel->builder;
	uint32_t i;

	for (i = 0; i < relabel->plan->series_count; i++)
		places[i] = PLAN_NONE;
	for (i = 0; i < relabel->moved_count; i++) {
		const struct moved *moved = &relabel->moved[i];
		const struct built_series series = {
			.family = moved->family,
			.set = moved->set,
			.base = moved->base,
			.bucket = i,
			.priority = PLAN_PRIORITY_NAMED,
			.place = &places[moved->series],
			.rule = PLAN_NONE,
		};

		if (!plan_builder__add_series(builder, &series))
			return -ENOMEM;
	}
	return 0;
}

/*
 * The names of the labels before, so that the labels of the target keep the names that rules saw.
 * Rules make no other name that a label of the target still has.
 */
static int keep_label_names(const struct metric_plan *before, struct metric_plan *metrics)
{
	struct arena *arena = &((struct plan *)metrics)->arena;
	const char **names = arena__take_array(arena, before->label_name_count + 1, sizeof(*names));
	uint32_t i;

	if (!names)
		return -ENOMEM;
	for (i = 0; i < before->label_name_count; i++) {
		names[i] =
			arena__copy(arena, before->label_names[i], strlen(before->label_names[i]));
		if (!names[i])
			return -ENOMEM;
	}
	metrics->label_names = names;
	metrics->label_name_count = before->label_name_count;
	return 0;
}

static int open_relabel(struct relabel *relabel)
{
	const struct metric_plan *plan = relabel->plan;
	uint32_t i;

	relabel->builder.plan = plan__new();
	relabel->moved = calloc((size_t)plan->series_count + 1, sizeof(*relabel->moved));
	relabel->has_buckets =
		calloc((size_t)plan->family_count + 1, sizeof(*relabel->has_buckets));
	relabel->stays = calloc((size_t)relabel->label_count + 1, sizeof(*relabel->stays));
	if (!relabel->builder.plan || !relabel->moved || !relabel->has_buckets || !relabel->stays)
		return -ENOMEM;
	relabel->builder.sets.arena = &relabel->builder.plan->arena;
	relabel->builder.dropped = plan->dropped_count;
	relabel->builder.plan->cpustat = PLAN_NONE;
	for (i = 0; i < PLAN_OWN_COUNT; i++)
		relabel->builder.plan->own[i] = PLAN_NONE;
	for (i = 0; i < relabel->label_count; i++)
		relabel->stays[i] = !relabel_rules__touch(relabel->rules, relabel->labels[i].name);
	return 0;
}

int plan_relabel__list(const struct metric_plan *plan, const struct relabel_rules *rules,
		       const struct metric_label *labels, uint32_t count, uint32_t *places,
		       struct metric_plan **made)
{
	struct relabel relabel = {
		.plan = plan,
		.rules = rules,
		.labels = labels,
		.label_count = count,
	};
	int err = open_relabel(&relabel)	       ?:
			  move_all(&relabel)	       ?:
			  add_histograms(&relabel)     ?:
			  add_series(&relabel, places) ?:
							 plan_builder__finish(&relabel.builder, made);

	if (!err) {
		err = keep_label_names(plan, *made);
		if (err)
			metric_plan__put(*made);
	}
	plan_builder__close(&relabel.builder);
	relabel_set__free(&relabel.set);
	free(relabel.moved);
	free(relabel.has_buckets);
	free(relabel.stays);
	return err;
}

/* ---- the rules that compute points */

static uint32_t place_of(const uint32_t *places, uint32_t series)
{
	return series == PLAN_NONE ? PLAN_NONE : places[series];
}

/* Does the rule compute a series that remains? */
static bool is_needed(const struct plan *from, const struct plan_rule *rule, const uint32_t *places)
{
	uint32_t i;

	if (!rule->bucket_count)
		return place_of(places, rule->series) != PLAN_NONE;
	for (i = 0; i < rule->bucket_count; i++)
		if (place_of(places, from->buckets[rule->series + i]) != PLAN_NONE)
			return true;
	return false;
}

/* Copies a rule with its terms, its buckets and, once for all rules of a row, the row. */
static void copy_rule(const struct plan *from, struct plan *plan, const struct plan_rule *rule,
		      const uint32_t *places, uint32_t *rows)
{
	struct plan_rule *copy = &plan->rules[plan->rule_count++];
	uint32_t i;

	*copy = *rule;
	copy->first_term = plan->term_count;
	memcpy(plan->terms + plan->term_count, from->terms + rule->first_term,
	       rule->term_count * sizeof(*plan->terms));
	plan->term_count += rule->term_count;
	if (rows[rule->row] == PLAN_NONE) {
		rows[rule->row] = plan->row_count;
		plan->rows[plan->row_count++] = from->rows[rule->row];
	}
	copy->row = rows[rule->row];
	if (!rule->bucket_count) {
		copy->series = places[rule->series];
		return;
	}
	copy->series = plan->bucket_count;
	for (i = 0; i < rule->bucket_count; i++)
		plan->buckets[plan->bucket_count++] =
			place_of(places, from->buckets[rule->series + i]);
}

static int copy_rules(const struct plan *from, struct plan *plan, const uint32_t *places)
{
	uint32_t *rows = calloc((size_t)from->row_count + 1, sizeof(*rows));
	uint32_t i;

	plan->rules = calloc((size_t)from->rule_count + 1, sizeof(*plan->rules));
	plan->terms = calloc((size_t)from->term_count + 1, sizeof(*plan->terms));
	plan->rows = calloc((size_t)from->row_count + 1, sizeof(*plan->rows));
	plan->buckets = calloc((size_t)from->bucket_count + 1, sizeof(*plan->buckets));
	if (!rows || !plan->rules || !plan->terms || !plan->rows || !plan->buckets) {
		free(rows);
		return -ENOMEM;
	}
	memset(rows, 0xff, from->row_count * sizeof(*rows));
	for (i = 0; i < from->rule_count; i++)
		if (is_needed(from, &from->rules[i], places))
			copy_rule(from, plan, &from->rules[i], places, rows);
	free(rows);
	for (i = 0; i < PLAN_OWN_COUNT; i++)
		plan->own[i] = place_of(places, from->own[i]);
	return 0;
}

/* All rows of the table are watched, as in the plan before: a row may get a series that is kept. */
static int copy_watches(const struct plan *from, struct plan *plan, const struct sample *sample)
{
	uint32_t i;
	int err = 0;

	plan->watches = calloc((size_t)from->watch_count + 1, sizeof(*plan->watches));
	if (!plan->watches)
		return -ENOMEM;
	for (i = 0; !err && i < from->watch_count; i++) {
		const uint32_t entry = from->watches[i].entry;

		err = row_watch__init(&plan->watches[i], &plan->arena, &sample->entries[entry],
				      entry);
		plan->watch_count += !err;
	}
	return err;
}

/* Idle times are computed only if a rule uses them. */
static bool uses_idle_times(const struct plan *plan)
{
	uint32_t i;

	for (i = 0; i < plan->term_count; i++)
		if (plan->terms[i].kind == PLAN_TERM_IDLE ||
		    plan->terms[i].kind == PLAN_TERM_IOWAIT)
			return true;
	return false;
}

int plan_relabel__new(const struct metric_plan *metrics, const struct sample *sample,
		      const struct relabel_rules *rules, const struct metric_label *labels,
		      uint32_t count, struct metric_plan **made)
{
	uint32_t *places = calloc((size_t)metrics->series_count + 1, sizeof(*places));
	const struct plan *from = plan__of(metrics);
	struct plan *plan;
	int err = places ? plan_relabel__list(metrics, rules, labels, count, places, made) :
			   -ENOMEM;

	if (!err) {
		plan = (struct plan *)*made;
		plan->names = names__get(from->names);
		plan->instance = from->instance;
		plan->generation = from->generation;
		plan->entry_count = from->entry_count;
		err = copy_rules(from, plan, places) ?: copy_watches(from, plan, sample);
		if (!err && uses_idle_times(plan))
			plan->cpustat = from->cpustat;
		if (err)
			metric_plan__put(*made);
	}
	free(places);
	return err;
}

/* ---- the rules of an output */

struct plan_rewriter {
	struct metric_rewriter rewriter; /* first */
	atomic_uint holders;
	struct plan_store *store;
};

/* Plans of equal hosts share memory, and so do the plans that the same rules make of them. */
static int rewrite(struct metric_rewriter *rewriter, const struct metric_plan *metrics,
		   const struct metric_label *labels, uint32_t count, uint32_t *places,
		   struct metric_plan **made)
{
	const struct plan *plan = plan__of(metrics);
	int err = plan_relabel__list(metrics, rewriter->rules, labels, count, places, made);

	if (!err)
		plan_store__share(((struct plan_rewriter *)rewriter)->store, plan->root ?: plan,
				  *made);
	return err;
}

static struct metric_rewriter *hold_rewriter(struct metric_rewriter *rewriter)
{
	atomic_fetch_add(&((struct plan_rewriter *)rewriter)->holders, 1);
	return rewriter;
}

static void release_rewriter(struct metric_rewriter *rewriter)
{
	struct plan_rewriter *own = (struct plan_rewriter *)rewriter;

	if (atomic_fetch_sub(&own->holders, 1) != 1)
		return;
	plan_store__put(own->store);
	relabel_rules__release(rewriter->rules);
	free(own);
}

struct metric_rewriter *plan_rewriter__new(struct relabel_rules *rules)
{
	struct plan_rewriter *own = calloc(1, sizeof(*own));

	if (!own)
		return NULL;
	atomic_init(&own->holders, 1);
	own->store = plan_store__new();
	own->rewriter = (struct metric_rewriter){
		.rules = relabel_rules__hold(rules),
		.rewrite = rewrite,
		.hold = hold_rewriter,
		.release = release_rewriter,
	};
	if (own->store)
		return &own->rewriter;
	release_rewriter(&own->rewriter);
	return NULL;
}
