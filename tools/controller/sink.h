/* SPDX-License-Identifier: GPL-2.0-only */
/* Where samples go: a table on the screen, lines of JSON. */
#ifndef CONTROLLER_SINK_H
#define CONTROLLER_SINK_H

#include <stdbool.h>
#include <stdio.h>

#include "sample.h"

/* Who is spoken of: the agents are numbered from 0 without a gap. */
struct sink_target {
	size_t index;
	const char *name;
};

struct sink;

/* All but free return 0 or -errno: the output cannot be written. */
struct sink_operations {
	/* @sample and what it points at are valid during the call only. */
	int (*sample)(struct sink *sink, const struct sink_target *target,
		      const struct sample *sample,
		      const struct summary *summary);
	/* The agent cannot be scraped: values shown so far are void. */
	int (*lost)(struct sink *sink, const struct sink_target *target,
		    const char *reason);
	/* The last word on an agent. */
	int (*summary)(struct sink *sink, const struct sink_target *target,
		       const struct summary *summary);
	void (*free)(struct sink *sink);
};

struct sink {
	const struct sink_operations *operations;
	/* It redraws the terminal: other output there would spoil it. */
	bool owns_terminal;
};

/* Both return NULL if memory is short. */

/* One JSON object a line. */
struct sink *sink_json__new(FILE *out);

/*
 * @complete: every value of one scrape.  Otherwise what changes, redrawn in
 * place if @out is a terminal.
 */
struct sink *sink_table__new(FILE *out, size_t targets, bool complete);

#endif /* CONTROLLER_SINK_H */
