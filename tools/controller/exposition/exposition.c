// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the last scrape of each target, counted, so that a page is made of them without
 * delaying the workers that bring the next ones.
 */
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ended.h"
#include "exposition.h"
#include "exposition_outputs.h"
#include "exposition_sd.h"
#include "tools/controller/metrics/plan_up.h"
#include "tools/controller/metrics/target_labels.h"
#include "tools/controller/metrics/text.h"
#include "tools/controller/schedule.h"

/* What is shown of a target at one time; immutable. */
struct snapshot {
	atomic_uint holders;
	struct target_labels *labels; /* held */
	char *name;
	char *host;
	struct metric_plan *plan; /* NULL: it is lost, or was not scraped yet */
	struct metric_point *points;
	struct ended *ended; /* series to be served once more; NULL: none */
	uint64_t fresh_until_ns; /* CLOCK_MONOTONIC: then it is lost; 0: never */
	int64_t time_ns; /* when it was up, or was lost; 0: not known */
	char *reason; /* why it is lost; NULL: it is not, or not known */
	struct shared_text *target_labels;
};

struct exposition {
	struct metric_output output;
	bool is_replay;
	struct output_list *outputs; /* that run; NULL: not shown */
	pthread_mutex_t lock; /* of the pointers below */
	size_t end; /* no target has this index, or a higher one */
	struct snapshot *targets[SETTINGS_TARGETS_MAX];
};

static void snapshot__put(struct snapshot *snapshot)
{
	if (!snapshot || atomic_fetch_sub(&snapshot->holders, 1) != 1)
		return;
	target_labels__put(snapshot->labels);
	if (snapshot->plan)
		metric_plan__put(snapshot->plan);
	ended__put(snapshot->ended);
	shared_text__release(snapshot->target_labels);
	free(snapshot->points);
	free(snapshot->name);
	free(snapshot->host);
	free(snapshot->reason);
	free(snapshot);
}

/* Without series; takes the hold of @labels, which may be NULL.  NULL if out of memory. */
static struct snapshot *snapshot__new(const struct target_settings *target,
				      struct target_labels *labels,
				      int64_t time_ns)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot) {
		target_labels__put(labels);
		return NULL;
	}
	snapshot->labels = labels;
	atomic_init(&snapshot->holders, 1);
	snapshot->name = strdup(target->name);
	snapshot->host = strdup(target->host);
	snapshot->target_labels = shared_text__hold(target->labels);
	snapshot->time_ns = time_ns;
	if (labels && snapshot->name && snapshot->host)
		return snapshot;
	snapshot__put(snapshot);
	return NULL;
}

/* In place of the last one of the target.  NULL: there was no memory, or it is gone. */
static void exposition__set(struct exposition *exposition, size_t index,
			    struct snapshot *snapshot)
{
	struct snapshot *before;

	pthread_mutex_lock(&exposition->lock);
	before = exposition->targets[index];
	exposition->targets[index] = snapshot;
	if (snapshot && exposition->end <= index)
		exposition->end = index + 1;
	pthread_mutex_unlock(&exposition->lock);
	snapshot__put(before);
}

/* The last one of a target, held; NULL: none.  Its worker replaces it, and nobody else. */
static struct snapshot *exposition__last(struct exposition *exposition,
					 size_t index)
{
	struct snapshot *snapshot;

	pthread_mutex_lock(&exposition->lock);
	snapshot = exposition->targets[index];
	if (snapshot)
		atomic_fetch_add(&snapshot->holders, 1);
	pthread_mutex_unlock(&exposition->lock);
	return snapshot;
}

/* Series that have ended with @scrape are served once more. */
static void snapshot__keep_ended(struct snapshot *snapshot,
				 struct exposition *exposition,
				 const struct target_settings *target,
				 const struct metric_scrape *scrape)
{
	struct snapshot *last = exposition__last(exposition, target->index);

	if (!last)
		return;
	snapshot->ended = ended__next(last->ended, last->plan, last->points,
				      scrape, target, monotonic_ns());
	ended__hide(snapshot->ended, snapshot->points);
	snapshot__put(last);
}

static void take_scrape(struct metric_output *output,
			const struct target_settings *target,
			const struct metric_scrape *scrape)
{
	const size_t bytes =
		scrape->plan->series_count * sizeof(*scrape->points);
	struct snapshot *snapshot =
		snapshot__new(target, target_labels__get(scrape->labels),
			      scrape->time_ns);

	if (snapshot) {
		snapshot->points = malloc(bytes ?: 1);
		if (snapshot->points) {
			memcpy(snapshot->points, scrape->points, bytes);
			snapshot->plan = metric_plan__get(scrape->plan);
			snapshot->fresh_until_ns = scrape->fresh_until_ns;
			snapshot__keep_ended(snapshot,
					     (struct exposition *)output,
					     target, scrape);
		} else {
			snapshot__put(snapshot);
			snapshot = NULL;
		}
	}
	exposition__set((struct exposition *)output, target->index, snapshot);
}

