/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of a page of metrics, from the snapshots of all targets or of one, and from the
 * controller itself.  editions.h prints them.
 */
#ifndef CONTROLLER_PAGE_H
#define CONTROLLER_PAGE_H

#include "editions.h"
#include "snapshot_table.h"
#include "tools/controller/metrics/own_metrics.h"
#include "tools/controller/settings/shard.h"

enum page_kind {
	PAGE_ALL,
	PAGE_ONE, /* one target, or the targets that share the name of a host */
	PAGE_OWN, /* the controller itself */
};

/* The source of metrics of the controller itself. */
struct exposition_own {
	/* Called in any thread: adds families to @metrics.  NULL: there are none. */
	void (*add)(void *data, struct own_metrics *metrics);
	/* Called in any thread: the members of the controller's shard.  NULL: it has none. */
	void (*membership)(void *data, struct membership *membership);
	void *data;
};

/* The sources of the values of all pages. */
struct page_sources {
	bool is_replay; /* values are older than now */
	struct exposition_own own;
	struct editions *editions; /* for their counts, which pages contain */
	struct snapshot_table table;
	struct ended_losses losses; /* last values that no page contained */
};

/*
 * Makes the content for editions__answer().  @sources must outlive it.  Takes the holds of
 * @snapshots in any case, and leaves them empty: the snapshots of PAGE_ONE; empty for other kinds.
 * Returns NULL if out of memory.
 */
struct edition_content *page__new(struct page_sources *sources, enum page_kind kind,
				  struct snapshots *snapshots, enum metric_text_format format,
				  bool is_utf8);

#endif /* CONTROLLER_PAGE_H */
