// SPDX-License-Identifier: GPL-2.0-only
/* Starts I/O threads, and chooses one for a target. */
#include "io_threads.h"

/* Operations in flight of the only agent. */
#define DEPTH_ALONE 1024

/* @number counts the threads. */
static int io_threads__start_one(struct io_threads *threads, struct io_thread_parts *parts,
				 bool polls, uint32_t *number, struct io_thread **thread)
{
	parts->name = polls ? "io poll" : "io event";
	parts->set = threads->set;
	parts->polls = polls;
	parts->number = (*number)++;
	return io_thread__start(parts, thread);
}

int io_threads__start(struct io_threads *threads, const struct settings *settings, bool is_alone,
		      struct flow_control *flow_control,
		      dart_endpoint_completion_handler *completed, struct dart_error *error)
{
	const enum settings_io io = settings->io ?: SETTINGS_IO_EVENT;
	const bool waits = io != SETTINGS_IO_POLL;
	const bool polls = io != SETTINGS_IO_EVENT;
	const struct dart_endpoint_sizes sizes = {
		.group = is_alone ? 1 : settings->io_group,
		.depth = is_alone ? DEPTH_ALONE : 0,
		.threads = waits + polls,
		.polling = polls << waits,
	};
	struct io_thread_parts parts = {
		.completed = completed,
		.flow_control = flow_control,
	};
	uint32_t number = 0;
	int err;

	threads->flow_control = flow_control;
	threads->polled_fragments = settings->io_fragments ?: SETTINGS_IO_FRAGMENTS_DEFAULT;
	err = dart_endpoint_set__new(&sizes, &threads->set, error);
	if (err)
		return err;
	dart_endpoint_set__mark(threads->set, settings->dscp);
	if (settings->mirror_bytes)
		dart_endpoint_set__offer_mirrors(threads->set, settings->mirror_bytes /
							      DART_CONTROL_BLOCK *
							      DART_CONTROL_BLOCK);
	if (waits)
		err = io_threads__start_one(threads, &parts, false, &number, &threads->event);
	if (!err && polls)
		err = io_threads__start_one(threads, &parts, true, &number, &threads->poll);
	threads->likely = threads->event ?: threads->poll;
	return err ? dart_error__system(error, -err, "cannot start an I/O thread") : 0;
}

void io_threads__stop(struct io_threads *threads)
{
	if (threads->event)
		io_thread__stop(threads->event);
	if (threads->poll)
		io_thread__stop(threads->poll);
	if (threads->call)
		io_thread__stop(threads->call);
}

void io_threads__free(struct io_threads *threads)
{
	io_thread__free(threads->event);
	io_thread__free(threads->poll);
	io_thread__free(threads->call);
	dart_endpoint_set__free(threads->set);
}

struct io_thread *io_threads__choose(struct io_threads *threads, uint64_t fragments)
{
	/* Most fleets are of one kind: the next target is like the last. */
	if (fragments && threads->event && threads->poll)
		threads->likely = fragments < threads->polled_fragments ? threads->poll :
									  threads->event;
	return threads->likely;
}

int io_threads__call(struct io_threads *threads, struct io_thread **thread)
{
	const struct io_thread_parts parts = {
		.name = "io call",
		.flow_control = threads->flow_control,
	};
	int err = 0;

	if (!threads->call)
		err = io_thread__start(&parts, &threads->call);
	*thread = threads->call;
	return err;
}
