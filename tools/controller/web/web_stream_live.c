// SPDX-License-Identifier: GPL-2.0-only
/* Events of a target: see web_stream.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracker.h"
#include "web_stream.h"

struct live_stream {
	struct web_target *target;
	struct http_stream_link link;
	struct web_queries queries;
	struct tracker *trackers; /* one for each query */
	struct event_text event;

	/* State that the reader was told. */
	bool is_begun;
	enum web_state state;
	char *reason;
	uint64_t plan_number, scrapes;
	bool is_gone, has_ended;

	/* A copy of the target's newest points. */
	struct metric_plan *plan;
	struct metric_point *points;
	double sums[SELECTION_GROUPS_MAX];
};

static void on_free(void *data)
{
	struct live_stream *stream = data;
	size_t i;

	web_target__remove_stream(stream->target, &stream->link);
	web_target__put(stream->target);
	for (i = 0; stream->trackers && i < stream->queries.count; i++)
		tracker__clear(&stream->trackers[i]);
	free(stream->trackers);
	web_queries__clear(&stream->queries);
	json_text__clear(&stream->event.text);
	if (stream->plan)
		metric_plan__put(stream->plan);
	free(stream->points);
	free(stream->reason);
	free(stream);
}

void *live_stream__new(struct web_target *target, struct web_queries *queries)
{
	struct live_stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		web_queries__clear(queries);
		web_target__put(target);
		return NULL;
	}
	stream->target = target;
	stream->queries = *queries;
	stream->trackers = calloc(queries->count ?: 1, sizeof(*stream->trackers));
	if (!stream->trackers) {
		on_free(stream);
		return NULL;
	}
	return stream;
}

static void on_start(void *data, struct http_stream *http)
{
	struct live_stream *stream = data;

	stream->link.stream = http;
	web_target__add_stream(stream->target, &stream->link);
}

struct news {
	bool has_state, has_plan, has_points;
};

/* Copies news from the target, whose lock the caller holds. After -ENOMEM nothing has changed. */
static int copy_points(struct live_stream *stream, struct news *news)
{
	struct web_target *target = stream->target;
	struct metric_point *points;

	if (!target->plan || target->scrapes == stream->scrapes)
		return 0;
	if (target->plan_number != stream->plan_number) {
		points = reallocarray(stream->points, target->plan->series_count ?: 1,
				      sizeof(*points));
		if (!points)
			return -ENOMEM;
		stream->points = points;
		if (stream->plan)
			metric_plan__put(stream->plan);
		stream->plan = metric_plan__get(target->plan);
		stream->plan_number = target->plan_number;
		news->has_plan = true;
	}
	memcpy(stream->points, target->points, target->plan->series_count * sizeof(*points));
	stream->scrapes = target->scrapes;
	news->has_points = true;
	return 0;
}

static bool equal(const char *one, const char *other)
{
	return !strcmp(one ?: "", other ?: "");
}

static int copy_news(struct live_stream *stream, struct news *news)
{
	struct web_target *target = stream->target;
	int ret;

	pthread_mutex_lock(&target->lock);
	ret = copy_points(stream, news);
	news->has_state = !stream->is_begun || stream->state != target->state ||
			  !equal(stream->reason, target->reason);
	if (news->has_state) {
		stream->state = target->state;
		free(stream->reason);
		stream->reason = target->reason ? strdup(target->reason) : NULL;
	}
	stream->is_gone = target->is_gone;
	stream->is_begun = true;
	pthread_mutex_unlock(&target->lock);
	return ret;
}

static void print_state(struct live_stream *stream, struct event_text *event)
{
	event_text__begin(event, "state");
	json_text__put(&event->text, "{\"state\":");
	json_text__string(&event->text, web_state__name(stream->state));
	json_text__put(&event->text, ",\"reason\":");
	json_text__string(&event->text, stream->reason ?: "");
	json_text__put(&event->text, "}");
	event_text__end(event);
}

static void print_groups(struct live_stream *stream, struct event_text *event)
{
	const struct selection *selection;
	uint32_t group;
	size_t i;

	event_text__begin(event, "groups");
	json_text__put(&event->text, "{\"groups\":[");
	for (i = 0; i < stream->queries.count; i++) {
		selection = &stream->trackers[i].selection;
		json_text__put(&event->text, i ? ",[" : "[");
		for (group = 0; group < selection->group_count; group++) {
			json_text__put(&event->text, group ? "," : "");
			json_text__string(&event->text, selection->groups[group]);
		}
		json_text__put(&event->text, "]");
	}
	json_text__put(&event->text, "]}");
	event_text__end(event);
}

static void print_points(struct live_stream *stream, struct event_text *event)
{
	struct json_text *text = &event->text;
	int64_t times[WEB_QUERIES_MAX];
	struct tracker *tracker;
	uint32_t group;
	size_t i;

	event_text__begin(event, "points");
	json_text__put(text, "{\"scrape\":");
	json_text__integer(text, stream->scrapes);
	json_text__put(text, ",\"v\":[");
	for (i = 0; i < stream->queries.count; i++) {
		tracker = &stream->trackers[i];
		times[i] = tracker__take(tracker, stream->points, stream->sums);
		json_text__put(text, i ? ",[" : "[");
		for (group = 0; group < tracker->selection.group_count; group++) {
			json_text__put(text, group ? "," : "");
			json_text__number(text, stream->sums[group]);
		}
		json_text__put(text, "]");
	}
	json_text__put(text, "],\"t\":[");
	for (i = 0; i < stream->queries.count; i++) {
		json_text__put(text, i ? "," : "");
		json_text__time(text, times[i]);
	}
	json_text__put(text, "]}");
	event_text__end(event);
}

static void make(void *data, struct event_text *event)
{
	struct live_stream *stream = data;
	struct news news = {};
	int ret = copy_news(stream, &news);
	size_t i;

	if (news.has_state)
		print_state(stream, event);
	for (i = 0; news.has_plan && i < stream->queries.count && !ret; i++)
		ret = tracker__set_plan(&stream->trackers[i], stream->plan,
					&stream->queries.queries[i]);
	if (ret) {
		event->text.has_failed = true;
		return;
	}
	if (news.has_plan)
		print_groups(stream, event);
	if (news.has_points)
		print_points(stream, event);
	if (stream->is_gone) {
		event_text__begin(event, "gone");
		json_text__put(&event->text, "{}");
		event_text__end(event);
		stream->has_ended = true;
	}
}

static ssize_t on_read(void *data, char *buffer, size_t size)
{
	struct live_stream *stream = data;

	if (stream->has_ended && stream->event.taken == stream->event.text.length)
		return -ENOENT;
	return event_text__read(&stream->event, make, stream, buffer, size);
}

const struct http_stream_operations live_stream__operations = {
	.start = on_start,
	.read = on_read,
	.free = on_free,
};
