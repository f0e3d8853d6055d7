/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replays recordings: their tables and landed bytes go through the same decoder to the same
 * sink as those of agents, when they are due.
 *
 * The loop reads the files and hands scrapes over to the workers.  It never leaves out a
 * scrape: if the workers are behind, it waits until they have decoded what they were given.
 */
#ifndef CONTROLLER_RECORD_REPLAY_H
#define CONTROLLER_RECORD_REPLAY_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "tools/controller/base/timers.h"
#include "tools/controller/decode/decoder.h"
#include "tools/controller/outputs/output.h"
#include "tools/controller/settings/replay_options.h"

struct replay;

/* All outlive the replay. */
struct replay_context {
	sd_event *event;
	struct timers *timers;
	struct workers *workers;
	unsigned int worker_count;
	struct catalogs *catalogs;
	struct sink *sink;
	uint32_t value_bytes; /* of output: see budget.h */
	/* In the loop, once: all is replayed, and the sink has it. */
	void (*ended)(void *data);
	void *data;
	const struct replay_options *options;
};

/* Begins as soon as the loop runs.  Returns 0, or -errno with a sentence in @error. */
int replay__new(const struct replay_context *context, struct replay **replay,
		struct dart_error *error);
/*
 * Says what was wrong with the recordings, a sentence each; true if nothing was.  When it has
 * ended, or the workers have stopped.
 */
bool replay__report(const struct replay *replay, struct output *log);
/* Once the workers have stopped.  NULL is allowed. */
void replay__free(struct replay *replay);

#endif /* CONTROLLER_RECORD_REPLAY_H */
