// SPDX-License-Identifier: GPL-2.0-only
/* Answers about one target: see web_pages_target.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history_query.h"
#include "movers.h"
#include "web_answer.h"
#include "web_pages_target.h"
#include "selection.h"

#define POINTS_DEFAULT 600
#define MOVERS_SECONDS 10
#define MOVERS_SECONDS_MAX 600
#define MOVERS_COUNT 100
/* Limit for times in requests: 2^52 ms. */
#define MS_MAX 4503599627370496.0

static void print_series(const struct metric_plan *plan, uint32_t index,
			 const struct metric_point *point, struct json_text *text)
{
	json_text__put(text, "[");
	json_text__string(text, plan->series[index].name);
	json_text__put(text, ",");
	json_text__string(text, plan->series[index].text);
	json_text__put(text, ",");
	json_text__number(text, point->time_ns ? point->value : NAN);
	json_text__put(text, ",");
	json_text__time(text, point->time_ns / 1000);
	json_text__put(text, "]");
}

static void print_family(const struct metric_plan *plan, const struct metric_family *family,
			 const struct metric_point *points, struct json_text *text)
{
	static const char *const types[] = {
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_UNTYPED] = "untyped",
		[METRIC_HISTOGRAM] = "histogram",
	};
	uint32_t i;

	json_text__put(text, "{\"name\":");
	json_text__string(text, family->name);
	json_text__put(text, ",\"type\":");
	json_text__string(text, types[family->type]);
	json_text__put(text, ",\"help\":");
	json_text__string(text, family->help);
	json_text__put(text, ",\"unit\":");
	json_text__string(text, family->unit);
	json_text__put(text, ",\"series\":[");
	for (i = family->first_series; i < family->first_series + family->series_count; i++) {
		json_text__put(text, i > family->first_series ? "," : "");
		print_series(plan, i, &points[i], text);
	}
	json_text__put(text, "]}");
}

/* The content of /api/series, copied, because printing takes longer than the lock may be held. */
struct copy {
	struct metric_plan *plan;
	struct metric_point *points;
	int64_t time_ns;
};

static int copy_points(struct web_target *target, struct copy *copy, struct json_text *text)
{
	int ret = 0;

	*copy = (struct copy){};
	pthread_mutex_lock(&target->lock);
	json_text__put(text, "{\"state\":");
	json_text__string(text, web_state__name(target->state));
	json_text__put(text, ",\"reason\":");
	json_text__string(text, target->reason ?: "");
	copy->time_ns = target->time_ns;
	if (target->plan) {
		copy->points = calloc(target->plan->series_count ?: 1, sizeof(*copy->points));
		if (copy->points) {
			copy->plan = metric_plan__get(target->plan);
			memcpy(copy->points, target->points,
			       copy->plan->series_count * sizeof(*copy->points));
		} else {
			ret = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&target->lock);
	return ret;
}

void web_pages_target__series(void *data, const struct http_request *request,
			      struct http_answer *answer)
{
	struct json_text text = {};
	struct web_target *target;
	struct copy copy;
	uint32_t i;
	int ret;

	if (!web_answer__is_allowed(request, answer))
		return;
	target = web_answer__find_target(data, request, answer);
	if (!target)
		return;
	ret = copy_points(target, &copy, &text);
	json_text__put(&text, ",\"t\":");
	json_text__time(&text, copy.time_ns / 1000);
	json_text__put(&text, ",\"families\":[");
	for (i = 0; copy.plan && i < copy.plan->family_count; i++) {
		json_text__put(&text, i ? "," : "");
		print_family(copy.plan, &copy.plan->families[i], copy.points, &text);
	}
	json_text__put(&text, "]}");
	web_answer__send(answer, &text, ret);
	if (copy.plan)
		metric_plan__put(copy.plan);
	free(copy.points);
	web_target__put(target);
}

static int view_of(struct web_target *target, int64_t from_us, int64_t to_us,
		   struct history_view *view)
{
	int ret;

	pthread_mutex_lock(&target->lock);
	ret = history__view(target->history, from_us, to_us, view);
	pthread_mutex_unlock(&target->lock);
	return ret;
}

/* Rates at the beginning need an earlier scrape, at most a minute old. */
#define BEFORE_US 60000000

static int print_history(struct web_target *target, const struct web_queries *queries,
			 const struct envelope_span *span, struct json_text *text)
{
	struct history_view view;
	size_t i;
	int ret = view_of(target, span->from_us - BEFORE_US, span->to_us, &view);

	json_text__put(text, "{\"plots\":[");
	for (i = 0; i < queries->count && !ret; i++) {
		json_text__put(text, i ? "," : "");
		ret = history_query__print(&view, &queries->queries[i], span, text);
	}
	json_text__put(text, "]}");
	history_view__clear(&view);
	return ret;
}

static bool get_span(const struct http_request *request, struct envelope_span *span)
{
	double from = 0, to = MS_MAX, points = POINTS_DEFAULT;

	if (!web_answer__get_number(request, "from", 0, MS_MAX, &from) ||
	    !web_answer__get_number(request, "to", 0, MS_MAX, &to) ||
	    !web_answer__get_number(request, "points", 1, ENVELOPE_BUCKETS_MAX, &points) ||
	    to <= from)
		return false;
	*span = (struct envelope_span){ from * 1000, to * 1000, points };
	return span->to_us > span->from_us;
}

void web_pages_target__history(void *data, const struct http_request *request,
			       struct http_answer *answer)
{
	struct json_text text = {};
	struct web_queries queries;
	struct envelope_span span;
	struct web_target *target;

	if (!web_answer__is_allowed(request, answer))
		return;
	if (!get_span(request, &span) ||
	    web_queries__parse(http_request__argument(request, "q"), &queries)) {
		answer->status = WEB_STATUS_BAD;
		return;
	}
	target = web_answer__find_target(data, request, answer);
	if (target) {
		web_answer__send(answer, &text, print_history(target, &queries, &span, &text));
		web_target__put(target);
	}
	web_queries__clear(&queries);
}

static int print_movers(struct web_target *target, double seconds, struct json_text *text)
{
	struct history_view view;
	int64_t now_us;
	int ret;

	pthread_mutex_lock(&target->lock);
	now_us = target->time_ns / 1000;
	ret = history__view(target->history, now_us - 2e6 * seconds - BEFORE_US, INT64_MAX, &view);
	pthread_mutex_unlock(&target->lock);
	json_text__put(text, "{\"movers\":");
	ret = ret ?: movers__print(&view, now_us, seconds * 1e6, MOVERS_COUNT, text);
	json_text__put(text, "}");
	history_view__clear(&view);
	return ret;
}

void web_pages_target__movers(void *data, const struct http_request *request,
			      struct http_answer *answer)
{
	double seconds = MOVERS_SECONDS;
	struct json_text text = {};
	struct web_target *target;

	if (!web_answer__is_allowed(request, answer))
		return;
	if (!web_answer__get_number(request, "seconds", 0.001, MOVERS_SECONDS_MAX, &seconds)) {
		answer->status = WEB_STATUS_BAD;
		return;
	}
	target = web_answer__find_target(data, request, answer);
	if (!target)
		return;
	web_answer__send(answer, &text, print_movers(target, seconds, &text));
	web_target__put(target);
}
