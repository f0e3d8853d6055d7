/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink of samples: turns them into text for an output, as JSON or as a table. */
#ifndef CONTROLLER_SINK_H
#define CONTROLLER_SINK_H

#include <stdbool.h>

#include "sample.h"
#include "tools/controller/settings/settings.h"

struct sink;

/*
 * Several workers call these at the same time, but for each target only one of them. No call
 * blocks: if the output lags, the sink drops the sample.
 *
 * Calls that return a number return 0; -ENOBUFS if the output has dropped the text, which it
 * reports itself; or -ENOMEM, which means the same.
 */
struct sink_operations {
	/*
	 * @sample and everything that it points to are valid during the call only, except as the
	 * next sample's previous one. @decoded covers all samples of this target so far.
	 */
	int (*sample)(struct sink *sink, const struct target_settings *target,
		      const struct sample *sample, const struct latency *decoded);
	/* The target cannot be scraped now, for @reason. */
	int (*lost)(struct sink *sink, const struct target_settings *target, const char *reason);
	/*
	 * The target is lost, see schedule__lost_after_ns(): values passed so far are stale. Called
	 * again for each interval until a sample arrives; @time_ns is CLOCK_REALTIME of the
	 * controller. May be NULL.
	 */
	int (*down)(struct sink *sink, const struct target_settings *target, int64_t time_ns,
		    const char *reason);
	/*
	 * The event loop calls this once per target, at the target's end, when its worker has
	 * finished with it; may be NULL. @is_last: the program ends, and the output makes room in
	 * any case. Before that, targets may come and go for ever while no reader drains the
	 * output.
	 */
	int (*summary)(struct sink *sink, const struct target_settings *target,
		       const struct summary *summary, bool is_last);
	/*
	 * The event loop calls added() before the first of all calls for @target, and removed()
	 * after the last; then another target may get its index. Both may be NULL.
	 */
	void (*added)(struct sink *sink, const struct target_settings *target);
	void (*removed)(struct sink *sink, const struct target_settings *target);
	void (*free)(struct sink *sink);
};

struct sink {
	const struct sink_operations *operations;
	/* This sink redraws the terminal: messages would be overwritten. */
	bool owns_terminal;
	/* Samples come with the previous one, and with sums of copies. */
	bool compares;
	/* Takes partial samples, too. */
	bool takes_parts;
};

#endif /* CONTROLLER_SINK_H */
