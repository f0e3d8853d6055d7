// SPDX-License-Identifier: GPL-2.0-only
/* Answers of the web server: see web_pages.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history_query.h"
#include "movers.h"
#include "web_files.h"
#include "web_pages.h"
#include "web_query.h"
#include "web_stream.h"

#define STATUS_BAD	    400
#define STATUS_NO_TOKEN	    401
#define STATUS_OTHER_HOST   403
#define STATUS_NOT_FOUND    404
#define STATUS_NO_MEMORY    500

#define POINTS_DEFAULT	    600
#define MOVERS_SECONDS	    10
#define MOVERS_SECONDS_MAX  600
#define MOVERS_COUNT	    100
/* Times before and after it are no times of ours: 2^52 ms. */
#define MS_MAX		    4503599627370496.0

static const struct http_header headers[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
};

static void secure(struct http_answer *answer)
{
	answer->headers = headers;
	answer->header_count = sizeof(headers) / sizeof(headers[0]);
}

static void fill_file(void *data, const struct http_request *request,
		      struct http_answer *answer)
{
	const struct web_file *file = data;

	secure(answer);
	answer->type = file->type;
	answer->length = file->end - file->begin;
	answer->body = malloc(answer->length);
	if (answer->body)
		memcpy(answer->body, file->begin, answer->length);
}

/* May the request see values?  Otherwise the answer says why not. */
static bool is_allowed(const struct web_site *site,
		       const struct http_request *request,
		       struct http_answer *answer)
{
	secure(answer);
	if (site->is_open && web_access__allows(&site->access, request))
		return true;
	answer->status = site->access.length ? STATUS_NO_TOKEN :
					       STATUS_OTHER_HOST;
	return false;
}

/* Takes @text. */
static void send(struct http_answer *answer, struct json_text *text, int ret)
{
	if (ret || text->has_failed) {
		json_text__clear(text);
		answer->status = STATUS_NO_MEMORY;
		return;
	}
	answer->type = "application/json";
	answer->body = text->bytes;
	answer->length = text->length;
}

/* To be put; NULL: the answer says why. */
static struct web_target *find_target(const struct web_site *site,
				      const struct http_request *request,
				      struct http_answer *answer)
{
	const char *name = http_request__argument(request, "target");
	struct web_target *target =
		name ? web_targets__find(site->targets, name) : NULL;

	if (!target)
		answer->status = name ? STATUS_NOT_FOUND : STATUS_BAD;
	return target;
}

/* False: there is an argument, and it is no number from @least to @most. */
static bool get_number(const struct http_request *request, const char *name,
		       double least, double most, double *number)
{
	const char *text = http_request__argument(request, name);
	double found;
	char *end;

	if (!text)
		return true;
	found = strtod(text, &end);
	if (!*text || *end || !(found >= least && found <= most))
		return false;
	*number = found;
	return true;
}

static void print_past(const struct web_summary *summary, struct json_text *text)
{
	uint64_t count = summary->past_count, i;

	i = count > WEB_SUMMARY_PAST ? count - WEB_SUMMARY_PAST : 0;
	json_text__put(text, ",\"past\":[");
	for (; i < count; i++) {
		json_text__rounded(text, summary->past[i % WEB_SUMMARY_PAST]);
		json_text__put(text, i + 1 < count ? "," : "");
	}
	json_text__put(text, "]");
}

static void print_host(struct web_target *target, struct json_text *text)
{
	json_text__put(text, "{\"name\":");
	json_text__string(text, target->name);
	json_text__put(text, ",\"interval\":");
	json_text__number(text, target->interval_ns / 1e6);
	pthread_mutex_lock(&target->lock);
	json_text__put(text, ",\"series\":");
	json_text__integer(text, target->plan ? target->plan->series_count : 0);
	json_text__put(text, ",\"row\":");
	overview__print_row(target, text);
	print_past(&target->summary, text);
	pthread_mutex_unlock(&target->lock);
	json_text__put(text, "}");
}