static void take_loss(struct metric_output *output,
		      const struct target_settings *target,
		      const struct metric_plan *plan, int64_t time_ns,
		      const char *reason)
{
	struct snapshot *snapshot = snapshot__new(
		target, target_labels__new(target, &plan_up__of_pages),
		time_ns);

	/* Without memory there is no reason to tell. */
	if (snapshot && reason)
		snapshot->reason = strdup(reason);
	exposition__set((struct exposition *)output, target->index, snapshot);
}

/* Values that are fresh stay; why there are none is news. */
static void take_failure(struct metric_output *output,
			 const struct target_settings *target,
			 const char *reason)
{
	struct exposition *exposition = (struct exposition *)output;
	bool has_values;

	pthread_mutex_lock(&exposition->lock);
	has_values = exposition->targets[target->index] &&
		     exposition->targets[target->index]->plan;
	pthread_mutex_unlock(&exposition->lock);
	if (!has_values)
		take_loss(output, target, NULL, 0, reason);
}

static void add_target(struct metric_output *output,
		       const struct target_settings *target)
{
	take_loss(output, target, NULL, 0, NULL);
}

static void remove_target(struct metric_output *output,
			  const struct target_settings *target)
{
	exposition__set((struct exposition *)output, target->index, NULL);
}

static void exposition__free(struct metric_output *output)
{
	struct exposition *exposition = (struct exposition *)output;
	size_t i;

	for (i = 0; i < exposition->end; i++)
		snapshot__put(exposition->targets[i]);
	pthread_mutex_destroy(&exposition->lock);
	free(exposition);
}

static const struct metric_output_operations exposition_operations = {
	.scrape = take_scrape,
	.lost = take_loss,
	.failed = take_failure,
	.added = add_target,
	.removed = remove_target,
	.free = exposition__free,
};

struct metric_output *exposition__new(bool is_replay, struct output_list *outputs)
{
	struct exposition *exposition = calloc(1, sizeof(*exposition));

	if (!exposition)
		return NULL;
	exposition->output.operations = &exposition_operations;
	exposition->is_replay = is_replay;
	exposition->outputs = outputs;
	pthread_mutex_init(&exposition->lock, NULL);
	return &exposition->output;
}

/* ---- pages, in the thread of the server */

struct snapshots {
	struct snapshot **all;
	size_t count;
};

static bool has_name(const struct snapshot *snapshot, const char *name)
{
	return !name || !strcmp(snapshot->name, name) ||
	       !strcmp(snapshot->host, name);
}

/*
 * Loss is also a matter of time: a worker that is behind has the news of it in its queue, after
 * the values.
 */
static bool snapshot__is_up(const struct snapshot *snapshot, uint64_t now_ns)
{
	return snapshot->plan && (!snapshot->fresh_until_ns ||
				  now_ns <= snapshot->fresh_until_ns);
}

static void snapshots__put(struct snapshots *snapshots)
{
	while (snapshots->count)
		snapshot__put(snapshots->all[--snapshots->count]);
	free(snapshots->all);
}

/* Those called @name; NULL: all.  Returns 0 or -ENOMEM. */
static int exposition__take(struct exposition *exposition, const char *name,
			    struct snapshots *snapshots)
{
	struct snapshot *snapshot;
	size_t i;

