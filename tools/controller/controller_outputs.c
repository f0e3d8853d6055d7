// SPDX-License-Identifier: GPL-2.0-only
/* Opens the outputs of a controller, from the last to the first. */
#include "controller_outputs.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "exposition/exposition.h"
#include "exposition/exposition_outputs.h"
#include "http/http_connections.h"
#include "metrics/names/names.h"
#include "metrics/sink_metrics.h"
#include "outputs/sink_all.h"
#include "outputs/sink_json.h"
#include "outputs/sink_table.h"
#include "push/push.h"
#include "record/dump_openmetrics.h"
#include "record/sink_csv.h"
#include "record/spill.h"
#include "web/web.h"

/* The sink of samples on standard output, and the sink of metrics. */
#define SINKS_MAX 2
/* Threads that serve metrics. */
#define SERVER_THREADS 4

/* The sinks and outputs that are open, but not owned by another sink yet. */
struct opening {
	struct sink *sinks[SINKS_MAX];
	size_t sink_count;
	struct metric_output *metrics[SINK_METRICS_OUTPUTS_MAX];
	size_t metric_count;
};

/*
 * A controller with outputs of metrics shows a table only on a terminal: nobody reads the tables
 * of a service, and a file of tables is useless.  A controller that only records shows nothing.
 */
static bool shows_values(const struct options *options)
{
	if ((options->only_records && !options->json) || options->replay.format == DUMP_OPENMETRICS)
		return false;
	return options->json || options->once || options->replay.format || isatty(STDOUT_FILENO) ||
	       !output_settings__has_any(&options->settings.outputs);
}

static int open_standard(struct controller_outputs *outputs, const struct options *options,
			 struct opening *opening)
{
	struct sink *sink;

	if (!shows_values(options))
		return 0;
	sink = options->replay.format == DUMP_CSV ? sink_csv__new(outputs->standard) :
	       options->json			  ? sink_json__new(outputs->standard) :
						    sink_table__new(outputs->standard, STDOUT_FILENO,
								    SETTINGS_TARGETS_MAX, options->once);
	if (!sink)
		return -ENOMEM;
	opening->sinks[opening->sink_count++] = sink;
	return 0;
}

/* Adds the metrics of the controller itself.  Called in a thread of the server. */
static void add_own(void *data, struct own_metrics *metrics)
{
	const struct controller_outputs *outputs = data;

	condition__add(outputs->condition, metrics);
	if (exposition_outputs__add(metrics, outputs->list))
		metrics->has_failed = true;
}

static void own_membership(void *data, struct membership *membership)
{
	const struct controller_outputs *outputs = data;

	condition__membership(outputs->condition, membership);
}

static int open_exposition(struct controller_outputs *outputs, const struct options *options,
			   struct output *log, struct opening *opening, struct dart_error *error)
{
	const struct http_settings *http = &options->settings.outputs.listen;
	const struct http_listener_options server = {
		.pages = outputs->pages,
		.page_count = EXPOSITION_PAGES + CONDITION_PAGES,
		.threads = SERVER_THREADS,
		.streams = HTTP_CONNECTIONS_MAX,
	};
	struct metric_output *exposition;

	if (!http->address)
		return 0;
	exposition = exposition__new(options->replay.files, log);
	if (!exposition)
		return -ENOMEM;
	opening->metrics[opening->metric_count++] = exposition;
	exposition__set_own(exposition,
			    &(struct exposition_own){ add_own, own_membership, outputs });
	exposition__pages(exposition, outputs->pages);
	condition__pages(outputs->condition, outputs->pages + EXPOSITION_PAGES);
	return controller_servers__begin_metrics(&outputs->servers, http, &server, error);
}

static int open_receivers(struct controller_outputs *outputs,
			  const struct output_settings *settings, struct output *log,
			  struct opening *opening, struct dart_error *error)
{
	struct controller_receivers *receivers = &outputs->receivers;
	int err;

	receivers->list = outputs->list;
	receivers->log = log;
	receivers->validity = outputs->validity;
	err = controller_receivers__open(receivers, settings, error);
	opening->metric_count = controller_receivers__outputs(receivers, opening->metrics);
	return err;
}

static int open_web(struct controller_outputs *outputs, const struct options *options,
		    struct output *log, struct opening *opening, struct dart_error *error)
{
	const struct web_settings settings = {
		.http = &options->settings.outputs.web,
		.interval_ns = options->settings.interval_ns,
		.is_replay = options->replay.files,
	};
	struct metric_output *web;
	int err;

	if (!settings.http->address)
		return 0;
	err = web__new(&settings, log, &web, error);
	if (err)
		return err;
	opening->metrics[opening->metric_count++] = web;
	return controller_servers__begin_web(&outputs->servers, web);
}

static int open_dump(struct controller_outputs *outputs, const struct options *options,
		     struct output *log, struct opening *opening, struct dart_error *error)
{
	int err;

	if (options->replay.format != DUMP_OPENMETRICS)
		return 0;
	err = dump_openmetrics__new(outputs->standard, log, SPILL_BYTES, &outputs->dump, error);
	if (!err)
		opening->metrics[opening->metric_count++] = outputs->dump;
	return err;
}

