/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink of samples: turns them into text for an output, as JSON or as a table. */
#ifndef CONTROLLER_SINK_H
#define CONTROLLER_SINK_H

#include <stdbool.h>

#include "sample.h"
#include "tools/controller/settings/settings.h"

struct sink;

/*
 * Called by several workers at a time, but for each target by one of them.  Nothing blocks:
 * if the output is behind, the sample is dropped.
 *
 * Those that return a number return 0; -ENOBUFS if the output has dropped the text, which it says itself;
 * or -ENOMEM, which means the same.
 */
struct sink_operations {
	/*
	 * @sample and all it points to are valid during the call only, but for the next
	 * sample's previous one.  @decoded: of all samples of this target so far.
	 */
	int (*sample)(struct sink *sink, const struct target_settings *target,
		      const struct sample *sample, const struct latency *decoded);
	/* The target cannot be scraped now, for @reason. */
	int (*lost)(struct sink *sink, const struct target_settings *target, const char *reason);
	/*
	 * The target is lost, see schedule__lost_after_ns(): values passed so far are stale.
	 * Called again for each interval until there is a sample; @time_ns is CLOCK_REALTIME of
	 * the controller.  May be NULL.
	 */
	int (*down)(struct sink *sink, const struct target_settings *target, int64_t time_ns,
		    const char *reason);
	/*
	 * Once per target, at its end, by the event loop when its worker is done with it; may
	 * be NULL.  @is_last: the program ends, and room is made for it in any case.  Before,
	 * targets may come and go for ever while nobody reads.
	 */
	int (*summary)(struct sink *sink, const struct target_settings *target,
		       const struct summary *summary, bool is_last);
	/*
	 * Both by the event loop, and both may be NULL: before the first of all calls for
	 * @target, and after the last.  Then another one may have its index.
	 */
	void (*added)(struct sink *sink, const struct target_settings *target);
	void (*removed)(struct sink *sink, const struct target_settings *target);
	void (*free)(struct sink *sink);
};

struct sink {
	const struct sink_operations *operations;
	/* Redraws the terminal: messages on it would be overwritten. */
	bool owns_terminal;
	/* A sample with the one before, and copies added up. */
	bool compares;
};

#endif /* CONTROLLER_SINK_H */
