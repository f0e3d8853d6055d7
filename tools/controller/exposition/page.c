// SPDX-License-Identifier: GPL-2.0-only
/* Collects the values of a page.  All but page__new() runs in threads of makers of editions. */
#include "page.h"

#include <errno.h>
#include <stdlib.h>

#include <libdart/clock.h>

#include "tools/controller/base/schedule.h"
#include "tools/controller/metrics/plan/plan_own.h"

struct page {
	struct edition_content content;
	struct page_sources *sources;
	uint64_t version; /* of the snapshot table, when the snapshots were taken */
	struct snapshots snapshots; /* held until the page is printed */
	struct metric_text_target *parts;
	struct metric_point *ups;
	struct own_metrics own;
	enum page_kind kind;
};

static void add_readers(struct own_metrics *metrics, struct editions *editions)
{
	struct editions_counts counts;
	struct label_list labels;
	enum cut_reason i;

	editions__count(editions, &counts);
	own_metrics__add_one(metrics, "dart_controller_page_readers",
			     "Requests for pages of metrics that are being answered.", "",
			     METRIC_GAUGE, counts.open);
	own_metrics__add_one(metrics, "dart_controller_page_bytes",
			     "Memory of pages that readers have not taken yet.", "bytes",
			     METRIC_GAUGE, counts.bytes);
	own_metrics__add_one(metrics, "dart_controller_page_limit_bytes",
			     "Limit of the memory of pages.", "bytes", METRIC_GAUGE, counts.limit);
	own_metrics__add_one(metrics, "dart_controller_pages_total",
			     "Pages of metrics that were made, each for all that asked for it.", "",
			     METRIC_COUNTER, counts.made);
	own_metrics__begin(metrics, "dart_controller_page_readers_cut_total",
			   "Readers that were cut off because they were too slow, by reason.", "",
			   METRIC_COUNTER);
	for (i = 0; i < CUT_REASONS; i++) {
		labels = (struct label_list){ .count = 0 };
		label_list__add(&labels, "reason", cut_reason__name(i));
		own_metrics__add(metrics, &labels, counts.cut[i]);
	}
}

static void add_losses(struct own_metrics *metrics, const struct ended_losses *losses)
{
	struct label_list labels;
	int loss;

	own_metrics__begin(metrics, "dart_controller_page_ended_series_lost_total",
			   "Series that ended, and whose last values no page contained.", "",
			   METRIC_COUNTER);
	for (loss = 0; loss < ENDED_LOSSES; loss++) {
		labels.count = 0;
		label_list__add(&labels, "reason", ended_loss__name(loss));
		own_metrics__add(metrics, &labels, atomic_load(&losses->series[loss]));
	}
}

/* The controller's own metrics.  Returns 0 or -ENOMEM. */
static int page__collect_own(struct page *page)
{
	const struct exposition_own *own = &page->sources->own;

	if (own->add)
		own->add(own->data, &page->own);
	add_readers(&page->own, page->sources->editions);
	add_losses(&page->own, &page->sources->losses);
	return own_metrics__finish(&page->own, dart_clock__ns(CLOCK_REALTIME));
}

/* No labels on a page of one target, whose reader knows them; else in names that it accepts. */
static const char *page__labels(const struct page *page, const struct target_labels *labels)
{
	if (page->kind == PAGE_ONE)
		return "";
	return page->content.is_utf8 ? labels->utf8.text : labels->set.text;
}

/* The same for dart_up. */
static const char *page__up_labels(const struct page *page, const struct target_labels *labels)
{
	if (page->kind == PAGE_ONE)
		return "";
	return page->content.is_utf8 ? labels->up_utf8.text : labels->up_set.text;
}

/*
 * Lists up to three parts for each target: dart_up, with the time of now, or of the scrape in a
 * replay; its series; and its ended series, which are served with this page.  The metrics of the
 * controller itself are a part without labels.
 */
static int page__list(struct page *page)
{
	const struct snapshots *snapshots = &page->snapshots;
	const size_t count = snapshots->count;
	struct metric_text_target *parts = calloc(3 * count + 2, sizeof(*parts));
	struct metric_point *ups = calloc(count + 1, sizeof(*ups));
	const bool is_replay = page->sources->is_replay;
	const int64_t time_ns = dart_clock__ns(CLOCK_REALTIME);
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
			.labels = page__up_labels(page, snapshot->labels),
			.plan = &plan_up__of_pages,
			.points = &ups[i],
		};
		used++;
		if (!is_up)
			continue;
		parts[used++] = (struct metric_text_target){
			.labels = page__labels(page, snapshot->labels),
			.plan = snapshot->plan,
			.points = snapshot->points,
		};
		if (!snapshot->ended)
			continue;
		ended__serve(snapshot->ended, at_ns);
		parts[used++] = (struct metric_text_target){
			.labels = page__labels(page, snapshot->ended->labels),
			.plan = snapshot->ended->plan,
			.points = snapshot->ended->points,
		};
	}
	if (parts && page->kind != PAGE_ONE)
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
	struct page_sources *sources = page->sources;
	int err = 0;

	/* PAGE_ONE brings its snapshots: the request looked them up to know that they exist. */
	if (page->kind == PAGE_ALL) {
		page->version = atomic_load(&sources->table.version);
		err = snapshot_table__take(&sources->table, NULL, &page->snapshots);
	}
	if (!err && page->kind != PAGE_ONE)
		err = page__collect_own(page);
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

	/* Outside of a replay dart_up carries the time of now, so no two pages are equal. */
	return page->sources->is_replay &&
	       page->version == atomic_load(&page->sources->table.version);
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

struct edition_content *page__new(struct page_sources *sources, enum page_kind kind,
				  struct snapshots *snapshots, enum metric_text_format format,
				  bool is_utf8)
{
	struct page *page = calloc(1, sizeof(*page));

	if (!page) {
		snapshots__put(snapshots);
		return NULL;
	}
	page->content.operations = &page_operations;
	page->content.format = format;
	page->content.is_utf8 = is_utf8;
	page->content.is_whole = kind == PAGE_ALL;
	page->sources = sources;
	page->kind = kind;
	page->snapshots = *snapshots;
	*snapshots = (struct snapshots){};
	return &page->content;
}
