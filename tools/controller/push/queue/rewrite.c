// SPDX-License-Identifier: GPL-2.0-only
/* Applies the rules of an output to the series of a target: see rewrite.h. */
#include "rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void rewrite__clear(struct rewrite *rewrite)
{
	if (rewrite->plan)
		metric_plan__put(rewrite->plan);
	label_set__release(rewrite->labels);
	free(rewrite->from);
	*rewrite = (struct rewrite){};
}

static uint64_t key_of_labels(const struct label_set *labels)
{
	uint64_t key = 0;
	uint32_t i;

	for (i = 0; i < labels->count; i++) {
		const struct metric_label *label = &labels->labels[i];

		key = XXH3_64bits_withSeed(label->name, strlen(label->name), key);
		if (label->value)
			key = XXH3_64bits_withSeed(label->value, strlen(label->value), key);
	}
	return key;
}

uint64_t rewrite__series_key(const struct rewrite *rewrite, uint32_t series)
{
	const struct metric_series *of = &rewrite->plan->series[series];
	const uint64_t key = XXH3_64bits_withSeed(of->name, strlen(of->name), rewrite->key);

	return XXH3_64bits_withSeed(of->text, strlen(of->text), key);
}

/* Has each series its place in the scrape?  So it is if rules drop none and keep the order. */
static bool is_in_order(const uint32_t *places, uint32_t count)
{
	uint32_t i = 0;

	while (i < count && places[i] == i)
		i++;
	return i == count;
}

/* Lists the places in the scrape by the series that remain, unless all places are the same. */
static bool invert(struct rewrite *rewrite, const uint32_t *places, uint32_t count)
{
	uint32_t i;

	if (is_in_order(places, count))
		return true;
	rewrite->from = calloc((size_t)rewrite->plan->series_count + 1, sizeof(*rewrite->from));
	if (!rewrite->from)
		return false;
	for (i = 0; i < count; i++)
		if (places[i] != UINT32_MAX)
			rewrite->from[places[i]] = i;
	return true;
}

/* Applies the rules to the series with @all labels; without memory nothing is left to clear. */
static bool apply(struct rewrite *rewrite, struct metric_rewriter *rewriter,
		  const struct label_set *all, const struct metric_plan *plan)
{
	struct metric_label labels[LABEL_SET_MAX];
	uint32_t *places = calloc((size_t)plan->series_count + 1, sizeof(*places));
	uint32_t count = 0, i;
	bool is_made;

	/* The label __name__ has no value here, and rules see it as the name of each series. */
	for (i = 0; i < all->count; i++)
		if (all->labels[i].value)
			labels[count++] = all->labels[i];
	is_made = places && !rewriter->rewrite(rewriter, plan, labels, count, places,
					       &rewrite->plan);
	if (is_made) {
		rewrite->equal = rewrite->plan->dropped_count - plan->dropped_count;
		is_made = invert(rewrite, places, plan->series_count);
	}
	free(places);
	return is_made;
}

bool rewrite__make(struct rewrite *rewrite, struct metric_rewriter *rewriter,
		   const struct target_settings *target, const json_t *own,
		   const struct metric_scrape *scrape)
{
	struct label_set *all = label_set__new(target, scrape->labels, own, scrape->plan, NULL);
	bool is_made;

	*rewrite = (struct rewrite){};
	if (!all)
		return false;
	rewrite->key = key_of_labels(all);
	if (!rewriter) {
		rewrite->plan = metric_plan__get(scrape->plan);
		rewrite->labels = all;
		return true;
	}
	rewrite->labels =
		label_set__new(target, scrape->labels, own, scrape->plan, rewriter->rules);
	is_made = rewrite->labels && apply(rewrite, rewriter, all, scrape->plan);
	label_set__release(all);
	if (!is_made)
		rewrite__clear(rewrite);
	return is_made;
}
