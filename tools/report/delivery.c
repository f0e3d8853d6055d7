// SPDX-License-Identifier: GPL-2.0-only
/* Sends probes to the collectors of reliable connections, and takes their answers. */
#include <libdart/clock.h>

#include "delivery.h"

/* Packets, or time, between two looks for answers. */
#define LOOK_EVERY 16
#define LOOK_NS INT64_C(1000000)

/* The last reports are asked for as long as this. */
#define FINISH_NS INT64_C(2000000000)

int delivery__open(struct delivery *delivery, const struct dart_collectors *collectors,
		   const char *interface, struct dart_error *error)
{
	uint32_t i;

	for (i = 0; i < collectors->count; i++)
		if (collectors->list[i].is_reliable && !delivery->answers)
			return dart_answer_socket__open(interface, &delivery->answers, error);
	return 0;
}

void delivery__close(struct delivery *delivery)
{
	dart_answer_socket__close(delivery->answers);
}

/* Queues everything that is due at @now; *@due becomes the time of the next probe. */
static int queue_probes(const struct dart_collectors *collectors,
			struct dart_report_builder *builder, uint64_t now, uint64_t *due,
			struct dart_packet_socket *socket)
{
	uint64_t next;
	size_t length;
	uint32_t i;
	int ret = 0;

	*due = UINT64_MAX;
	for (i = 0; !ret && i < collectors->count; i++) {
		length = dart_report_builder__probe(builder, i, now,
						    dart_packet_socket__next(socket));
		if (length)
			ret = dart_packet_socket__push(socket, length);
		next = dart_report_builder__due(builder, i);
		if (next < *due)
			*due = next;
	}
	return ret;
}

/* Takes all answers that are there; waits for the first one until @due. */
static int receive(struct delivery *delivery, struct dart_report_builder *builder, uint64_t due)
{
	uint8_t frame[DART_ANSWER_SOCKET_FRAME_MAX];
	int length;

	while ((length = dart_answer_socket__receive(delivery->answers, due, frame)) > 0) {
		dart_report_builder__take(builder, frame, length, dart_clock__ns(CLOCK_MONOTONIC));
		due = 0;
	}
	return length;
}

int delivery__run(struct delivery *delivery, const struct dart_collectors *collectors,
		  struct dart_report_builder *builder, uint64_t until,
		  struct dart_packet_socket *socket)
{
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	uint64_t due;
	int ret;

	if (!delivery->answers)
		return 0;
	delivery->looked_at = now;
	ret = queue_probes(collectors, builder, now, &due, socket);
	/* Frames that wait for others in a batch, too, before this program waits. */
	if (!ret && until)
		ret = dart_packet_socket__flush(socket);
	return ret ?: receive(delivery, builder, due < until ? due : until);
}

int delivery__turn(struct delivery *delivery, const struct dart_collectors *collectors,
		   struct dart_report_builder *builder, struct dart_packet_socket *socket)
{
	if (!delivery->answers || (delivery->calls++ % LOOK_EVERY &&
				   dart_clock__ns(CLOCK_MONOTONIC) <
					   (int64_t)delivery->looked_at + LOOK_NS))
		return 0;
	return delivery__run(delivery, collectors, builder, 0, socket);
}

static bool is_settled(const struct dart_collectors *collectors,
		       const struct dart_report_builder *builder)
{
	struct dart_report_progress progress;
	uint32_t i;

	for (i = 0; i < collectors->count; i++) {
		progress = dart_report_builder__progress(builder, i);
		if (progress.state == DART_REPORT_FOLLOWED && !progress.is_settled)
			return false;
	}
	return true;
}

int delivery__finish(struct delivery *delivery, const struct dart_collectors *collectors,
		     struct dart_report_builder *builder, struct dart_packet_socket *socket)
{
	const int64_t end = dart_clock__ns(CLOCK_MONOTONIC) + FINISH_NS;
	int ret = dart_packet_socket__flush(socket);

	while (!ret && delivery->answers && !is_settled(collectors, builder) &&
	       dart_clock__ns(CLOCK_MONOTONIC) < end)
		ret = delivery__run(delivery, collectors, builder, end, socket);
	return ret;
}

const struct dart_collector *delivery__missing(const struct dart_collectors *collectors,
					       const struct dart_report_builder *builder,
					       enum dart_report_state *state)
{
	uint32_t i;

	for (i = 0; i < collectors->count; i++) {
		*state = dart_report_builder__progress(builder, i).state;
		if (*state == DART_REPORT_ASKING || *state == DART_REPORT_REFUSED)
			return &collectors->list[i];
	}
	return NULL;
}
