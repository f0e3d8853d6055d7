/* SPDX-License-Identifier: GPL-2.0-only */
/* What a controller records beside its outputs. */
#ifndef CONTROLLER_CONTROLLER_RECORD_H
#define CONTROLLER_CONTROLLER_RECORD_H

#include <libdart/error.h>

#include "fleet/target.h"
#include "record/recorder.h"

/* Zeros: nothing is recorded. */
struct controller_record {
	const struct target_context *context;
	struct recorder *recorder;
	struct output_list *outputs; /* that the recorder is in */
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

#endif /* CONTROLLER_CONTROLLER_RECORD_H */
