// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the last scrape of each target, counted, so that a page is made of them without
 * delaying the workers that bring the next ones.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ended.h"
#include "exposition.h"
#include "editions.h"
#include "exposition_sd.h"
#include "tools/controller/http/gzip.h"
#include "tools/controller/metrics/plan_up.h"
#include "tools/controller/metrics/target_labels.h"
#include "tools/controller/metrics/text.h"
#include "tools/controller/schedule.h"

/*
 * What waits for readers is bounded by twice the bytes of all points, or this if they have
 * fewer: there is room for about five packed pages of a fleet.
 */
#define READERS_BYTES_MIN ((size_t)8 << 20)

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
	struct exposition_own own; /* add is NULL: nothing is known of the controller */
	struct editions *editions; /* of the pages that readers have now */
	atomic_uint_least64_t version; /* grows with each change of the targets below */
	pthread_mutex_t lock; /* of all below */
	size_t series_count; /* of all snapshots */
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

static size_t snapshot__series(const struct snapshot *snapshot)
{
	return snapshot && snapshot->plan ? snapshot->plan->series_count : 0;
}

/* What all readers together may have waiting for them, with @count series. */
static size_t readers_bytes(size_t count)
{
	const size_t bytes = 2 * count * sizeof(struct metric_point);

	return bytes > READERS_BYTES_MIN ? bytes : READERS_BYTES_MIN;
}

/* In place of the last one of the target.  NULL: there was no memory, or it is gone. */
static void exposition__set(struct exposition *exposition, size_t index,
			    struct snapshot *snapshot)
{
	struct snapshot *before;
	size_t count, bytes;

	pthread_mutex_lock(&exposition->lock);
	before = exposition->targets[index];
	exposition->targets[index] = snapshot;
	if (snapshot && exposition->end <= index)
		exposition->end = index + 1;
	count = exposition->series_count + snapshot__series(snapshot) -
		snapshot__series(before);
	bytes = count == exposition->series_count ? 0 : readers_bytes(count);
	exposition->series_count = count;
	atomic_fetch_add(&exposition->version, 1);
	pthread_mutex_unlock(&exposition->lock);
	if (bytes)
		editions__set_limit(exposition->editions, bytes);
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
	editions__free(exposition->editions);
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

struct metric_output *exposition__new(bool is_replay)
{
	struct exposition *exposition = calloc(1, sizeof(*exposition));

