// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs all targets in one control loop and prints the summaries.
 *
 * Threads: the control loop connects to targets; I/O threads READ from connected targets, and
 * hand the bytes that landed over to workers; workers decode them, and pass texts to the thread
 * of each output, to which the loop passes messages.  No thread waits for one that is later in
 * this order.  So the controller opens them from the last to the first and ends them from the
 * first to the last: the loop, the I/O threads, the workers after all work that was handed over,
 * the outputs after all texts are written.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "condition/condition.h"
#include "controller.h"
#include "controller_drain.h"
#include "controller_outputs.h"
#include "controller_replay.h"
#include "decode/catalog.h"
#include "fleet/fleet.h"
#include "fleet/target.h"
#include "flow/flow.h"
#include "record/recorder.h"
#include "status/status_server.h"
#include "transport/certificates.h"
#include "transport/transport_read.h"

/* ---- the recording that a controller writes in addition to its outputs */

/* Zeroed memory: nothing is recorded. */
struct controller_record {
	const struct target_context *context;
	struct recorder *recorder;
	struct output_list *outputs; /* the list that the recorder is in */
	sd_event_source *ended;
};

/* The only file of the recording is full, or cannot be written.  Outputs continue. */
static int on_ended(sd_event_source *source, int fd, uint32_t events, void *data)
{
	const struct controller_record *record = data;
	const struct options *options = record->context->options;

	/* The recorder logged the reason; controller_record__close() returns its error. */
	if (options->only_records && !options->json &&
	    !output_settings__has_any(&options->settings.outputs))
		return sd_event_exit(record->context->event, 0);
	return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

/*
 * Starts the recording if the options of @context ask for one, and sets the tap of @context.
 * Returns 0, or -errno with a sentence in @error.  Call controller_record__close() in both cases.
 */
static int controller_record__open(struct controller_record *record, struct target_context *context,
				   struct dart_error *error)
{
	const struct options *options = context->options;
	int err;

	record->context = context;
	record->outputs = &context->outputs;
	if (!options->settings.record.path || options->replay.files)
		return 0;
	err = recorder__open(&options->settings.record, context->log, &record->recorder, error);
	if (err)
		return err;
	err = output_list__add(&context->outputs, recorder__figures, record->recorder);
	if (err)
		return err;
	context->tap = recorder__tap(record->recorder);
	err = sd_event_add_io(context->event, &record->ended, recorder__event_fd(record->recorder),
			      EPOLLIN, on_ended, record);
	return err < 0 ? err : 0;
}

/*
 * Ends the recording after the workers stopped.  Returns 0, or -errno if the recorder could not
 * write it to its end, which it logged.
 */
static int controller_record__close(struct controller_record *record)
{
	int err;

	sd_event_source_disable_unref(record->ended);
	if (record->recorder)
		output_list__remove(record->outputs, record->recorder);
	err = recorder__close(record->recorder);
	*record = (struct controller_record){};
	return err;
}

/* ---- the controller */

struct controller {
	struct target_context context;
	struct condition condition;
	struct controller_outputs outputs;
	sd_event_source *output_failed;
	sd_event_source *connections;
	sd_event_source *mail; /* from I/O threads */
	bool has_mailbox;
	struct catalogs catalogs;
	struct fleet *fleet; /* NULL in a replay */
	struct controller_replay replay;
	struct controller_record record;
	int record_error; /* the result of controller_record__close() */
	struct status_server *status; /* NULL: without a control socket */
	bool interrupted; /* by a signal */
};

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	struct controller *controller = data;
	const bool was_interrupted = controller->interrupted;

	controller->interrupted = true;
	/* Whoever ends the service need not wait: a second signal ends it at once. */
	if (info->ssi_signo == SIGTERM && !was_interrupted && fleet__leave(controller->fleet))
		return 0;
	return sd_event_exit(controller->context.event, 0);
}