static void fill_hosts(void *data, const struct http_request *request,
		       struct http_answer *answer)
{
	const struct web_site *site = data;
	struct json_text text = { };
	struct web_target **list;
	uint64_t points;
	size_t count, i;

	if (!is_allowed(site, request, answer))
		return;
	json_text__put(&text, "{\"history\":{\"bytes\":");
	json_text__integer(&text, web_targets__history_bytes(site->targets,
							     &points));
	json_text__put(&text, ",\"points\":");
	json_text__integer(&text, points);
	json_text__put(&text, "},\"hosts\":[");
	list = web_targets__list(site->targets, &count);
	for (i = 0; list && i < count; i++) {
		json_text__put(&text, i ? "," : "");
		print_host(list[i], &text);
	}
	json_text__put(&text, "]}");
	send(answer, &text, list ? 0 : -ENOMEM);
	web_targets__release(list, list ? count : 0);
}

static void print_series(const struct metric_plan *plan, uint32_t index,
			 const struct metric_point *point,
			 struct json_text *text)
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

static void print_family(const struct metric_plan *plan,
			 const struct metric_family *family,
			 const struct metric_point *points,
			 struct json_text *text)
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
	for (i = family->first_series;
	     i < family->first_series + family->series_count; i++) {
		json_text__put(text, i > family->first_series ? "," : "");
		print_series(plan, i, &points[i], text);
	}
	json_text__put(text, "]}");
}

/* What /api/series tells, copied, because it takes longer than the lock may be held. */
struct copy {
	struct metric_plan *plan;
	struct metric_point *points;
	int64_t time_ns;
};

static int copy_points(struct web_target *target, struct copy *copy,
		       struct json_text *text)
{
	int ret = 0;

	*copy = (struct copy){ };
	pthread_mutex_lock(&target->lock);
	json_text__put(text, "{\"state\":");
	json_text__string(text, web_state__name(target->state));
	json_text__put(text, ",\"reason\":");
	json_text__string(text, target->reason ?: "");
	copy->time_ns = target->time_ns;
	if (target->plan) {
		copy->points = calloc(target->plan->series_count ?: 1,
				      sizeof(*copy->points));
		if (copy->points) {
			copy->plan = metric_plan__get(target->plan);
			memcpy(copy->points, target->points,
			       copy->plan->series_count *
				       sizeof(*copy->points));
		} else {
			ret = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&target->lock);
	return ret;
}

static void fill_series(void *data, const struct http_request *request,
			struct http_answer *answer)
{
	struct json_text text = { };
	struct web_target *target;
	struct copy copy;
	uint32_t i;
	int ret;

	if (!is_allowed(data, request, answer))
		return;
	target = find_target(data, request, answer);
	if (!target)
		return;
	ret = copy_points(target, &copy, &text);
	json_text__put(&text, ",\"t\":");
	json_text__time(&text, copy.time_ns / 1000);
	json_text__put(&text, ",\"families\":[");
	for (i = 0; copy.plan && i < copy.plan->family_count; i++) {
		json_text__put(&text, i ? "," : "");
		print_family(copy.plan, &copy.plan->families[i], copy.points,
			     &text);
	}
	json_text__put(&text, "]}");
	send(answer, &text, ret);
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

/* Rates at the beginning need a scrape before: one of a minute ago at most. */
#define BEFORE_US 60000000

static int print_history(struct web_target *target,
			 const struct web_queries *queries,
			 const struct envelope_span *span,
			 struct json_text *text)
{
	struct history_view view;
	size_t i;
	int ret = view_of(target, span->from_us - BEFORE_US, span->to_us, &view);

	json_text__put(text, "{\"plots\":[");
	for (i = 0; i < queries->count && !ret; i++) {
		json_text__put(text, i ? "," : "");
		ret = history_query__print(&view, &queries->queries[i], span,
					   text);
	}
	json_text__put(text, "]}");
	history_view__clear(&view);
	return ret;
}

static bool get_span(const struct http_request *request,
		     struct envelope_span *span)
{
	double from = 0, to = MS_MAX, points = POINTS_DEFAULT;

