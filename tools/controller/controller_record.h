/* SPDX-License-Identifier: GPL-2.0-only */
/* What a controller records beside its outputs, or replays instead of scraping. */
#ifndef CONTROLLER_CONTROLLER_RECORD_H
#define CONTROLLER_CONTROLLER_RECORD_H

#include <libdart/error.h>

#include "record/recorder.h"
#include "record/replay.h"
#include "target.h"

/* Zeros: nothing is recorded. */
struct controller_record {
	const struct target_context *context;
	struct recorder *recorder;
	sd_event_source *ended;
};

/*
 * Begins the recording of the options of @context, if they have one, and sets its tap.
 * Returns 0, or -errno with a sentence in @error; controller_record__close() in both cases.
 */
int controller_record__open(struct controller_record *record,
			    struct target_context *context,
			    struct dart_error *error);
/*
 * When the workers have stopped.  Returns 0, or -errno if the recording could not be written
 * to its end, which the log has been told.
 */
int controller_record__close(struct controller_record *record);

/* As replay__new(), of the options of @context, whose workers run. */
int controller_record__replay(const struct target_context *context,
			      struct replay **replay, struct dart_error *error);

#endif /* CONTROLLER_CONTROLLER_RECORD_H */