/* Requested by a signal, or over HTTP. */
static void controller__reload(void *data)
{
	struct controller *controller = data;
	struct target_context *context = &controller->context;
	struct dart_error error;
	int err = certificates__load(&context->options->settings.tls, &context->tls, &error);

	if (!err)
		err = controller_servers__reload(&controller->outputs.servers, &error);
	condition__set_certificates(&controller->condition, err);
	if (err && !context->sink->owns_terminal)
		output__print(context->log,
			      "dart-controller: %s; certificates and secrets stay as they were",
			      error.text);
	fleet__reload(controller->fleet);
}

/* The configuration was read again. */
static void on_configured(struct target_context *context, const struct output_settings *settings)
{
	struct controller *controller = caa_container_of(context, struct controller, context);
	struct dart_error error;
	bool are_taken;

	are_taken = !controller_receivers__want(&controller->outputs.receivers, settings, &error);
	if (!are_taken)
		output__print(context->log,
			      "dart-controller: %s; receivers stay as they were", error.text);
	are_taken &= controller_servers__want(&controller->outputs.servers, settings);
	condition__set_outputs(&controller->condition, !are_taken);
}

/* SIGHUP */
static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	controller__reload(data);
	return 0;
}

static bool is_ready(void *data)
{
	const struct controller *controller = data;

	return discovery__is_complete(fleet__discovery(controller->fleet));
}

static void look_at_threads(void *data)
{
	struct controller *controller = data;
	struct target_context *context = &controller->context;
	struct thread_figures figures[IO_FIGURES_MAX];

	condition__set_threads(&controller->condition, figures,
			       io_threads__look(&context->io, context->workers, figures));
}

/* The only output is standard output, and it failed. */
static int on_output_failed(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct controller *controller = data;

	return sd_event_exit(controller->context.event, 0);
}

static int controller__catch_signals(struct controller *controller)
{
	sd_event *event = controller->context.event;
	/* Without a file to reload, SIGHUP still ends the program when its terminal is closed. */
	const bool reloads = controller->context.options->config;
	sigset_t set;
	int err;

	controller_drain__signals(&set);
	if (reloads)
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	err = sd_event_add_signal(event, NULL, SIGINT, on_signal, controller);
	if (err >= 0)
		err = sd_event_add_signal(event, NULL, SIGTERM, on_signal, controller);
	if (err >= 0 && reloads)
		err = sd_event_add_signal(event, NULL, SIGHUP, on_reload, controller);
	return err < 0 ? err : 0;
}

static int controller__open_outputs(struct controller *controller, struct dart_error *error)
{
	struct target_context *context = &controller->context;
	struct controller_outputs *outputs = &controller->outputs;
	int err;

	/* Its figures tell of messages that did not fit: nobody else could say so. */
	err = output__open(STDERR_FILENO, "standard error", OUTPUT_BYTES, NULL, &context->log) ?:
		      output_list__add(&context->outputs, output__figures, context->log) ?:
		      controller_outputs__open(outputs, context->options, context->log,
					       &context->outputs, error);
	if (err)
		return err;
	context->sink = outputs->sink;
	err = sd_event_add_io(context->event, &controller->output_failed,
			      output__event_fd(outputs->standard), EPOLLIN, on_output_failed,
			      controller);
	return err < 0 ? err : 0;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct controller *controller = data;
	struct target_context *context = &controller->context;
	int err;

	err = dart_endpoint_set__on_connection(context->io.set, transport_read__on_connection);
	return err ? sd_event_exit(context->event, err) : 0;
}

static int on_mail(sd_event_source *source, int fd, uint32_t events, void *data)
{
	mailbox__read(data);
	return 0;
}

static int controller__open_mailbox(struct controller *controller)
{
	struct target_context *context = &controller->context;
	int err;

	controller->has_mailbox = true;
	err = mailbox__open(&context->mailbox);
	if (err)
		return err;
	err = sd_event_add_io(context->event, &controller->mail, mailbox__fd(&context->mailbox),
			      EPOLLIN, on_mail, &context->mailbox);
	return err < 0 ? err : 0;
}

