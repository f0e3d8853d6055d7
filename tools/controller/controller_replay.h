/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a controller replays instead of scraping, until all outputs have it; if some of them
 * are asked, such as the page, until a signal.
 */
#ifndef CONTROLLER_CONTROLLER_REPLAY_H
#define CONTROLLER_CONTROLLER_REPLAY_H

#include <libdart/error.h>

#include "controller_outputs.h"
#include "fleet/target.h"
#include "record/replay.h"

/* Zeros: nothing is replayed. */
struct controller_replay {
	const struct target_context *context;
	struct controller_outputs *outputs;
	struct replay *replay;
	struct work print; /* of the dump, once all is replayed */
	int printed_fd; /* eventfd */
	sd_event_source *printed;
	int print_error; /* of the worker, until it is done */
	bool has_ended; /* all outputs have it, or wait for what they send it to */
	bool is_reported;
	bool is_whole; /* as reported */
};

/*
 * Begins the replay of the options of @context, if they have one, whose workers run; outputs
 * wait from now on.  Returns 0, or -errno with a sentence in @error.
 */
int controller_replay__open(struct controller_replay *replay, const struct target_context *context,
			    struct controller_outputs *outputs, struct dart_error *error);
/*
 * Before the workers stop: if not all is replayed, outputs wait no more, and nothing more is
 * dumped.  Also of zeros.
 */
void controller_replay__stop(struct controller_replay *replay);
/*
 * When the workers have stopped: says what was wrong, if that was not said yet.  Returns 0;
 * -EBADMSG if something was; or another -errno of a dump, which has been told.
 */
int controller_replay__finish(struct controller_replay *replay);
/* When the workers have stopped; also of zeros. */
void controller_replay__close(struct controller_replay *replay);

#endif /* CONTROLLER_CONTROLLER_REPLAY_H */
