/* SPDX-License-Identifier: GPL-2.0-only */
/* Sinks of samples: a table on the screen, lines of JSON. */
#ifndef CONTROLLER_SINK_H
#define CONTROLLER_SINK_H

#include <stdbool.h>
#include <stdio.h>

#include "sample.h"
#include "settings.h"

struct sink;

/* All but free return 0, or -errno if the output cannot be written. */
struct sink_operations {
	/* @sample and all it points to are valid during the call only. */
	int (*sample)(struct sink *sink, const struct target_settings *target,
		      const struct sample *sample,
		      const struct summary *summary);
	/* The target cannot be scraped: values shown so far are stale. */
	int (*lost)(struct sink *sink, const struct target_settings *target,
		    const char *reason);
	/* Called once per target, at the end; may be NULL. */
	int (*summary)(struct sink *sink, const struct target_settings *target,
		       const struct summary *summary);
	void (*free)(struct sink *sink);
};

struct sink {
	const struct sink_operations *operations;
	/* Redraws the terminal: messages on it would be overwritten. */
	bool owns_terminal;
};

/* Both return NULL if out of memory. */

/* One JSON object per line of standard output. */
struct sink *sink_json__new(void);

/*
 * @complete: every value of one scrape.  Otherwise as much as fits, redrawn in
 * place if @out is a terminal.
 */
struct sink *sink_table__new(FILE *out, size_t targets, bool complete);

#endif /* CONTROLLER_SINK_H */
