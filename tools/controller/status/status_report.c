// SPDX-License-Identifier: GPL-2.0-only
/* Prints the state of the targets, the sources and the controller itself. */
#include "status_report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/escape.h>

#include "tools/controller/base/schedule.h"
#include "tools/controller/base/validity.h"

/* Targets of a piece, which takes far less than a millisecond, mostly for percentiles. */
#define BATCH 16

/* Converts @monotonic, of CLOCK_MONOTONIC, to CLOCK_REALTIME; null for 0. */
static json_t *to_wall_clock(uint64_t monotonic)
{
	if (!monotonic)
		return json_null();
	return json_integer(dart_clock__ns(CLOCK_REALTIME) -
			    (json_int_t)(monotonic_ns() - monotonic));
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

/* A text of any bytes, such as the path of a file; NULL if out of memory. */
static json_t *escaped(const char *bytes)
{
	char *text = dart_escape__new(bytes, DART_ESCAPE_SENTENCE);
	json_t *json = text ? json_string(text) : NULL;

	free(text);
	return json;
}

/* Prints @members without the braces of an object, and takes the reference. */
static void print_members(json_t *members, FILE *out)
{
	if (members)
		json_dumpf(members, out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_EMBED);
	else
		fputs("\"error\":\"out of memory\"", out);
	json_decref(members);
}

static void print_object(json_t *members, FILE *out)
{
	fputc('{', out);
	print_members(members, out);
	fputc('}', out);
}

static void status_totals__add(struct status_totals *totals, const struct target_status *status)
{
	if (!strcmp(status->state, "up"))
		totals->up++;
	else if (!strcmp(status->state, "standby"))
		totals->standby++;
	else if (!strcmp(status->state, "finished"))
		totals->finished++;
	else
		totals->down++;
	totals->scrapes += status->scrapes;
	totals->failed += status->failed;
	totals->missed += status->missed;
	totals->discarded += status->discarded;
	totals->dropped += status->dropped;
	totals->reads += status->reads;
	totals->bytes += status->bytes;
}

static void print_target(struct status_report *report, size_t index, const struct target *target,
			 FILE *out)
{
	const struct target_set *set = fleet__targets(report->context->fleet);
	const struct target_settings *settings = target__settings(target);
	const char *source = target_set__source(set, index);
	struct target_status status;
	json_t *members;

	target__status(target, &status);
	if (target_set__is_ending(set, index))
		status.state = "leaving";
	status_totals__add(&report->totals, &status);
	members = json_pack(
		"{ss ss ss so so so sI sb si sI sI sI sI sI sI sI s{sI sI sI sI sI}}", "agent",
		settings->name, "transport", settings__transport_name(settings->transport), "state",
		status.state, "since_ns", to_wall_clock(status.since_ns), "error",
		text_or_null(status.error), "source", escaped(source ?: "command line"), "interval_ns",
		(json_int_t)status.interval_ns, "standby", (int)status.is_on_standby, "class",
		settings->class, "scrapes", (json_int_t)status.scrapes, "failed",
		(json_int_t)status.failed, "missed", (json_int_t)status.missed, "discarded",
		(json_int_t)status.discarded, "dropped", (json_int_t)status.dropped, "reads",
		(json_int_t)status.reads, "bytes", (json_int_t)status.bytes, "landed_ns", "min",
		(json_int_t)status.landed_ns.min, "p50", (json_int_t)status.landed_ns.p50, "p90",
		(json_int_t)status.landed_ns.p90, "p99", (json_int_t)status.landed_ns.p99, "max",
		(json_int_t)status.landed_ns.max);
	fputs(report->printed++ ? ",\n" : "", out);
	/* The labels of a target are stored as JSON text. */
	fprintf(out, "{\"labels\":%s,", settings->labels ? settings->labels->text : "{}");
	print_members(members, out);
	fputc('}', out);
}

/* The first targets that rules dropped, by their addresses. */
static json_t *name_dropped(const struct target_faults *faults)
{
	json_t *names = json_array();
	size_t i;

	for (i = 0; i < faults->dropped && i < TARGET_DROPPED_NAMED; i++)
		json_array_append_new(names, text_or_null(faults->dropped_first[i]));
	return names;
}

static void print_sources(const struct discovery *discovery, FILE *out)
{
	struct discovery_source source;
	size_t i;

	for (i = 0; i < discovery__source_count(discovery); i++) {
		discovery__source(discovery, i, &source);
		fputs(i ? ",\n" : "", out);
		print_object(json_pack("{so ss sI sI sI so sI sI so so}", "source",
				       escaped(source.name),
				       "kind", source.kind, "targets",
				       (json_int_t)source.targets, "left_out",
				       (json_int_t)source.left_out, "dropped",
				       (json_int_t)source.dropped, "dropped_first",
				       name_dropped(source.faults), "looks",
				       (json_int_t)source.looks, "failures",
				       (json_int_t)source.failures, "heard_ns",
				       to_wall_clock(source.heard_ns), "error",
				       text_or_null(source.error)),
			     out);
	}
}

static json_t *losses_of(const struct output_losses *losses)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < losses->count; i++)
		json_array_append_new(all, json_pack("{ss ss* sI}", "reason", losses->all[i].reason,
						     "agent", losses->all[i].agent, "samples",
						     (json_int_t)losses->all[i].samples));
	return all;
}

