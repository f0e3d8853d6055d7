// SPDX-License-Identifier: GPL-2.0-only
/* The threads of a controller around hosts in memory: see scraping.h. */
#include "scraping.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gathered_hosts.h"
#include "simulated_network.h"
#include "thread_clock.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/decode/catalog.h"
#include "tools/controller/fleet/target_private.h"
#include "tools/controller/flow/flow.h"
#include "tools/controller/transport/transport_read.h"

/* Runs until the control loop checks that all are connected, or the time is over. */
#define LOOK_US 10000

struct scraping {
	struct target_context context; /* first: found by it */
	const struct scraping_settings *settings;
	struct options options;
	struct catalogs catalogs;
	struct rate_sink *sink;
	struct gathered_hosts *hosts;
	sd_event_source *connections, *mail;
	struct target **targets;
	struct target_settings *of_targets;
	struct thread_clock io_clocks[SETTINGS_IO_THREADS_MAX];
	struct thread_clock worker_clocks[SETTINGS_WORKERS_MAX];
	uint32_t finished;
	uint64_t end_ns; /* CLOCK_MONOTONIC */
};

/* The counts at a moment, to be compared with a later moment. */
struct moment {
	struct scraping_span span; /* since the beginning of time, without the adapter */
	struct simulated_work adapter;
};

