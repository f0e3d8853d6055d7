// SPDX-License-Identifier: GPL-2.0-only
/* Runs all targets in one event loop and prints the summaries. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "controller.h"
#include "flow.h"
#include "io/timers.h"
#include "target.h"

struct controller {
	struct target_context context;
	struct target **targets;
	size_t target_count;
	size_t unfinished;
	int result;		/* the first of a target that was not 0 */
};

static void on_finished(struct target_context *context, int result)
{
	/* The context is the first member. */
	struct controller *controller = (struct controller *)context;

	if (!controller->result)
		controller->result = result;
	/* An unreachable target does not stop the others; an error does. */
	if (--controller->unfinished && (!result || result == -EHOSTUNREACH))
		return;
	sd_event_exit(context->event, 0);
}

static int catch_signals(sd_event *event)
{
	sigset_t set;
	int err;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	/* Without a handler, a signal ends the loop. */
	err = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
	if (err >= 0)
		err = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	return err < 0 ? err : 0;
}

static int controller__open(struct controller *controller,
			    const struct options *options)
{
	const struct settings *settings = &options->settings;
	struct target_context *context = &controller->context;
	size_t i;
	int err;

	context->options = options;
	context->finished = on_finished;
	context->sink = options->json ? sink_json__new() :
		sink_table__new(stdout, settings->target_count, options->once);
	controller->targets =
		calloc(settings->target_count, sizeof(*controller->targets));
	if (!context->sink || !controller->targets)
		return -ENOMEM;

	err = sd_event_new(&context->event);
	if (err < 0)
		return err;
	/* Before the threads of the resolver: they leave signals to the loop. */
	err = catch_signals(context->event);
	if (err)
		return err;
	err = timers__new(context->event, &context->timers) ?:
	      resolver__new(context->event, &context->resolver) ?:
	      flow_control__new(context->timers, settings,
				&context->flow_control);
	if (err)
		return err;
	for (i = 0; i < settings->target_count; i++) {
		err = target__new(context, &settings->targets[i],
				  &controller->targets[i]);
		if (err)
			return err;
		controller->target_count++;
	}
	controller->unfinished = controller->target_count;
	return 0;
}

static void controller__close(struct controller *controller)
{
	struct sink *sink = controller->context.sink;
	size_t i;

	for (i = 0; i < controller->target_count; i++)
		target__free(controller->targets[i]);
	free(controller->targets);
	resolver__free(controller->context.resolver);
	flow_control__free(controller->context.flow_control);
	timers__free(controller->context.timers);
	if (sink)
		sink->operations->free(sink);
	sd_event_unref(controller->context.event);
}

static void print_summary(const char *name, const struct summary *summary)
{
	const struct latency *latency = &summary->decoded;

	fprintf(stderr,
		"dart-controller: %s: %llu scrapes, %llu failed, %llu missed, %llu discarded",
		name, (unsigned long long)summary->scrapes,
		(unsigned long long)summary->failed,
		(unsigned long long)summary->missed,
		(unsigned long long)summary->discarded);
	if (summary->scrapes)
		fprintf(stderr,
			"; %.1f READs, %.0f bytes each; latency in us: min %.1f, p50 %.1f, p90 %.1f, p99 %.1f, max %.1f",
			(double)summary->reads / summary->scrapes,
			(double)summary->bytes / summary->scrapes,
			latency->min / 1e3,
			latency__percentile(latency, 50) / 1e3,
			latency__percentile(latency, 90) / 1e3,
			latency__percentile(latency, 99) / 1e3,
			latency->max / 1e3);
	fputc('\n', stderr);
}

static int controller__summarize(struct controller *controller)
{
	const struct target_settings *target =
		controller->context.options->settings.targets;
	struct sink *sink = controller->context.sink;
	const struct summary *summary;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < controller->target_count; i++, target++) {
		summary = target__summary(controller->targets[i]);
		if (sink->operations->summary)
			err = sink->operations->summary(sink, target, summary);
		if (!err)
			print_summary(target->name, summary);
	}
	return err;
}

int controller__run(const struct options *options)
{
	struct controller controller = { };
	int err;

	err = controller__open(&controller, options) ?:
	      sd_event_loop(controller.context.event) ?: controller.result;
	if (!err && options->once && controller.unfinished)
		err = -EINTR;
	if ((!err || err == -EHOSTUNREACH) && !options->once)
		err = controller__summarize(&controller) ?: err;
	controller__close(&controller);

	/* Unreachable targets have been reported. */
	if (err && err != -EHOSTUNREACH)
		fprintf(stderr, "dart-controller: cannot continue: %s\n",
			strerror(-err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
