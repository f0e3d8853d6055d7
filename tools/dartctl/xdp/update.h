/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes the collectors of an XDP reporter while it runs. */
#ifndef UPDATE_H
#define UPDATE_H

#include <libdart/error.h>
#include <libdart/report/journal_target.h>
#include <libdart/report/sketch_target.h>

/* The collectors of a reporter; @journal or @sketch if it is of appender.h or merger.h. */
struct xdp_targets {
	const struct dart_collectors *collectors;
	const struct dart_journal_target *journal;
	const struct dart_sketch_target *sketch;
};

/*
 * Finds the address that the reporter on @interface reports from.  Returns 0, or
 * -errno with a sentence in @error.
 */
int xdp_update__find_source(const char *interface, struct in_addr *source,
			    struct dart_error *error);

/*
 * Gives the reporter the collectors of @targets, which must be the same stores, the same journal or
 * the same sketch with the same geometry.  Changes only collectors that differ from the present
 * ones, or whose epoch differs from the one in @last, unless that is NULL.  Calls @changed for each
 * of them.  A collector that keeps its queue pair, as at a rotation of its store, changes in one
 * step, and its PSNs go on.  While another queue pair takes its place, its shares have no collector:
 * their packets pass and count as unassigned.  Its PSNs begin again.  Then each share that is to
 * have another collector moves to it, in one step, and *@moved becomes their number.
 */
int xdp_update(const char *interface, const struct xdp_targets *targets,
	       const struct dart_collectors *last,
	       void (*changed)(void *argument, uint32_t old_qpn,
			       const struct dart_collector *collector),
	       void *argument, uint32_t *moved, struct dart_error *error);

#endif /* UPDATE_H */
