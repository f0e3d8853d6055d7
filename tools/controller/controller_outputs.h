/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that samples go to: standard output, as JSON or as a table, and outputs of metrics.
 * Each has a thread of its own, so none delays another one, nor a READ.
 */
#ifndef CONTROLLER_CONTROLLER_OUTPUTS_H
#define CONTROLLER_CONTROLLER_OUTPUTS_H

#include <libdart/error.h>

#include "condition/condition.h"
#include "exposition/exposition.h"
#include "http/http_access.h"
#include "outputs/output.h"
#include "outputs/output_list.h"
#include "settings/options.h"

struct sink;

struct controller_outputs {
	struct output_list *list; /* that all of them are in */
	struct output *standard; /* standard output */
	struct sink *sink;
	struct sink *metrics; /* of the sink; NULL: there is none */
	struct metric_output *receivers[RECEIVERS_MAX]; /* of the sink */
	size_t receiver_count;
	struct metric_output *dump; /* as OpenMetrics, of the sink; NULL: there is none */
	struct http_access access; /* to these pages */
	struct condition *condition; /* set before controller_outputs__open(); not owned */
	struct http_page pages[EXPOSITION_PAGES + CONDITION_PAGES];
	const struct http_settings *http; /* of the exposition; NULL without --listen */
	struct metric_output *web; /* of the sink; NULL without --web */
	struct http_server *server; /* of these pages; NULL: there is none */
};

/*
 * Opens those of @options and adds them to @list; both outlive them, as does @log; @outputs is
 * all zeros before but for condition.
 * Returns 0; or -errno, with a sentence in @error if there is something to say:
 * controller_outputs__close() in both cases.
 */
int controller_outputs__open(struct controller_outputs *outputs, const struct options *options,
			     struct output *log, struct output_list *list,
			     struct dart_error *error);
/*
 * In any thread.  With @waits workers wait for standard output and for receivers, as a replay
 * can, instead of dropping what does not fit.
 */
void controller_outputs__set_waits(struct controller_outputs *outputs, bool waits);
/*
 * In the control loop: reads the certificates, keys, tokens and passwords of both servers again.
 * Returns 0, or -errno with a sentence, and what cannot be used stays as it was.
 */
int controller_outputs__reload(struct controller_outputs *outputs, struct dart_error *error);
/* Standard output alone; what is not written is dropped. */
void controller_outputs__close_standard(struct controller_outputs *outputs);
/* When no thread has the sink any more. */
void controller_outputs__close(struct controller_outputs *outputs);

#endif /* CONTROLLER_CONTROLLER_OUTPUTS_H */
