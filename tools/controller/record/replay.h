/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replays recordings: passes their tables and landed bytes, when they are due, through the decoder
 * and the sink that also handle agents.
 *
 * The loop reads the files and hands scrapes over to the workers.  It never drops a scrape: if the
 * workers fall behind, it waits until they have decoded all scrapes.
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

/* All pointers outlive the replay. */
struct replay_context {
	sd_event *event;
	struct timers *timers;
	struct workers *workers;
	unsigned int worker_count;
	struct catalogs *catalogs;
	struct sink *sink;
	uint32_t value_bytes; /* value bytes of the output: see budget.h */
	/* Called in the loop, once, when all is replayed and the sink took everything. */
	void (*ended)(void *data);
	void *data;
	const struct replay_options *options;
};

/* The replay begins as soon as the loop runs.  Returns 0, or -errno with a sentence in @error. */
int replay__new(const struct replay_context *context, struct replay **replay,
		struct dart_error *error);
/*
 * Reports each defect of the recordings in a sentence; true if there is none.  Call this when the
 * replay has ended, or the workers have stopped.
 */
bool replay__report(const struct replay *replay, struct output *log);
/* Call this after the workers have stopped.  NULL is allowed. */
void replay__free(struct replay *replay);

#endif /* CONTROLLER_RECORD_REPLAY_H */