static void must(int result, const char *call)
{
	if (result < 0)
		errx(EXIT_FAILURE, "%s: %s", call, strerror(-result));
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* ---- the control loop */

static void on_finished(struct target_context *context, struct target *target, int result)
{
	must(result, "a target ends");
	((struct scraping *)context)->finished++;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct scraping *scraping = data;

	return dart_endpoint_set__on_connection(scraping->context.io.set,
						transport_read__on_connection);
}

static int on_mail(sd_event_source *source, int fd, uint32_t events, void *data)
{
	mailbox__read(data);
	return 0;
}

static void scraping__run_until(struct scraping *scraping, bool (*done)(struct scraping *scraping))
{
	while (!done(scraping))
		must(sd_event_run(scraping->context.event, LOOK_US), "the event loop");
}

static bool all_have_samples(struct scraping *scraping)
{
	return rate_sink__sums(scraping->sink).started == scraping->settings->targets;
}

static bool all_are_finished(struct scraping *scraping)
{
	return scraping->finished == scraping->settings->targets;
}

static bool is_over(struct scraping *scraping)
{
	return monotonic_ns() >= scraping->end_ns;
}

/* ---- spans */

static void moment__take(struct moment *moment, const struct scraping *scraping)
{
	struct scraping_span *span = &moment->span;
	const struct summary *summary;
	uint32_t i;

	*span = (struct scraping_span){
		.elapsed_ns = monotonic_ns(),
		.loop_ns = cpu_ns(),
	};
	for (i = 0; i < scraping->settings->io_threads; i++)
		span->io_ns += thread_clock__ns(&scraping->io_clocks[i]);
	moment->adapter = simulated_adapter__work(simulated_network__adapter());
	for (i = 0; i < scraping->settings->targets; i++) {
		summary = target__summary(scraping->targets[i]);
		span->scrapes += count__of(&summary->scrapes);
		span->reads += count__of(&summary->reads);
		span->bytes += count__of(&summary->bytes);
		span->missed += count__of(&summary->missed);
		span->dropped += count__of(&summary->dropped);
	}
	for (i = 0; i < scraping->settings->workers; i++)
		span->worker_ns[i] = thread_clock__ns(&scraping->worker_clocks[i]);
}

static void scraping_span__between(struct scraping_span *span, const struct moment *before,
				   const struct moment *after)
{
	const struct scraping_span *from = &before->span, *to = &after->span;

	*span = (struct scraping_span){
		.elapsed_ns = to->elapsed_ns - from->elapsed_ns,
		.scrapes = to->scrapes - from->scrapes,
		.reads = to->reads - from->reads,
		.bytes = to->bytes - from->bytes,
		.missed = to->missed - from->missed,
		.dropped = to->dropped - from->dropped,
		.loop_ns = to->loop_ns - from->loop_ns,
		.io_ns = to->io_ns - from->io_ns,
		.adapter_ns = simulated_work__ns(&before->adapter, &after->adapter),
	};
	for (int i = 0; i < SETTINGS_WORKERS_MAX; i++)
		span->worker_ns[i] = to->worker_ns[i] - from->worker_ns[i];
}

/* ---- beginning and end */

static void scraping__open(struct scraping *scraping)
{
	struct target_context *context = &scraping->context;
	const struct settings *settings = &scraping->options.settings;
	struct dart_error error;

	context->options = &scraping->options;
	context->sink = &scraping->sink->sink;
	context->catalogs = &scraping->catalogs;
	context->finished = on_finished;
	context->target_count = SIZE_MAX;
	must(sd_event_new(&context->event), "the event loop");
	must(output__open(STDERR_FILENO, "standard error", OUTPUT_BYTES, NULL, &context->log),
	     "the log");
	must(workers__start(scraping->settings->workers, &context->workers), "workers");
	must(catalogs__open(&scraping->catalogs), "catalogs");
	must(timers__new(context->event, &context->timers), "timers");
	handshakes__open(&context->handshakes, context->timers, SETTINGS_HANDSHAKES_DEFAULT);
	must(resolver__new(context->event, &context->resolver), "resolver");
	must(flow_control__new(context->timers, settings, false, &context->flow_control),
	     "flow control");
	must(mailbox__open(&context->mailbox), "mailbox");
	must(sd_event_add_io(context->event, &scraping->mail, mailbox__fd(&context->mailbox),
			     EPOLLIN, on_mail, &context->mailbox),
	     "mailbox");
	if (io_threads__start(&context->io, settings, false, context->flow_control,
			      transport_read__on_completion, &error))
		errx(EXIT_FAILURE, "%s", error.text);
	must(sd_event_add_io(context->event, &scraping->connections,
			     dart_endpoint_set__connection_fd(context->io.set), EPOLLIN,
			     on_connection, scraping),
	     "connections");
	for (uint32_t i = 0; i < scraping->settings->io_threads; i++)
		thread_clock__of_io(&scraping->io_clocks[i],
				    io_threads__choose(&context->io, i, 0));
	for (uint32_t i = 0; i < scraping->settings->workers; i++)
		thread_clock__of_worker(&scraping->worker_clocks[i], context->workers, i);
}

static void scraping__add(struct scraping *scraping, uint32_t index)
{
	struct target_settings *settings = &scraping->of_targets[index];

	settings->index = index;
	settings->port = DART_CONTROL_PORT;
	settings->transport = SETTINGS_TRANSPORT_READ;
	if (asprintf(&settings->host, "10.%u.%u.%u", index >> 16,
		     index >> 8 & 255, index & 255) < 0)
		err(EXIT_FAILURE, "memory");
	settings->name = settings->host;
	must(target__new(&scraping->context, settings, &scraping->targets[index]), "a target");
}

static void scraping__stop(struct scraping *scraping)
{
	uint32_t i;

	for (i = 0; i < scraping->settings->targets; i++)
		target__stop(scraping->targets[i]);
	scraping__run_until(scraping, all_are_finished);
	io_threads__stop(&scraping->context.io);
	workers__stop(scraping->context.workers);
}

static void scraping__close(struct scraping *scraping)
{
	struct target_context *context = &scraping->context;
	uint32_t i;

	for (i = 0; i < scraping->settings->targets; i++) {
		target__free(scraping->targets[i]);
		free(scraping->of_targets[i].host);
	}
	sd_event_source_disable_unref(scraping->connections);
	io_threads__free(&context->io);
	sd_event_source_disable_unref(scraping->mail);
	mailbox__close(&context->mailbox);
	resolver__free(context->resolver);
	flow_control__free(context->flow_control);
	handshakes__close(&context->handshakes);
	timers__free(context->timers);
	catalogs__close(&scraping->catalogs);
	sd_event_unref(context->event);
	output__close(context->log);
	rate_sink__free(scraping->sink);
	gathered_hosts__free(scraping->hosts);
	free(scraping->targets);
	free(scraping->of_targets);
}

static void scraping__add_up(const struct scraping *scraping, struct scraping_result *result)
{
	const struct summary *summary;

	for (uint32_t i = 0; i < scraping->settings->targets; i++) {
		summary = target__summary(scraping->targets[i]);
		result->scrapes += count__of(&summary->scrapes);
		result->dropped += count__of(&summary->dropped);
		result->discarded += count__of(&summary->discarded);
		result->failed += count__of(&summary->failed);
		result->missed += count__of(&summary->missed);
	}
	result->output = rate_sink__sums(scraping->sink);
}

/* ---- runs */

static struct scraping *scraping__new(const struct scraping_settings *settings)
{
	struct scraping *scraping = simulated__allocate(sizeof(*scraping));
	const uint32_t count = settings->targets;

	scraping->settings = settings;
	scraping->options.count = settings->count;
	scraping->options.settings.interval_ns = settings->interval_ns;
	scraping->options.settings.io = settings->io;
	scraping->options.settings.io_threads = settings->io_threads;
	scraping->targets = simulated__allocate(count * sizeof(*scraping->targets));
	scraping->of_targets = simulated__allocate(count * sizeof(*scraping->of_targets));
	scraping->hosts = gathered_hosts__new(count);
	simulated_network__open(gathered_hosts__all(scraping->hosts), count);
	scraping->sink = rate_sink__new(count, settings->check_every);
	return scraping;
}

void scraping__run(const struct scraping_settings *settings, struct scraping_result *result)
{
	struct scraping *scraping = scraping__new(settings);
	struct moment before, after;
	uint32_t i;

	*result = (struct scraping_result){};
	scraping__open(scraping);
	for (i = 0; i < settings->targets; i++)
		scraping__add(scraping, i);
	scraping__run_until(scraping, all_have_samples);
	moment__take(&before, scraping);
	scraping->end_ns = monotonic_ns() + settings->duration_ns;
	scraping__run_until(scraping, settings->count ? all_are_finished : is_over);
	moment__take(&after, scraping);
	scraping_span__between(&result->span, &before, &after);
	scraping__stop(scraping);
	scraping__add_up(scraping, result);
	scraping__close(scraping);
	free(scraping);
}

const char *scraping_result__fault(const struct scraping_result *result)
{
	const struct rate_sums *output = &result->output;

	if (output->lost)
		return "a target was lost";
	if (output->samples + result->dropped != result->scrapes)
		return "scrapes that completed are neither in the output nor dropped";
	if (output->torn)
		return "rows are torn, although no host writes while it is READ";
	if (!output->checked)
		return "no sample was checked";
	if (output->wrong)
		return "samples have other values than their hosts";
	return NULL;
}