static int controller__open_io(struct controller *controller, struct dart_error *error)
{
	struct target_context *context = &controller->context;
	int err;

	err = io_threads__start(&context->io, &context->options->settings,
				options__has_one_target(context->options), context->flow_control,
				transport_read__on_completion, error);
	if (err)
		return err;
	err = sd_event_add_io(context->event, &controller->connections,
			      dart_endpoint_set__connection_fd(context->io.set), EPOLLIN,
			      on_connection, controller);
	return err < 0 ? err : 0;
}

static int controller__open_status(struct controller *controller, struct dart_error *error)
{
	struct target_context *context = &controller->context;
	const char *path = context->options->socket;
	int err;

	/* RUNTIME_DIRECTORY may belong to the service, which may run at the same time. */
	if (context->options->once && !path)
		return 0;
	err = status_server__new(context, controller->outputs.standard, path, &controller->status,
				 error);
	if (err != -EADDRINUSE || path)
		return err;
	if (!context->sink->owns_terminal)
		output__print(context->log, "dart-controller: %s", error->text);
	error->text[0] = '\0';
	return 0;
}

/* All that a controller has in addition to a replay: targets, and threads that scrape them. */
static int controller__open_targets(struct controller *controller, struct dart_error *error)
{
	struct target_context *context = &controller->context;
	const struct options *options = context->options;
	const struct settings *settings = &options->settings;
	const unsigned int workers = settings->workers ?: SETTINGS_WORKERS_DEFAULT;
	int err;

	err = resolver__new(context->event, &context->resolver);
	if (err)
		return err;
	err = flow_control__new(context->timers, settings, options__has_one_target(options),
				&context->flow_control);
	if (err)
		return err;
	err = controller__open_mailbox(controller)		       ?:
		      certificates__load(&settings->tls, &context->tls, error) ?:
		      controller__open_io(controller, error);
	if (err)
		return err;
	context->dscp = settings->dscp;
	clock_messages__open(&context->clocks, settings->clock_bound_ns,
			     options->once || context->sink->owns_terminal ? NULL : context->log);
	handshakes__open(&context->handshakes, context->timers,
			 settings->handshakes ?: SETTINGS_HANDSHAKES_DEFAULT);
	err = controller_outputs__watch(&controller->outputs, context->event, context->workers,
					workers);
	if (err)
		return err;
	err = fleet__new(context, controller->outputs.standard, &controller->fleet, error);
	if (err)
		return err;
	err = condition__watch(&controller->condition, context->event, is_ready, controller__reload,
			       look_at_threads, controller);
	return err ?: controller__open_status(controller, error);
}

static int controller__open_replay(struct controller *controller, struct dart_error *error)
{
	struct target_context *context = &controller->context;
	int err;

	err = condition__watch(&controller->condition, context->event, NULL, NULL, NULL, NULL);
	return err ?: controller_replay__open(&controller->replay, context, &controller->outputs,
					      error);
}

/* Returns 0 or -errno.  The caller empties @error, which may stay so after -errno. */
static int controller__open(struct controller *controller, const struct options *options,
			    struct dart_error *error)
{
	const struct settings *settings = &options->settings;
	struct target_context *context = &controller->context;
	int err;

	context->options = options;
	context->condition = &controller->condition;
	context->configured = on_configured;
	controller->outputs.condition = &controller->condition;
	controller->outputs.validity = &context->validity;
	controller->condition.validity = &context->validity;
	context->catalogs = &controller->catalogs;
	output_list__open(&context->outputs);
	err = condition__open(&controller->condition, options);
	if (err)
		return err;
	err = sd_event_new(&context->event);
	if (err < 0)
		return err;
	/* Before any thread starts: threads leave signals to the loop. */
	err = controller__catch_signals(controller)	   ?:
		      controller__open_outputs(controller, error) ?:
		      controller_record__open(&controller->record, context, error);
	if (err)
		return err;
	err = workers__start(settings->workers ?: SETTINGS_WORKERS_DEFAULT, &context->workers) ?:
		      catalogs__open(&controller->catalogs) ?:
		      timers__new(context->event, &context->timers);
	if (err)
		return err;
	return options->replay.files ? controller__open_replay(controller, error) :
				       controller__open_targets(controller, error);
}

