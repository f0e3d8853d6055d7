/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The receivers of a controller, to which outputs push.  They come and go when the configuration is
 * read again, like targets: a receiver whose settings are the same goes on undisturbed, one that is
 * not configured any more sends the samples that it has, for as long as the end of the program
 * would let it, and a new one begins with the next scrapes.  Changed settings are those of a new
 * one; if both keep samples in one directory, the new one begins when the old one has ended.
 *
 * All functions are called in the control loop, or before and after it.
 */
#ifndef CONTROLLER_CONTROLLER_RECEIVERS_H
#define CONTROLLER_CONTROLLER_RECEIVERS_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "base/validity.h"
#include "decode/sink.h"
#include "decode/workers.h"
#include "metrics/metric/metric.h"
#include "outputs/output_list.h"
#include "settings/output_settings.h"

struct receiver;

struct controller_receivers {
	struct receiver *all[2 * RECEIVERS_MAX]; /* half of them may be about to end */
	size_t count;
	struct output_list *list;
	struct output *log;
	const struct validity *validity;
	struct sink *metrics; /* owns the ones that are not about to end; NULL before it is opened */

	sd_event *event; /* NULL: receivers stay as they are */
	struct workers *workers;
	unsigned int worker_count;
	int used_fd; /* eventfd: workers are done with one that is about to end */
	sd_event_source *used;
};

/*
 * Opens the receivers of @settings, whose members list, log and validity the caller has set, and
 * adds them to the list.  Their outputs belong to a sink or the caller from then on.  Returns 0; or
 * -errno with a sentence in @error if errno does not say enough.  controller_receivers__close() in
 * both cases.
 */
int controller_receivers__open(struct controller_receivers *receivers,
			       const struct output_settings *settings, struct dart_error *error);
/* The outputs of all of them.  Returns their number. */
size_t controller_receivers__outputs(const struct controller_receivers *receivers,
				     struct metric_output *outputs[static 2 * RECEIVERS_MAX]);
/* From now on receivers can change, of the sink @metrics.  Returns 0 or -errno. */
int controller_receivers__watch(struct controller_receivers *receivers, struct sink *metrics,
				sd_event *event, struct workers *workers,
				unsigned int worker_count);
/*
 * From now on the receivers of @settings are wanted, with their rules for series.  Returns 0; or
 * -errno with a sentence in @error, and all receivers stay as they were.
 */
int controller_receivers__want(struct controller_receivers *receivers,
			       const struct output_settings *settings, struct dart_error *error);
/*
 * After the workers ended, before the sink is freed: nobody asks for figures any more, and the ones
 * that are about to end are freed.
 */
void controller_receivers__close(struct controller_receivers *receivers);

#endif /* CONTROLLER_CONTROLLER_RECEIVERS_H */
