/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of a page of metrics: of the snapshots of all targets or of one, and of the
 * controller itself.  editions.h prints them.
 */
#ifndef CONTROLLER_PAGE_H
#define CONTROLLER_PAGE_H

#include "editions.h"
#include "snapshot_table.h"
#include "tools/controller/metrics/own_metrics.h"

enum page_kind {
	PAGE_ALL,
	PAGE_ONE, /* target, by its name */
	PAGE_OWN, /* the controller itself */
};

/* In any thread: adds families of the controller itself.  NULL: nothing is known of it. */
struct exposition_own {
	void (*add)(void *data, struct own_metrics *metrics);
	void *data;
};

/* What all pages are made of. */
struct page_sources {
	bool is_replay; /* values are of another time than now */
	struct exposition_own own;
	struct editions *editions; /* of the pages that readers have now */
	struct snapshot_table table;
	struct ended_losses losses; /* series that ended and that no page has had */
};

/*
 * For editions__answer().  @sources outlive it.  Takes @snapshots in any case: those of PAGE_ONE,
 * else none.  NULL if out of memory.
 */
struct edition_content *page__new(struct page_sources *sources, enum page_kind kind,
				  struct snapshots *snapshots, enum metric_text_format format,
				  bool is_utf8);

#endif /* CONTROLLER_PAGE_H */
