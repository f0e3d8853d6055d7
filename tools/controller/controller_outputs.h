/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The outputs that get samples: standard output, as JSON or as a table, and outputs of metrics.
 * Each output runs a thread of its own, so it delays neither another output nor a READ.
 */
#ifndef CONTROLLER_CONTROLLER_OUTPUTS_H
#define CONTROLLER_CONTROLLER_OUTPUTS_H

#include <libdart/error.h>

#include "condition/condition.h"
#include "controller_receivers.h"
#include "controller_servers.h"
#include "exposition/exposition.h"
#include "outputs/output.h"
#include "outputs/output_list.h"
#include "settings/options.h"

struct sink;

struct controller_outputs {
	struct output_list *list; /* holds standard output, receivers, and the sink of metrics */
	struct output *standard; /* standard output */
	struct sink *sink; /* owns metrics, receivers, dump and web, and the exposition */
	struct sink *metrics; /* NULL without outputs of metrics */
	struct controller_receivers receivers;
	struct metric_output *dump; /* in the OpenMetrics format; NULL without such a dump */
	struct condition *condition; /* set before controller_outputs__open(); not owned */
	const struct validity *validity; /* likewise; receivers push while it holds */
	struct http_page pages[EXPOSITION_PAGES + CONDITION_PAGES]; /* of the exposition */
	struct controller_servers servers;
};

/*
 * Opens the outputs of @options and adds them to @list.  @options, @list and @log outlive
 * @outputs, whose members except condition and validity the caller sets to zero.  Returns 0; or
 * -errno, with a sentence in @error if errno does not say enough.  Call controller_outputs__close()
 * in both cases.
 */
int controller_outputs__open(struct controller_outputs *outputs, const struct options *options,
			     struct output *log, struct output_list *list,
			     struct dart_error *error);
/*
 * In any thread.  With @waits, workers wait until standard output and receivers make room, as a
 * replay can, instead of dropping samples.
 */
void controller_outputs__set_waits(struct controller_outputs *outputs, bool waits);
/* From now on receivers can change.  Returns 0 or -errno. */
int controller_outputs__watch(struct controller_outputs *outputs, sd_event *event,
			      struct workers *workers, unsigned int worker_count);
/* Closes standard output only, and drops texts that are not written. */
void controller_outputs__close_standard(struct controller_outputs *outputs);
/* Call it when no thread uses the sink any more. */
void controller_outputs__close(struct controller_outputs *outputs);

#endif /* CONTROLLER_CONTROLLER_OUTPUTS_H */
