// SPDX-License-Identifier: GPL-2.0-only
/* Events of all hosts: see web_stream.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>

#include "web_stream.h"

#define QUIET_NS 9000000000LL

void event_text__begin(struct event_text *event, const char *name)
{
	json_text__put(&event->text, "event: ");
	json_text__put(&event->text, name);
	json_text__put(&event->text, "\ndata: ");
}

void event_text__end(struct event_text *event)
{
	json_text__put(&event->text, "\n\n");
}

ssize_t event_text__read(struct event_text *event,
			 void (*make)(void *data, struct event_text *event), void *data,
			 char *buffer, size_t size)
{
	size_t left = event->text.length - event->taken;

	if (!left) {
		json_text__reset(&event->text);
		event->taken = 0;
		make(data, event);
		if (!event->text.length &&
		    dart_clock__ns(CLOCK_MONOTONIC) - event->sent_ns > QUIET_NS)
			json_text__put(&event->text, ":\n\n");
		if (event->text.has_failed)
			return -ENOMEM;
		left = event->text.length;
		if (left)
			event->sent_ns = dart_clock__ns(CLOCK_MONOTONIC);
	}
	if (left > size)
		left = size;
	if (left)
		memcpy(buffer, event->text.bytes + event->taken, left);
	event->taken += left;
	return left;
}

struct overview_stream {
	struct web_targets *targets;
	struct http_stream_link link;
	struct event_text event;
	bool is_begun;
	uint64_t change, generation; /* the last ones that the reader was told */
};

void overview__print_row(const struct web_target *target, struct json_text *text)
{
	const struct web_summary_values *now = &target->summary.now;
	bool is_summed = target->summary.past_count;

	json_text__put(text, "[");
	json_text__integer(text, target->index);
	json_text__put(text, ",");
	json_text__string(text, web_state__name(target->state));
	json_text__put(text, ",");
	json_text__rounded(text, is_summed ? now->cpu : NAN);
	json_text__put(text, ",");
	json_text__rounded(text, is_summed ? now->pressure : NAN);
	json_text__put(text, ",");
	json_text__rounded(text, is_summed ? now->errors : NAN);
	json_text__put(text, ",");
	json_text__time(text, target->time_ns / 1000);
	json_text__put(text, ",");
	json_text__string(text, target->reason ?: "");
	json_text__put(text, "]");
}

void *overview_stream__new(struct web_targets *targets)
{
	struct overview_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->targets = targets;
	/* The reader asks for the list once the stream is open, so it misses nothing. */
	stream->change = web_targets__change(targets);
	stream->generation = web_targets__generation(targets);
	return stream;
}

static void on_start(void *data, struct http_stream *http)
{
	struct overview_stream *stream = data;

	stream->link.stream = http;
	web_targets__add_stream(stream->targets, &stream->link);
}

static void on_free(void *data)
{
	struct overview_stream *stream = data;

	web_targets__remove_stream(stream->targets, &stream->link);
	json_text__clear(&stream->event.text);
	free(stream);
}

static void print_rows(struct overview_stream *stream, struct event_text *event)
{
	const char *separator = "";
	struct web_target **list;
	size_t count, i;

	list = web_targets__list(stream->targets, &count);
	event_text__begin(event, "hosts");
	json_text__put(&event->text, "{\"hosts\":[");
	for (i = 0; list && i < count; i++) {
		pthread_mutex_lock(&list[i]->lock);
		if (list[i]->changed > stream->change) {
			json_text__put(&event->text, separator);
			overview__print_row(list[i], &event->text);
			separator = ",";
		}
		pthread_mutex_unlock(&list[i]->lock);
	}
	json_text__put(&event->text, "]}");
	event_text__end(event);
	web_targets__release(list, list ? count : 0);
}

static void make(void *data, struct event_text *event)
{
	struct overview_stream *stream = data;
	/* Read before the rows, so a change in the meantime is sent again. */
	uint64_t change = web_targets__change(stream->targets);
	uint64_t generation = web_targets__generation(stream->targets);

	if (!stream->is_begun || generation != stream->generation) {
		event_text__begin(event, "list");
		json_text__put(&event->text, "{}");
		event_text__end(event);
	}
	if (change != stream->change)
		print_rows(stream, event);
	stream->is_begun = true;
	stream->generation = generation;
	stream->change = change;
}

static ssize_t on_read(void *data, char *buffer, size_t size)
{
	struct overview_stream *stream = data;

	return event_text__read(&stream->event, make, stream, buffer, size);
}

const struct http_stream_operations overview_stream__operations = {
	.start = on_start,
	.read = on_read,
	.free = on_free,
};
