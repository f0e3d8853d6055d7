// SPDX-License-Identifier: GPL-2.0-only
/* Envelopes of past curves: see history_query.h. */
#include "history_query.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/metrics/text/text_index.h"

#include "tracker.h"

/* Returns the index of the bucket; -1 outside the span. */
static int envelope_span__bucket(const struct envelope_span *span, int64_t time_us)
{
	unsigned __int128 offset;
	uint64_t width;

	if (time_us < span->from_us || time_us > span->to_us)
		return -1;
	offset = (uint64_t)time_us - (uint64_t)span->from_us;
	width = (uint64_t)span->to_us - (uint64_t)span->from_us;
	offset = offset * span->bucket_count / width;
	return offset < span->bucket_count ? (int)offset : (int)span->bucket_count - 1;
}

/* @value must not be NaN. */
static void envelope_bucket__take(struct envelope_bucket *bucket, double value)
{
	if (!bucket->count || value < bucket->least)
		bucket->least = value;
	if (!bucket->count || value > bucket->greatest)
		bucket->greatest = value;
	bucket->sum += value;
	bucket->count++;
}

struct group {
	char *labels;
	struct envelope_bucket *buckets;
};

struct curves {
	const struct envelope_span *span;
	bool is_rate;
	bool is_cut;
	struct group *groups;
	uint32_t count, capacity;
	struct text_index by_labels; /* numbers of groups */
	int64_t *newest; /* newest time in each bucket; 0 if the bucket is empty */

	struct tracker tracker; /* of the chunk's plan */
	uint32_t *group_of; /* index in @groups of each group of the selection */

	/* Sums of one group for each scrape of the chunk. */
	double sums[HISTORY_CHUNK_SCRAPES];
	int64_t times[HISTORY_CHUNK_SCRAPES];
	bool is_there[HISTORY_CHUNK_SCRAPES];
};

/* Returns the index of the group with these labels; -1 if there is no room; -ENOMEM. */
static int find_group(struct curves *curves, const char *labels, uint32_t hint)
{
	uint32_t max = HISTORY_QUERY_BUCKETS_MAX / curves->span->bucket_count;
	struct group *groups;
	uint32_t found;

	/* Consecutive plans contain mostly the same groups, in the same places if none has ended. */
	if (hint < curves->count && !strcmp(curves->groups[hint].labels, labels))
		return hint;
	found = text_index__find(&curves->by_labels, labels);
	if (found != TEXT_INDEX_NONE)
		return found;
	if (curves->count == max || curves->count == SELECTION_GROUPS_MAX) {
		curves->is_cut = true;
		return -1;
	}
	if (curves->count == curves->capacity) {
		curves->capacity = curves->capacity ? curves->capacity * 2 : 16;
		groups = reallocarray(curves->groups, curves->capacity, sizeof(*groups));
		if (!groups)
			return -ENOMEM;
		curves->groups = groups;
	}
	groups = &curves->groups[curves->count];
	groups->labels = strdup(labels);
	groups->buckets = calloc(curves->span->bucket_count, sizeof(*groups->buckets));
	curves->count++;
	if (!groups->labels || !groups->buckets ||
	    text_index__add(&curves->by_labels, groups->labels, curves->count - 1))
		return -ENOMEM;
	return curves->count - 1;
}

static int set_plan(struct curves *curves, struct metric_plan *plan,
		    const struct selection_query *query)
{
	const struct selection *selection = &curves->tracker.selection;
	uint32_t i;
	int ret, group;

	free(curves->group_of);
	curves->group_of = NULL;
	ret = tracker__set_plan(&curves->tracker, plan, query);
	if (ret)
		return ret;
	curves->group_of = calloc(selection->group_count ?: 1, sizeof(*curves->group_of));
	if (!curves->group_of)
		return -ENOMEM;
	for (i = 0; i < selection->group_count; i++) {
		group = find_group(curves, selection->groups[i], i);
		if (group == -ENOMEM)
			return -ENOMEM;
		curves->group_of[i] = group < 0 ? UINT32_MAX : (uint32_t)group;
	}
	if (selection->count)
		curves->is_rate = selection->rule.is_rate;
	return 0;
}

/* Adds the points of a series to the sums of its group. */
static void add_series(struct curves *curves, const struct history_chunk *chunk, uint32_t index)
{
	struct point_state *state = &curves->tracker.states[index];
	struct history_reader reader;
	double value, result;
	int64_t time_us;
	uint32_t i;

	history_reader__init(&reader, chunk, curves->tracker.selection.series[index]);
	for (i = 0;
	     i < history_chunk__scrapes(chunk) && history_reader__next(&reader, &time_us, &value);
	     i++) {
		if (!point_state__take(state, &curves->tracker.selection.rule, time_us, value,
				       &result) ||
		    isnan(result))
			continue;
		curves->sums[i] += result;
		if (!curves->is_there[i] || time_us > curves->times[i])
			curves->times[i] = time_us;
		curves->is_there[i] = true;
	}
}

static void add_sums(struct curves *curves, uint32_t group, uint32_t scrapes)
{
	uint32_t i;
	int bucket;

	for (i = 0; i < scrapes; i++) {
		if (!curves->is_there[i])
			continue;
		bucket = envelope_span__bucket(curves->span, curves->times[i]);
		if (bucket < 0)
			continue;
		envelope_bucket__take(&curves->groups[group].buckets[bucket], curves->sums[i]);
		if (curves->times[i] > curves->newest[bucket])
			curves->newest[bucket] = curves->times[i];
	}
}