	if (!get_number(request, "from", 0, MS_MAX, &from) ||
	    !get_number(request, "to", 0, MS_MAX, &to) ||
	    !get_number(request, "points", 1, ENVELOPE_BUCKETS_MAX, &points) ||
	    to <= from)
		return false;
	*span = (struct envelope_span){ from * 1000, to * 1000, points };
	return span->to_us > span->from_us;
}

static void fill_history(void *data, const struct http_request *request,
			 struct http_answer *answer)
{
	struct json_text text = { };
	struct web_queries queries;
	struct envelope_span span;
	struct web_target *target;

	if (!is_allowed(data, request, answer))
		return;
	if (!get_span(request, &span) ||
	    web_queries__parse(http_request__argument(request, "q"),
			       &queries)) {
		answer->status = STATUS_BAD;
		return;
	}
	target = find_target(data, request, answer);
	if (target) {
		send(answer, &text,
		     print_history(target, &queries, &span, &text));
		web_target__put(target);
	}
	web_queries__clear(&queries);
}

static int print_movers(struct web_target *target, double seconds,
			struct json_text *text)
{
	struct history_view view;
	int64_t now_us;
	int ret;

	pthread_mutex_lock(&target->lock);
	now_us = target->time_ns / 1000;
	ret = history__view(target->history, now_us - 2e6 * seconds - BEFORE_US,
			    INT64_MAX, &view);
	pthread_mutex_unlock(&target->lock);
	json_text__put(text, "{\"movers\":");
	ret = ret ?: movers__print(&view, now_us, seconds * 1e6, MOVERS_COUNT,
				   text);
	json_text__put(text, "}");
	history_view__clear(&view);
	return ret;
}

static void fill_movers(void *data, const struct http_request *request,
			struct http_answer *answer)
{
	double seconds = MOVERS_SECONDS;
	struct json_text text = { };
	struct web_target *target;

	if (!is_allowed(data, request, answer))
		return;
	if (!get_number(request, "seconds", 0.001, MOVERS_SECONDS_MAX,
			&seconds)) {
		answer->status = STATUS_BAD;
		return;
	}
	target = find_target(data, request, answer);
	if (!target)
		return;
	send(answer, &text, print_movers(target, seconds, &text));
	web_target__put(target);
}

static void fill_live(void *data, const struct http_request *request,
		      struct http_answer *answer)
{
	const struct web_site *site = data;
	struct web_queries queries;
	struct web_target *target;

	if (!is_allowed(site, request, answer))
		return;
	if (!http_request__argument(request, "target")) {
		answer->stream_data = overview_stream__new(site->targets);
		answer->stream = &overview_stream__operations;
	} else if (web_queries__parse(http_request__argument(request, "q"),
				      &queries)) {
		answer->status = STATUS_BAD;
		return;
	} else {
		target = find_target(site, request, answer);
		if (!target) {
			web_queries__clear(&queries);
			return;
		}
		answer->stream_data = live_stream__new(target, &queries);
		answer->stream = &live_stream__operations;
	}
	answer->type = "text/event-stream";
	if (!answer->stream_data) {
		answer->stream = NULL;
		answer->type = NULL;
		answer->status = STATUS_NO_MEMORY;
	}
}

struct http_page *web_pages__new(struct web_site *site, size_t *count)
{
	const struct http_page values[] = {
		{ "/api/hosts", fill_hosts, site },
		{ "/api/series", fill_series, site },
		{ "/api/history", fill_history, site },
		{ "/api/movers", fill_movers, site },
		{ "/api/live", fill_live, site },
	};
	const size_t value_count = sizeof(values) / sizeof(values[0]);
	struct http_page *pages;
	size_t i;

	pages = calloc(value_count + web_file_count, sizeof(*pages));
	if (!pages)
		return NULL;
	memcpy(pages, values, sizeof(values));
	for (i = 0; i < web_file_count; i++)
		pages[value_count + i] =
			(struct http_page){ web_files[i].path, fill_file,
					    (void *)&web_files[i] };
	*count = value_count + web_file_count;
	return pages;
}