/* Adds the sum of the losses and a list of reasons. An output without losses gets neither. */
static void add_losses(json_t *members, const char *sum, const char *list,
		       const struct output_losses *losses)
{
	if (!losses->count)
		return;
	json_object_set_new(members, sum, json_integer(output_losses__sum(losses)));
	json_object_set_new(members, list, losses_of(losses));
}

static json_t *describe_output(const struct output_figures *figures)
{
	const struct output_error *error = &figures->error;
	json_t *members = json_pack("{ss ss}", "output", figures->kind, "to", figures->name);
	size_t i;

	for (i = 0; i < OUTPUT_FIGURE_COUNT; i++) {
		if (figures->has[i])
			json_object_set_new(members, output_figure_rows[i].member,
					    i == OUTPUT_FAILING ?
						    json_boolean(figures->numbers[i]) :
						    json_integer(figures->numbers[i]));
	}
	add_losses(members, "refused_samples", "refused", &figures->refused);
	add_losses(members, "dropped_samples", "dropped", &figures->dropped);
	json_object_set_new(members, "error", text_or_null(error->time_ns ? error->text : NULL));
	json_object_set_new(members, "error_ns",
			    error->time_ns ? json_integer(error->time_ns) : json_null());
	return members;
}

static void print_outputs(struct output_list *list, FILE *out)
{
	struct output_figures *figures;
	size_t count, i;

	if (output_list__read(list, &figures, &count)) {
		print_object(NULL, out);
		return;
	}
	for (i = 0; i < count; i++) {
		fputs(i ? ",\n" : "", out);
		print_object(describe_output(figures + i), out);
	}
	output_list__free(figures, count);
}

static json_t *describe_thread(const struct thread_figures *figures)
{
	json_t *members = json_pack("{ss sI}", "thread", figures->name, "cpu_ns",
				    (json_int_t)figures->cpu_ns);

	if (!figures->is_worker) {
		json_object_set_new(members, "agents", json_integer(figures->targets));
		return members;
	}
	json_object_set_new(members, "queued", json_integer(figures->queued));
	json_object_set_new(members, "dropped", json_integer(figures->dropped));
	return members;
}

static void print_threads(const struct target_context *context, FILE *out)
{
	struct thread_figures figures[IO_FIGURES_MAX];
	const unsigned int count = io_threads__look(&context->io, context->workers, figures);
	unsigned int i;

	for (i = 0; i < count; i++) {
		fputs(i ? ",\n" : "", out);
		print_object(describe_thread(&figures[i]), out);
	}
}

static uint64_t time_ns(const struct timeval *time)
{
	return time->tv_sec * 1000000000ULL + time->tv_usec * 1000ULL;
}

/* Returns the resident memory by /proc/self/statm; 0 if the file cannot be read. */
static uint64_t resident_bytes(void)
{
	unsigned long long size, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * sysconf(_SC_PAGESIZE);
}

/* The portions of agents that this controller does not reach; null: none. */
static json_t *describe_unreached(struct fleet *fleet, const struct membership *membership)
{
	const struct portion_set *portions =
		unreached__look(fleet__unreached(fleet), fleet__targets(fleet), membership);
	char text[PORTION_SET_TEXT];

	if (portion_set__is_empty(portions))
		return json_null();
	portion_set__print(portions, text);
	return json_string(text);
}