	if (!exposition)
		return NULL;
	exposition->output.operations = &exposition_operations;
	exposition->is_replay = is_replay;
	exposition->editions = editions__new();
	if (!exposition->editions) {
		free(exposition);
		return NULL;
	}
	editions__set_limit(exposition->editions, READERS_BYTES_MIN);
	pthread_mutex_init(&exposition->lock, NULL);
	return &exposition->output;
}

/* ---- pages, in threads of the server, and of makers of editions */

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
	snapshots->all = NULL;
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

/* A page: see editions.h. */
struct page {
	struct edition_content content;
	struct exposition *exposition;
	uint64_t version; /* of the targets */
	struct snapshots snapshots; /* held until all is printed */
	struct metric_text_target *parts;
	struct metric_point *ups;
	struct own_metrics own;
	bool is_one; /* a peer that asks for one target knows its labels */
	bool has_own; /* the controller itself is on it */
	bool is_own; /* and nothing else */
};

static void add_readers(struct own_metrics *metrics, struct editions *editions)
{
	const struct label_list none = { .count = 0 };
	struct editions_counts counts;

	editions__count(editions, &counts);
	own_metrics__begin(metrics, "dart_controller_page_readers",
			   "Requests for pages of metrics that are being answered.", "",
			   METRIC_GAUGE);
	own_metrics__add(metrics, &none, counts.open);
	own_metrics__begin(metrics, "dart_controller_page_bytes",
			   "Memory of pages that readers have not taken yet.", "bytes",
			   METRIC_GAUGE);
	own_metrics__add(metrics, &none, counts.bytes);
	own_metrics__begin(metrics, "dart_controller_page_limit_bytes",
			   "Limit of the memory of pages.", "bytes", METRIC_GAUGE);
	own_metrics__add(metrics, &none, counts.limit);
	own_metrics__begin(metrics, "dart_controller_pages_total",
			   "Pages of metrics that were made, each for all that asked for it.", "",
			   METRIC_COUNTER);
	own_metrics__add(metrics, &none, counts.made);
	own_metrics__begin(metrics, "dart_controller_page_readers_cut_total",
			   "Readers that were cut off because they were too slow.", "",
			   METRIC_COUNTER);
	own_metrics__add(metrics, &none, counts.cut);
}

/* The controller's own metrics.  Returns 0 or -ENOMEM. */
static int collect_own(const struct exposition *exposition, struct own_metrics *own)
{
	if (exposition->own.add)
		exposition->own.add(exposition->own.data, own);
	add_readers(own, exposition->editions);
	return own_metrics__finish(own, now_ns());
}

/*
 * Three parts of each: that it is up, which is known now, unless it was recorded, its series,
 * and those that have ended and were not served yet.  The controller itself is a part without
 * labels.
 */
static int page__list(struct page *page)
{
	const struct snapshots *snapshots = &page->snapshots;
	const size_t count = snapshots->count;
	struct metric_text_target *parts =
		calloc(3 * count + 2, sizeof(*parts));
	struct metric_point *ups = calloc(count + 1, sizeof(*ups));
	const bool is_replay = page->exposition->is_replay;
	const int64_t time_ns = now_ns();
	const uint64_t at_ns = monotonic_ns();
	const struct snapshot *snapshot;
	size_t i, used = 0;
	bool is_up;

	for (i = 0; parts && ups && i < count; i++) {
		snapshot = snapshots->all[i];
		is_up = snapshot__is_up(snapshot, at_ns);
		ups[i] = (struct metric_point){
			.value = is_up,
			.time_ns = is_replay ? snapshot->time_ns : time_ns,
		};
		parts[used] = (struct metric_text_target){
			.labels = page->is_one		? "" :
				  page->content.is_utf8 ? snapshot->labels->utf8.text :
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
			.labels = page->is_one ? "" :
					   snapshot->ended->labels->set.text,
			.plan = snapshot->ended->plan,
			.points = snapshot->ended->points,
		};
	}
	if (parts && page->has_own)
		parts[used++] = (struct metric_text_target){
			.labels = "",
			.plan = &page->own.plan,
			.points = page->own.points,
		};
	page->parts = parts;
	page->ups = ups;
	page->content.targets = parts;
	page->content.count = used;
	return parts && ups ? 0 : -ENOMEM;
}

static int page__take(struct edition_content *content)
{
	struct page *page = (struct page *)content;
	int err = 0;

	/* Those of one target were looked for to know that there is one. */
	if (content->is_whole && !page->is_own) {
		page->version = atomic_load(&page->exposition->version);
		err = exposition__take(page->exposition, NULL, &page->snapshots);
	}
	if (!err && page->has_own)
		err = collect_own(page->exposition, &page->own);
	return err ?: page__list(page);
}

static void page__drop(struct edition_content *content)
{
	struct page *page = (struct page *)content;

	free(page->parts);
	free(page->ups);
	page->parts = NULL;
	page->ups = NULL;
	own_metrics__clear(&page->own);
	snapshots__put(&page->snapshots);
}

static bool page__is_current(const struct edition_content *content)
{
	const struct page *page = (const struct page *)content;

	/* The page of a fleet that runs changes without a scrape, too: dart_up has the time of now. */
	return page->exposition->is_replay &&
	       page->version == atomic_load(&page->exposition->version);
}

static void page__free(struct edition_content *content)
{
	page__drop(content);
	free(content);
}

static const struct edition_content_operations page_operations = {
	.take = page__take,
	.drop = page__drop,
	.is_current = page__is_current,
	.free = page__free,
};

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

enum page_kind {
	PAGE_ALL,
	PAGE_ONE, /* target, by its name */
	PAGE_OWN, /* the controller itself */
};

/* Takes @snapshots. */
static void send_page(struct exposition *exposition, struct snapshots *snapshots,
		      enum page_kind kind, const struct http_request *request,
		      struct http_answer *answer)
{
	const enum metric_text_format format = takes_openmetrics(request) ?
						       METRIC_TEXT_OPENMETRICS :
						       METRIC_TEXT_PROMETHEUS;
	const bool is_utf8 = takes_utf8(request);
	struct page *page = calloc(1, sizeof(*page));