/* Afterwards all scrapes that I/O threads handed over are decoded and recorded. */
static void controller__stop_threads(struct controller *controller)
{
	/* When a replay ends early, a worker may sleep until an output makes room. */
	controller_replay__stop(&controller->replay);
	io_threads__stop(&controller->context.io);
	workers__stop(controller->context.workers);
	controller->context.workers = NULL;
	controller->record_error = controller_record__close(&controller->record) ?:
					   controller->record_error;
}

static void controller__close_output(struct controller *controller)
{
	sd_event_source_disable_unref(controller->output_failed);
	controller->output_failed = NULL;
	controller_outputs__close_standard(&controller->outputs);
}

static void controller__close(struct controller *controller)
{
	status_server__free(controller->status);
	controller__stop_threads(controller);
	handshakes__close(&controller->context.handshakes);
	fleet__free(controller->fleet);
	controller_replay__close(&controller->replay);
	sd_event_source_disable_unref(controller->connections);
	io_threads__free(&controller->context.io);
	sd_event_source_disable_unref(controller->mail);
	if (controller->has_mailbox)
		mailbox__close(&controller->context.mailbox);
	resolver__free(controller->context.resolver);
	dart_tls__put(controller->context.tls);
	flow_control__free(controller->context.flow_control);
	timers__free(controller->context.timers);
	catalogs__close(&controller->catalogs);
	sd_event_source_disable_unref(controller->output_failed);
	condition__end(&controller->condition);
	controller_outputs__close(&controller->outputs);
	clock_messages__close(&controller->context.clocks);
	condition__close(&controller->condition);
	sd_event_unref(controller->context.event);
	output_list__remove(&controller->context.outputs, controller->context.log);
	output__close(controller->context.log);
	output_list__close(&controller->context.outputs);
}

/*
 * After the loop: ends I/O threads, workers, standard output and receivers, and prints the
 * summaries, the ones for people after standard output ended.  Returns 0, or the error of standard
 * output, the recording or the replay, which was reported.
 */
static int controller__finish(struct controller *controller, bool summarize)
{
	struct output *output = controller->outputs.standard;
	int err;

	controller__stop_threads(controller);
	if (summarize)
		fleet__summarize(controller->fleet, false);
	controller_drain__output(output, &controller->interrupted);
	err = output__error(output);
	controller__close_output(controller);
	if (summarize && !err)
		fleet__summarize(controller->fleet, true);
	controller_drain__receivers(&controller->outputs, &controller->interrupted);
	err = controller_replay__finish(&controller->replay) ?: err;
	controller_drain__output(controller->context.log, &controller->interrupted);
	return err ?: controller->record_error;
}

/* Each target that is called needs descriptors: one over tcp, two over rpc. */
static void permit_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int controller__run(const struct options *options)
{
	struct controller controller = {};
	struct dart_error error = {};
	bool is_open, failed = true;
	int err;

	permit_descriptors();
	err = controller__open(&controller, options, &error);
	is_open = !err;
	if (is_open) {
		err = sd_event_loop(controller.context.event);
		if (!err && controller.fleet)
			err = fleet__result(controller.fleet);
		if (!err && options->once && controller.interrupted)
			err = -EINTR;
		failed = controller__finish(&controller, controller.fleet && !options->once &&
								 (!err || err == -EHOSTUNREACH));
	}
	controller__close(&controller);

	/* Unreachable targets were reported before. */
	if (!is_open && *error.text)
		fprintf(stderr, "dart-controller: %s\n", error.text);
	else if (err && err != -EHOSTUNREACH)
		fprintf(stderr, "dart-controller: cannot continue: %s\n", strerror(-err));
	return err || failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
