// SPDX-License-Identifier: GPL-2.0-only
/* Opens replays as the options say, and ends them. */
#include "controller_replay.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "decode/budget.h"
#include "record/dump_openmetrics.h"

static void report(struct controller_replay *replay)
{
	if (replay->is_reported)
		return;
	replay->is_reported = true;
	replay->is_whole = replay__report(replay->replay, replay->context->log);
}

/* True if an output serves requests, which may come at any time. */
static bool is_looked_at(const struct options *options)
{
	return options->settings.outputs.listen.address || options->settings.outputs.web.address;
}

static void print_dump(struct work *work)
{
	struct controller_replay *replay = caa_container_of(work, struct controller_replay, print);

	replay->print_error = dump_openmetrics__print(replay->outputs->dump);
	eventfd_write(replay->printed_fd, 1);
}

static int on_printed(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct controller_replay *replay = data;

	replay->has_ended = true;
	return sd_event_exit(replay->context->event, 0);
}

static void on_ended(void *data)
{
	struct controller_replay *replay = data;
	const struct target_context *context = replay->context;

	if (replay->outputs->dump) {
		/* In a worker, so that the loop sees signals meanwhile. */
		replay->print.run = print_dump;
		workers__hand_over_always(context->workers, 0, &replay->print);
		return;
	}
	replay->has_ended = true;
	if (!is_looked_at(context->options)) {
		sd_event_exit(context->event, 0);
		return;
	}
	if (context->sink->owns_terminal)
		return;
	report(replay);
	output__print(
		context->log,
		"dart-controller: all is replayed; its last values are served until SIGINT or SIGTERM");
}

int controller_replay__open(struct controller_replay *replay, const struct target_context *context,
			    struct controller_outputs *outputs, struct dart_error *error)
{
	const struct options *options = context->options;
	const struct replay_context of_replay = {
		.event = context->event,
		.timers = context->timers,
		.workers = context->workers,
		.worker_count = options->settings.workers ?: SETTINGS_WORKERS_DEFAULT,
		.catalogs = context->catalogs,
		.sink = context->sink,
		.value_bytes = BUDGET_TEXT_BYTES,
		.ended = on_ended,
		.data = replay,
		.options = &options->replay,
	};

	int err;

	replay->context = context;
	replay->outputs = outputs;
	replay->printed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (replay->printed_fd < 0)
		return -errno;
	err = sd_event_add_io(context->event, &replay->printed, replay->printed_fd, EPOLLIN,
			      on_printed, replay);
	if (err < 0)
		return err;
	controller_outputs__set_waits(outputs, true);
	return replay__new(&of_replay, &replay->replay, error);
}

void controller_replay__stop(struct controller_replay *replay)
{
	if (!replay->context || replay->has_ended)
		return;
	controller_outputs__set_waits(replay->outputs, false);
	if (replay->outputs->dump)
		dump_openmetrics__give_up(replay->outputs->dump);
}

int controller_replay__finish(struct controller_replay *replay)
{
	if (!replay->replay)
		return 0;
	report(replay);
	return replay->print_error ?: replay->is_whole ? 0 : -EBADMSG;
}

void controller_replay__close(struct controller_replay *replay)
{
	/* controller_replay__open() was not called. */
	if (!replay->context)
		return;
	replay__free(replay->replay);
	sd_event_source_disable_unref(replay->printed);
	if (replay->printed_fd >= 0)
		close(replay->printed_fd);
	*replay = (struct controller_replay){};
}