	if (!page) {
		snapshots__put(snapshots);
		answer->status = 503;
		return;
	}
	page->content.operations = &page_operations;
	page->content.format = format;
	page->content.is_utf8 = is_utf8;
	page->content.is_whole = kind == PAGE_ALL;
	page->exposition = exposition;
	page->is_one = kind == PAGE_ONE;
	page->has_own = kind != PAGE_ONE;
	page->is_own = kind == PAGE_OWN;
	page->snapshots = *snapshots;
	*snapshots = (struct snapshots){};
	if (editions__answer(exposition->editions, &page->content,
			     gzip__is_accepted(http_request__header(
				     request, "Accept-Encoding")),
			     answer)) {
		answer->status = 503;
		return;
	}
	answer->type = metric_text__type(format, is_utf8);
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
	struct snapshots snapshots = {};

	if (name && exposition__take(data, name, &snapshots))
		return;
	if (name && !snapshots.count) {
		print_sentence(
			answer, 404,
			"there is no such target: see /sd for their names\n");
	} else if (!name || !refuse_lost(&snapshots, answer)) {
		send_page(data, &snapshots, name ? PAGE_ONE : PAGE_ALL, request,
			  answer);
	}
	snapshots__put(&snapshots);
}

static void fill_own(void *data, const struct http_request *request,
		     struct http_answer *answer)
{
	struct snapshots none = {};

	send_page(data, &none, PAGE_OWN, request, answer);
}

static void fill_sd(void *data, const struct http_request *request,
		    struct http_answer *answer)
{
	const char *host = http_request__header(request, "Host") ?: "localhost";
	const enum label_names_form form =
		exposition_sd__form(http_request__header(request, "User-Agent"));
	struct snapshots snapshots;
	FILE *file;
	size_t i;
	int err = 0;

	if (exposition__take(data, NULL, &snapshots))
		return;
	file = open_memstream(&answer->body, &answer->length);
	if (file)
		fputs("[\n", file);
	for (i = 0; file && i < snapshots.count && !err; i++) {
		if (i)
			fputs(",\n", file);
		err = exposition_sd__print(file, host, snapshots.all[i]->name,
					   snapshots.all[i]->target_labels, form);
	}
	if (file)
		fputs("\n]\n", file);
	/* A list that is cut short would end the scrapes of targets that are there. */
	if (file && (fclose(file) || err)) {
		free(answer->body);
		answer->body = NULL;
	}
	answer->type = answer->body ? "application/json" : NULL;
	snapshots__put(&snapshots);
}

void exposition__set_own(struct metric_output *output, const struct exposition_own *own)
{
	((struct exposition *)output)->own = *own;
}

void exposition__pages(struct metric_output *output,
		       struct http_page pages[static EXPOSITION_PAGES])
{
	pages[0] = (struct http_page){ .path = "/metrics", .fill = fill_metrics, .data = output };
	pages[1] = (struct http_page){ .path = "/sd", .fill = fill_sd, .data = output };
	pages[2] = (struct http_page){ .path = "/-/metrics", .fill = fill_own, .data = output };
}
