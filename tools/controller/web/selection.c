// SPDX-License-Identifier: GPL-2.0-only
/* Groups of series: see selection.h. */
#include "selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value_column.h"

static int compare_family(const void *name, const void *family)
{
	return strcmp(name, ((const struct metric_family *)family)->name);
}

const struct metric_family *metric_plan__find(const struct metric_plan *plan, const char *family)
{
	if (!plan->family_count)
		return NULL;
	return bsearch(family, plan->families, plan->family_count, sizeof(*plan->families),
		       compare_family);
}

/* "" if the series has no such label. */
static const char *metric_series__label(const struct metric_series *series, const char *name,
					size_t length)
{
	uint32_t i;

	for (i = 0; i < series->label_count; i++)
		if (!strncmp(series->labels[i].name, name, length) &&
		    !series->labels[i].name[length])
			return series->labels[i].value;
	return "";
}

static void print_escaped(FILE *to, const char *value)
{
	for (; *value; value++) {
		if (*value == '\n') {
			fputs("\\n", to);
			continue;
		}
		if (*value == '"' || *value == '\\')
			fputc('\\', to);
		fputc(*value, to);
	}
}

/* Returns the labels of the series that @names lists, as text; NULL if out of memory. */
static char *group_text(const struct metric_series *series, const char *names)
{
	const char *value, *separator = "";
	char *text = NULL;
	size_t length, size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (; *names; names += length + (names[length] == ',')) {
		length = strcspn(names, ",");
		value = metric_series__label(series, names, length);
		if (!*value)
			continue;
		fprintf(to, "%s%.*s=\"", separator, (int)length, names);
		print_escaped(to, value);
		fputc('"', to);
		separator = ",";
	}
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * Returns the text of a series; NULL if out of memory. The name is part of it where a family
 * contains several names, such as the sum and the count of a histogram.
 */
static char *series_text(const struct metric_plan *plan, const struct metric_series *series,
			 const char *by)
{
	const char *family = plan->families[series->family].name;
	char *text;

	if (by)
		return group_text(series, by);
	if (!strcmp(series->name, family))
		return strdup(series->text);
	if (asprintf(&text, "%s%s%s", series->name, *series->text ? "," : "", series->text) < 0)
		return NULL;
	return text;
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * Finds the place of a group in a hash table, which is twice as large as the largest number of
 * groups.
 */
#define PLACES (2 * SELECTION_GROUPS_MAX)

static uint16_t *find_place(const struct selection *selection, uint16_t *places, const char *text)
{
	uint32_t i = hash_of(text) % PLACES;

	while (places[i] && strcmp(selection->groups[places[i] - 1], text))
		i = (i + 1) % PLACES;
	return &places[i];
}

/* Adds a series to the group of @text, and takes @text. */
static void selection__add(struct selection *selection, uint16_t *places, uint32_t series,
			   char *text)
{
	uint16_t *place = find_place(selection, places, text);

	if (*place) {
		free(text);
	} else if (selection->group_count == SELECTION_GROUPS_MAX) {
		free(text);
		return;
	} else {
		selection->groups[selection->group_count++] = text;
		*place = selection->group_count;
	}
	selection->series[selection->count] = series;
	selection->group_of[selection->count++] = *place - 1;
}

static bool is_chosen(const struct metric_family *family, const struct metric_series *series,
		      const struct selection_query *query)
{
	/* Otherwise sums and counts would be added to buckets. */
	if (family->type == METRIC_HISTOGRAM && query->by &&
	    !*metric_series__label(series, "le", 2))
		return false;
	return !query->label ||
	       !strcmp(metric_series__label(series, query->label, strlen(query->label)),
		       query->value);
}

/*
 * The totals of pressure grow only when the kernel adds up the times of its CPUs, every 2 s
 * (PSI_FREQ in kernel/sched/psi.c).
 */
#define PRESSURE_HOLD_US 2500000

struct point_rule point_rule__of(const struct metric_family *family)
{
	bool is_pressure = family->type == METRIC_COUNTER && strstr(family->name, "_pressure_");

	return (struct point_rule){
		.is_rate = family->type == METRIC_COUNTER || family->type == METRIC_HISTOGRAM,
		.hold_us = is_pressure ? PRESSURE_HOLD_US : 0,
		.rate_max = is_pressure ? 1 : 0,
	};
}

static struct point_rule choose_rule(const struct metric_family *family,
				     const struct selection_query *query)
{
	struct point_rule rule = point_rule__of(family);

	if (query->rate != SELECTION_RATE_BY_TYPE)
		rule.is_rate = query->rate == SELECTION_RATE_ALWAYS;
	return rule;
}

int selection__make(const struct metric_plan *plan, const struct selection_query *query,
		    struct selection *selection)
{
	const struct metric_family *family = metric_plan__find(plan, query->family);
	const struct metric_series *series;
	uint16_t *places;
	uint32_t i;
	char *text;
	int ret = 0;

	*selection = (struct selection){};
	if (!family || !family->series_count)
		return 0;
	selection->rule = choose_rule(family, query);
	selection->series = calloc(family->series_count, sizeof(*selection->series));
	selection->group_of = calloc(family->series_count, sizeof(*selection->group_of));
	selection->groups = calloc(family->series_count, sizeof(*selection->groups));
	places = calloc(PLACES, sizeof(*places));
	if (!selection->series || !selection->group_of || !selection->groups || !places)
		ret = -ENOMEM;
	for (i = 0; !ret && i < family->series_count; i++) {
		series = &plan->series[family->first_series + i];
		if (!is_chosen(family, series, query))
			continue;
		text = series_text(plan, series, query->by);
		if (text)
			selection__add(selection, places, family->first_series + i, text);
		else
			ret = -ENOMEM;
	}
	free(places);
	return ret;
}

void selection__clear(struct selection *selection)
{
	uint32_t i;

	for (i = 0; selection->groups && i < selection->group_count; i++)
		free(selection->groups[i]);
	free(selection->groups);
	free(selection->group_of);
	free(selection->series);
	*selection = (struct selection){};
}

bool point_state__take(struct point_state *state, const struct point_rule *rule, int64_t time_us,
		       double value, double *result)
{
	double grown;
	bool is_held;

	if (value_column__is_gap(value))
		return false;
	if (!rule->is_rate) {
		*result = value;
		return true;
	}
	is_held = value == state->value && state->time_us &&
		  time_us - state->time_us < rule->hold_us;
	if (state->time_us && time_us > state->time_us && !is_held) {
		grown = value - state->value;
		if (grown < 0)
			grown = value;
		state->rate = grown * 1e6 / (time_us - state->time_us);
		if (rule->rate_max > 0 && state->rate > rule->rate_max)
			state->rate = rule->rate_max;
		state->has_rate = true;
	}
	if (time_us > state->time_us && !is_held) {
		state->time_us = time_us;
		state->value = value;
	}
	*result = state->rate;
	return state->has_rate;
}

void web_queries__clear(struct web_queries *queries)
{
	json_decref(queries->json);
	free(queries->queries);
	*queries = (struct web_queries){};
}

static int parse_one(json_t *json, struct selection_query *query)
{
	int rate = -1;

	if (json_unpack(json, "{s:s, s?s, s?s, s?s, s?b}", "family", &query->family, "by",
			&query->by, "label", &query->label, "value", &query->value, "rate", &rate))
		return -EINVAL;
	query->rate = rate < 0 ? SELECTION_RATE_BY_TYPE :
		      rate     ? SELECTION_RATE_ALWAYS :
				 SELECTION_RATE_NEVER;
	return !query->label == !query->value ? 0 : -EINVAL;
}

int web_queries__parse(const char *text, struct web_queries *queries)
{
	size_t i;
	int ret = 0;

	*queries = (struct web_queries){};
	if (!text || strlen(text) > WEB_QUERY_BYTES_MAX)
		return -EINVAL;
	queries->json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	queries->count = json_array_size(queries->json);
	if (!json_is_array(queries->json) || queries->count > WEB_QUERIES_MAX)
		ret = -EINVAL;
	if (!ret) {
		queries->queries = calloc(queries->count ?: 1, sizeof(*queries->queries));
		ret = queries->queries ? 0 : -ENOMEM;
	}
	for (i = 0; i < queries->count && !ret; i++)
		ret = parse_one(json_array_get(queries->json, i), &queries->queries[i]);
	if (ret)
		web_queries__clear(queries);
	return ret;
}