/*
 * Sorts the series by group, with a counting sort: puts their indexes into @order, and the begin of
 * each group in @order into @first.
 */
static int sort_by_group(const struct selection *selection, uint32_t **order, uint32_t **first)
{
	uint32_t i, *ends;

	*first = calloc(selection->group_count + 1, sizeof(**first));
	*order = calloc(selection->count ?: 1, sizeof(**order));
	ends = calloc(selection->group_count + 1, sizeof(*ends));
	if (!*first || !*order || !ends) {
		free(ends);
		return -ENOMEM;
	}
	for (i = 0; i < selection->count; i++)
		(*first)[selection->group_of[i] + 1]++;
	for (i = 0; i < selection->group_count; i++)
		(*first)[i + 1] += (*first)[i];
	memcpy(ends, *first, (selection->group_count + 1) * sizeof(*ends));
	for (i = 0; i < selection->count; i++)
		(*order)[ends[selection->group_of[i]]++] = i;
	free(ends);
	return 0;
}

static int add_chunk(struct curves *curves, const struct history_chunk *chunk)
{
	const struct selection *selection = &curves->tracker.selection;
	uint32_t group, i, *order = NULL, *first = NULL;
	int ret = sort_by_group(selection, &order, &first);

	for (group = 0; !ret && group < selection->group_count; group++) {
		if (curves->group_of[group] == UINT32_MAX)
			continue;
		memset(curves->sums, 0, sizeof(curves->sums));
		memset(curves->is_there, 0, sizeof(curves->is_there));
		for (i = first[group]; i < first[group + 1]; i++)
			add_series(curves, chunk, order[i]);
		add_sums(curves, curves->group_of[group], history_chunk__scrapes(chunk));
	}
	free(order);
	free(first);
	return ret;
}

static void print_numbers(const struct curves *curves, const struct group *group, const char *name,
			  struct json_text *text)
{
	const struct envelope_bucket *bucket;
	const char *separator = "";
	uint32_t i;

	json_text__put(text, name);
	for (i = 0; i < curves->span->bucket_count; i++) {
		if (!curves->newest[i])
			continue;
		bucket = &group->buckets[i];
		json_text__put(text, separator);
		separator = ",";
		if (!bucket->count)
			json_text__put(text, "null");
		else if (name[3] == 'i')
			json_text__number(text, bucket->least);
		else if (name[3] == 'a')
			json_text__number(text, bucket->greatest);
		else
			json_text__rounded(text, bucket->sum / bucket->count);
	}
	json_text__put(text, "]");
}

static void print_group(const struct curves *curves, const struct group *group,
			struct json_text *text)
{
	bool is_line = true;
	uint32_t i;

	json_text__put(text, "{\"labels\":");
	json_text__string(text, group->labels);
	print_numbers(curves, group, ",\"min\":[", text);
	for (i = 0; i < curves->span->bucket_count; i++)
		if (group->buckets[i].count > 1)
			is_line = false;
	if (!is_line) {
		print_numbers(curves, group, ",\"max\":[", text);
		print_numbers(curves, group, ",\"mean\":[", text);
	}
	json_text__put(text, "}");
}

static void print(const struct curves *curves, struct json_text *text)
{
	const char *separator = "";
	uint32_t i;

	json_text__put(text, "{\"from\":");
	json_text__time(text, curves->span->from_us);
	json_text__put(text, ",\"to\":");
	json_text__time(text, curves->span->to_us);
	json_text__put(text, curves->is_rate ? ",\"rate\":true" : ",\"rate\":false");
	json_text__put(text, curves->is_cut ? ",\"cut\":true" : ",\"cut\":false");
	json_text__put(text, ",\"t\":[");
	for (i = 0; i < curves->span->bucket_count; i++) {
		if (!curves->newest[i])
			continue;
		json_text__put(text, separator);
		json_text__time(text, curves->newest[i]);
		separator = ",";
	}
	json_text__put(text, "],\"groups\":[");
	for (i = 0; i < curves->count; i++) {
		json_text__put(text, i ? "," : "");
		print_group(curves, &curves->groups[i], text);
	}
	json_text__put(text, "]}");
}

int history_query__print(const struct history_view *view, const struct selection_query *query,
			 const struct envelope_span *span, struct json_text *text)
{
	struct curves curves = { .span = span };
	struct metric_plan *plan;
	size_t i;
	int ret = 0;

	curves.newest = calloc(span->bucket_count, sizeof(*curves.newest));
	if (!curves.newest)
		return -ENOMEM;
	for (i = 0; i < view->count && !ret; i++) {
		plan = history_chunk__plan(view->chunks[i]);
		if (plan != curves.tracker.plan)
			ret = set_plan(&curves, plan, query);
		ret = ret ?: add_chunk(&curves, view->chunks[i]);
	}
	if (!ret)
		print(&curves, text);
	for (i = 0; i < curves.count; i++) {
		free(curves.groups[i].labels);
		free(curves.groups[i].buckets);
	}
	free(curves.groups);
	text_index__free(&curves.by_labels);
	free(curves.newest);
	free(curves.group_of);
	tracker__clear(&curves.tracker);
	return ret ?: text->has_failed ? -ENOMEM : 0;
}