/* NULL: this controller has no shard. */
static json_t *describe_shard(struct fleet *fleet)
{
	const struct discovery *discovery = fleet__discovery(fleet);
	struct shard_parts parts_of_all, *parts = &parts_of_all;
	const char *error;
	const struct membership *membership = discovery__membership(discovery, parts, &error);
	const struct shard *shard = &membership->shard;
	json_t *list = membership->is_listed ? json_array() : NULL;
	json_t *members;
	unsigned int i;

	if (!shard->member)
		return NULL;
	members = json_pack("{sI sI sI sI sI sI}", "member", (json_int_t)shard->member, "members",
			    (json_int_t)membership__count(membership), "replication",
			    (json_int_t)(shard->replication ?: 1), "own", (json_int_t)parts->own,
			    "standby", (json_int_t)parts->standby, "left", (json_int_t)parts->left);
	if (!list)
		return members;
	for (i = 1; i <= SHARD_MEMBERS_MAX; i++)
		if (member_set__has(&membership->present, i))
			json_array_append_new(list, json_integer(i));
	json_object_set_new(members, "list", list);
	json_object_set_new(members, "version", json_integer(membership->version));
	json_object_set_new(members, "is_ready", json_boolean(fleet__is_ready(fleet)));
	json_object_set_new(members, "is_leaving", json_boolean(discovery__is_leaving(discovery)));
	json_object_set_new(members, "valid_until_ns",
			    membership->valid_ns ? json_integer(membership->valid_ns) : json_null());
	json_object_set_new(members, "is_valid",
			    json_boolean(membership__is_valid(membership, boottime_ns())));
	json_object_set_new(members, "unreached", describe_unreached(fleet, membership));
	json_object_set_new(members, "error", text_or_null(error));
	return members;
}

static void print_controller(const struct status_report *report, FILE *out)
{
	const struct target_context *context = report->context;
	const struct status_totals *totals = &report->totals;
	const struct discovery *discovery = fleet__discovery(context->fleet);
	const struct target_faults *faults;
	uint64_t reloads, refused;
	struct rusage usage = {};
	json_t *members, *shard;

	discovery__reloads(discovery, &reloads, &refused);
	getrusage(RUSAGE_SELF, &usage);
	members = json_pack("{ss si sI so sI s{sI sI sI sI} sI sI sI sI sI sI sI}", "version",
			    DART_VERSION, "pid", (int)getpid(), "uptime_ns",
			    (json_int_t)(monotonic_ns() - report->started_ns), "started_ns",
			    to_wall_clock(report->started_ns), "wanted",
			    (json_int_t)context->target_count, "targets", "up",
			    (json_int_t)totals->up, "standby", (json_int_t)totals->standby, "down",
			    (json_int_t)totals->down, "finished", (json_int_t)totals->finished,
			    "scrapes", (json_int_t)totals->scrapes, "failed",
			    (json_int_t)totals->failed, "missed", (json_int_t)totals->missed,
			    "discarded", (json_int_t)totals->discarded, "dropped",
			    (json_int_t)totals->dropped, "reads", (json_int_t)totals->reads,
			    "bytes", (json_int_t)totals->bytes);
	if (members)
		json_object_update_new(
			members,
			json_pack("{sI sI sI s{sI sI} sI sI}", "cpu_user_ns",
				  (json_int_t)time_ns(&usage.ru_utime), "cpu_system_ns",
				  (json_int_t)time_ns(&usage.ru_stime), "resident_bytes",
				  (json_int_t)resident_bytes(), "output", "written_bytes",
				  (json_int_t)output__written(report->output), "dropped",
				  (json_int_t)output__dropped(report->output), "reloads",
				  (json_int_t)reloads, "reloads_refused", (json_int_t)refused));
	faults = discovery__configured_faults(discovery);
	json_object_set_new(members, "agents_dropped", json_integer(faults->dropped));
	json_object_set_new(members, "agents_dropped_first", name_dropped(faults));
	shard = describe_shard(context->fleet);
	if (shard)
		json_object_set_new(members, "shard", shard);
	print_object(members, out);
}

bool status_report__print(struct status_report *report, FILE *out)
{
	const struct target_set *set = fleet__targets(report->context->fleet);
	const struct target *target;
	unsigned int left = BATCH;

	if (report->has_ended)
		return false;
	if (report->is_of_shard) {
		print_object(json_pack("{so}", "shard",
				       describe_shard(report->context->fleet) ?:
					       json_null()),
			     out);
		fputc('\n', out);
		report->has_ended = true;
		return true;
	}
	if (!report->next)
		fputs("{\"targets\":[", out);
	for (; left && report->next < target_set__end_index(set); report->next++) {
		target = target_set__target(set, report->next);
		if (!target)
			continue;
		print_target(report, report->next, target, out);
		left--;
	}
	if (report->next < target_set__end_index(set))
		return true;
	fputs("],\n\"sources\":[", out);
	print_sources(fleet__discovery(report->context->fleet), out);
	fputs("],\n\"outputs\":[", out);
	print_outputs(&report->context->outputs, out);
	fputs("],\n\"threads\":[", out);
	print_threads(report->context, out);
	fputs("],\n\"controller\":", out);
	print_controller(report, out);
	fputs("}\n", out);
	report->has_ended = true;
	return true;
}
