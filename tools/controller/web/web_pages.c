// SPDX-License-Identifier: GPL-2.0-only
/* Answers of the web server: see web_pages.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "web_answer.h"
#include "web_files.h"
#include "web_pages.h"
#include "web_pages_store.h"
#include "web_pages_target.h"
#include "selection.h"
#include "web_stream.h"

static void fill_file(void *data, const struct http_request *request, struct http_answer *answer)
{
	const struct web_file *file = data;

	web_answer__secure(answer);
	answer->type = file->type;
	answer->length = file->end - file->begin;
	answer->body = malloc(answer->length);
	if (answer->body)
		memcpy(answer->body, file->begin, answer->length);
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

static void fill_hosts(void *data, const struct http_request *request, struct http_answer *answer)
{
	const struct web_site *site = data;
	struct json_text text = {};
	struct web_target **list;
	uint64_t points;
	size_t count, i;

	if (!web_answer__is_allowed(request, answer))
		return;
	json_text__put(&text, "{\"history\":{\"bytes\":");
	json_text__integer(&text, web_targets__history_bytes(site->targets, &points));
	json_text__put(&text, ",\"points\":");
	json_text__integer(&text, points);
	json_text__put(&text, "},\"hosts\":[");
	list = web_targets__list(site->targets, &count);
	for (i = 0; list && i < count; i++) {
		json_text__put(&text, i ? "," : "");
		print_host(list[i], &text);
	}
	json_text__put(&text, "]}");
	web_answer__send(answer, &text, list ? 0 : -ENOMEM);
	web_targets__release(list, list ? count : 0);
}

static void fill_live(void *data, const struct http_request *request, struct http_answer *answer)
{
	const struct web_site *site = data;
	struct web_queries queries;
	struct web_target *target;

	if (!web_answer__is_allowed(request, answer))
		return;
	if (!http_request__argument(request, "target")) {
		answer->stream_data = overview_stream__new(site->targets);
		answer->stream = &overview_stream__operations;
	} else if (web_queries__parse(http_request__argument(request, "q"), &queries)) {
		answer->status = WEB_STATUS_BAD;
		return;
	} else {
		target = web_answer__find_target(site, request, answer);
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
		answer->status = WEB_STATUS_NO_MEMORY;
	}
}

struct http_page *web_pages__new(struct web_site *site, size_t *count)
{
	const struct http_page values[] = {
		{ .path = "/api/hosts", .fill = fill_hosts, .data = site },
		{ .path = "/api/series", .fill = web_pages_target__series, .data = site },
		{ .path = "/api/history", .fill = web_pages_target__history, .data = site },
		{ .path = "/api/movers", .fill = web_pages_target__movers, .data = site },
		{ .path = "/api/live", .fill = fill_live, .data = site },
		{ .path = "/api/schemas", .fill = web_pages_store__schemas, .data = site },
		{ .path = "/api/lookup", .fill = web_pages_store__lookup, .data = site },
	};
	const size_t value_count = sizeof(values) / sizeof(values[0]);
	struct http_page *pages;
	size_t i;

	pages = calloc(value_count + web_file_count, sizeof(*pages));
	if (!pages)
		return NULL;
	memcpy(pages, values, sizeof(values));
	for (i = 0; i < web_file_count; i++)
		pages[value_count + i] = (struct http_page){ .path = web_files[i].path,
							     .fill = fill_file,
							     .data = (void *)&web_files[i] };
	*count = value_count + web_file_count;
	return pages;
}