	*snapshots = (struct snapshots){};
	pthread_mutex_lock(&exposition->lock);
	snapshots->all =
		malloc((exposition->end ?: 1) * sizeof(*snapshots->all));
	for (i = 0; snapshots->all && i < exposition->end; i++) {
		snapshot = exposition->targets[i];
		if (!snapshot || !has_name(snapshot, name))
			continue;
		atomic_fetch_add(&snapshot->holders, 1);
		snapshots->all[snapshots->count++] = snapshot;
	}
	pthread_mutex_unlock(&exposition->lock);
	return snapshots->all ? 0 : -ENOMEM;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The controller's own metrics.  Returns 0 or -ENOMEM. */
static int collect_own(const struct exposition *exposition, struct own_metrics *own)
{
	if (!exposition->outputs)
		return 0;
	return exposition_outputs__add(own, exposition->outputs) ?:
		       own_metrics__finish(own, now_ns());
}

/*
 * Three parts of each: that it is up, which is known now, unless it was recorded, its series,
 * and those that have ended and were not served yet.  @own, which may have no families, are a
 * part of their own.  @is_one: a peer that asks for one target knows its labels.
 */
static int print(const struct snapshots *snapshots, const struct own_metrics *own,
		 bool is_one, bool is_replay, enum metric_text_format format,
		 bool is_utf8, struct http_answer *answer)
{
	const size_t count = snapshots->count;
	struct metric_text_target *parts =
		calloc(3 * count + 2, sizeof(*parts));
	struct metric_point *ups = calloc(count + 1, sizeof(*ups));
	const int64_t time_ns = now_ns();
	const uint64_t at_ns = monotonic_ns();
	const struct snapshot *snapshot;
	size_t i, used = 0;
	int err = -ENOMEM;
	bool is_up;

	for (i = 0; parts && ups && i < count; i++) {
		snapshot = snapshots->all[i];
		is_up = snapshot__is_up(snapshot, at_ns);
		ups[i] = (struct metric_point){
			.value = is_up,
			.time_ns = is_replay ? snapshot->time_ns : time_ns,
		};
		parts[used] = (struct metric_text_target){
			.labels = is_one  ? "" :
				  is_utf8 ? snapshot->labels->utf8.text :
					    snapshot->labels->set.text,
			.plan = &plan_up__of_pages,
			.points = &ups[i],
		};
		used++;
		if (!is_up)
			continue;
		parts[used] = parts[used - 1];
		parts[used].plan = snapshot->plan;
		parts[used++].points = snapshot->points;
		if (!snapshot->ended)
			continue;
		ended__serve(snapshot->ended, at_ns);
		parts[used++] = (struct metric_text_target){
			.labels = is_one ? "" :
					   snapshot->ended->labels->set.text,
			.plan = snapshot->ended->plan,
			.points = snapshot->ended->points,
		};
	}
	if (parts && own->plan.family_count)
		parts[used++] = (struct metric_text_target){
			.labels = "",
			.plan = &own->plan,
			.points = own->points,
		};
	if (parts && ups)
		err = metric_text__print(parts, used, format, true,
					 &answer->body, &answer->length);
	free(parts);
	free(ups);
	return err;
}

/* Prometheus 3 asks for names of any UTF-8; they need another version of the text formats. */
static bool takes_utf8(const struct http_request *request)
{
	const char *accept = http_request__header(request, "Accept");

	return accept && strstr(accept, "escaping=allow-utf-8");
}

static bool takes_openmetrics(const struct http_request *request)
{
	const char *accept = http_request__header(request, "Accept");

	return accept && strstr(accept, "application/openmetrics-text");
}

static void print_sentence(struct http_answer *answer, unsigned int status,
			   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void print_sentence(struct http_answer *answer, unsigned int status,
			   const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&answer->body, format, arguments);
	va_end(arguments);
	answer->status = status;
	answer->type = NULL;
	if (length < 0)
		answer->body = NULL;
	answer->length = length < 0 ? 0 : length;
}

static const char *snapshot__why_lost(const struct snapshot *snapshot)
{
	if (snapshot->reason)
		return snapshot->reason;
	return snapshot->plan ? "its values are too old" :
				"it has not been read so far";
}

/* True, and an answer that says so, if all that are asked for by one name are lost. */
static bool refuse_lost(const struct snapshots *snapshots,
			struct http_answer *answer)
{
	const uint64_t at_ns = monotonic_ns();
	size_t i;

	for (i = 0; i < snapshots->count; i++)
		if (snapshot__is_up(snapshots->all[i], at_ns))
			return false;
	print_sentence(answer, 503, "%s is lost: %s\n",
		       snapshots->all[0]->name,
		       snapshot__why_lost(snapshots->all[0]));
	return true;
}

static void fill_metrics(void *data, const struct http_request *request,
			 struct http_answer *answer)
{
	const char *name = http_request__argument(request, "target");
	const enum metric_text_format format = takes_openmetrics(request) ?
						       METRIC_TEXT_OPENMETRICS :
						       METRIC_TEXT_PROMETHEUS;
	const struct exposition *exposition = data;
	const bool is_utf8 = takes_utf8(request);
	struct own_metrics own = {};
	struct snapshots snapshots;

	if (exposition__take(data, name, &snapshots))
		return;
	answer->type = metric_text__type(format, is_utf8);
	if (name && !snapshots.count) {
		print_sentence(
			answer, 404,
			"there is no such target: see /sd for their names\n");
	} else if (name ? !refuse_lost(&snapshots, answer) :
			  !collect_own(exposition, &own)) {
		print(&snapshots, &own, name, exposition->is_replay, format, is_utf8, answer);
	}
	own_metrics__clear(&own);
	snapshots__put(&snapshots);
}

static void fill_sd(void *data, const struct http_request *request,
		    struct http_answer *answer)
{
	const char *host = http_request__header(request, "Host");
	const enum label_names_form form =
		exposition_sd__form(http_request__header(request, "User-Agent"));
	struct snapshots snapshots;
	json_t *list = json_array();
	size_t i;
	int err = 0;

	if (exposition__take(data, NULL, &snapshots)) {
		json_decref(list);
		return;
	}
	for (i = 0; i < snapshots.count && !err; i++)
		err = exposition_sd__add(list, host ?: "localhost",
					 snapshots.all[i]->name,
					 snapshots.all[i]->target_labels, form);
	if (!err)
		answer->body = json_dumps(list, JSON_INDENT(1));
	answer->length = answer->body ? strlen(answer->body) : 0;
	answer->type = "application/json";
	snapshots__put(&snapshots);
	json_decref(list);
}

void exposition__pages(struct metric_output *output,
		       struct http_page pages[static EXPOSITION_PAGES])
{
	pages[0] = (struct http_page){ "/metrics", fill_metrics, output };
	pages[1] = (struct http_page){ "/sd", fill_sd, output };
}