/* The figures that all outputs of metrics share. */
static void fill_metrics(void *data, struct output_figures *figures)
{
	output_figures__name(figures, "metrics", "all outputs");
	output_figures__set(figures, OUTPUT_COLLIDED_LABELS, sink_metrics__collided(data));
	output_figures__set(figures, OUTPUT_SERIES, sink_metrics__series(data));
	output_figures__set(figures, OUTPUT_OVER_LIMIT, sink_metrics__over_limit(data));
	output_figures__set(figures, OUTPUT_UNPLANNED_SCRAPES, sink_metrics__unplanned(data));
}

static void say_limit(void *log, const char *target, const char *sentence)
{
	output__print(log, "dart-controller: %s: %s", target, sentence);
}

static int open_metrics(struct controller_outputs *outputs, const struct options *options,
			struct output *log, struct opening *opening, struct dart_error *error)
{
	const struct output_settings *settings = &options->settings.outputs;
	char directory[PATH_MAX];
	struct names *names = NULL;
	struct sink *sink;
	int err;

	if (!output_settings__has_any(settings) && options->replay.format != DUMP_OPENMETRICS)
		return 0;
	names__find_directory(directory);
	err = names__load(directory, &names, error)			     ?:
		      open_receivers(outputs, settings, log, opening, error) ?:
		      open_exposition(outputs, options, log, opening, error) ?:
		      open_web(outputs, options, log, opening, error)	     ?:
		      open_dump(outputs, options, log, opening, error);
	if (!err) {
		sink = sink_metrics__new(names, opening->metrics, opening->metric_count);
		opening->metric_count = 0;
		err = sink ? 0 : -ENOMEM;
		if (sink) {
			opening->sinks[opening->sink_count++] = sink;
			outputs->metrics = sink;
			sink_metrics__limit(sink, &options->settings.limits, say_limit, log);
			if (!options->replay.files)
				sink_metrics__bound_plans(sink);
			err = output_list__add(outputs->list, fill_metrics, sink);
		}
	}
	names__put(names);
	return err;
}

static void opening__free(struct opening *opening)
{
	while (opening->metric_count) {
		struct metric_output *output = opening->metrics[--opening->metric_count];

		output->operations->free(output);
	}
	while (opening->sink_count) {
		struct sink *sink = opening->sinks[--opening->sink_count];

		sink->operations->free(sink);
	}
}

/* Removes outputs from the list before they are freed, so that nobody asks for their figures. */
static void leave_list(struct controller_outputs *outputs)
{
	controller_receivers__close(&outputs->receivers);
	if (outputs->metrics)
		output_list__remove(outputs->list, outputs->metrics);
	outputs->metrics = NULL;
}

int controller_outputs__open(struct controller_outputs *outputs, const struct options *options,
			     struct output *log, struct output_list *list, struct dart_error *error)
{
	const size_t targets = options->settings.target_count;
	const size_t bound = OUTPUT_BYTES + targets * OUTPUT_TARGET_BYTES;
	struct opening opening = {};
	int err;

	outputs->list = list;
	controller_servers__open(&outputs->servers, list, log);
	err = output__open(STDOUT_FILENO, "standard output", bound, log, &outputs->standard) ?:
		      output_list__add(list, output__figures, outputs->standard)	     ?:
		      open_standard(outputs, options, &opening)				     ?:
		      open_metrics(outputs, options, log, &opening, error);
	if (!err) {
		outputs->sink = opening.sink_count == 1 ?
					opening.sinks[0] :
					sink_all__new(opening.sinks, opening.sink_count);
		return outputs->sink ? 0 : -ENOMEM;
	}
	controller_servers__close(&outputs->servers);
	leave_list(outputs);
	opening__free(&opening);
	outputs->dump = NULL;
	return err;
}

int controller_outputs__watch(struct controller_outputs *outputs, sd_event *event,
			      struct workers *workers, unsigned int worker_count)
{
	if (!outputs->metrics)
		return 0;
	return controller_receivers__watch(&outputs->receivers, outputs->metrics, event, workers,
					   worker_count);
}

void controller_outputs__set_waits(struct controller_outputs *outputs, bool waits)
{
	struct metric_output *receivers[2 * RECEIVERS_MAX];
	size_t i, count = controller_receivers__outputs(&outputs->receivers, receivers);

	if (outputs->standard)
		output__set_waits(outputs->standard, waits);
	for (i = 0; i < count; i++)
		push__set_waits(receivers[i], waits);
}

void controller_outputs__close_standard(struct controller_outputs *outputs)
{
	if (outputs->standard)
		output_list__remove(outputs->list, outputs->standard);
	output__close(outputs->standard);
	outputs->standard = NULL;
}

void controller_outputs__close(struct controller_outputs *outputs)
{
	controller_servers__close(&outputs->servers);
	leave_list(outputs);
	if (outputs->sink)
		outputs->sink->operations->free(outputs->sink);
	controller_outputs__close_standard(outputs);
	*outputs = (struct controller_outputs){};
}
