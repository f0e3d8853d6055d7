/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The replay of recordings, which a controller runs instead of scraping.  It ends when all
 * outputs have got everything; if an output serves requests, such as the page, when a signal
 * arrives.
 */
#ifndef CONTROLLER_CONTROLLER_REPLAY_H
#define CONTROLLER_CONTROLLER_REPLAY_H

#include <libdart/error.h>

#include "controller_outputs.h"
#include "fleet/target.h"
#include "record/replay.h"

/* Zeroed memory: nothing is replayed. */
struct controller_replay {
	const struct target_context *context;
	struct controller_outputs *outputs;
	struct replay *replay;
	struct work print; /* prints the dump after the replay */
	int printed_fd; /* eventfd, written by print */
	sd_event_source *printed;
	int print_error; /* set by print, valid when printed_fd is readable */
	bool has_ended; /* all outputs got everything, although they may not have sent it yet */
	bool is_reported;
	bool is_whole; /* set with is_reported: no recording was damaged */
};

/*
 * Starts the replay of the options of @context, whose workers run, and makes outputs wait for
 * their readers from now on.  Returns 0, or -errno with a sentence in @error.
 */
int controller_replay__open(struct controller_replay *replay, const struct target_context *context,
			    struct controller_outputs *outputs, struct dart_error *error);
/*
 * Call it before the workers stop: if the replay has not ended, outputs no longer wait, and the
 * dump is given up.  Does nothing to zeroed memory.
 */
void controller_replay__stop(struct controller_replay *replay);
/*
 * Call it after the workers stopped: logs damage of the recordings, unless that was done.
 * Returns 0; -EBADMSG after damage; or the -errno of a dump, which was reported.
 */
int controller_replay__finish(struct controller_replay *replay);
/* Call it after the workers stopped.  Does nothing to zeroed memory. */
void controller_replay__close(struct controller_replay *replay);

#endif /* CONTROLLER_CONTROLLER_REPLAY_H */
