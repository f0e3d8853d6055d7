/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder: a tap that writes what has landed to files, in a thread of its own.
 *
 * What waits for the thread is bounded in bytes: if the disk is too slow, scrapes are left out
 * and counted, which is said in the log once an hour.  An event is in the file 5 s after it
 * happened at the latest: a recorder that is killed loses no more than that.
 */
#ifndef CONTROLLER_RECORDER_H
#define CONTROLLER_RECORDER_H

#include <libdart/error.h>

#include "tools/controller/decode/tap.h"
#include "tools/controller/outputs/output.h"

/* Bytes that wait: some seconds of a hundred hosts, or one scrape that is larger. */
#define RECORDER_BYTES (64U << 20)
/* How long events are collected for a chunk. */
#define RECORDER_CHUNK_MS 5000

struct recorder;

/*
 * Begins a recording; @settings and @log outlive it.  Returns 0, or -errno with a sentence in
 * @error.
 */
int recorder__open(const struct settings_record *settings, struct output *log,
		   struct recorder **recorder, struct dart_error *error);
struct tap *recorder__tap(struct recorder *recorder);
/*
 * Readable once nothing more is recorded: its only file is full, or damaged.  A disk that is full
 * does not end a recording, which goes on when there is room: in the next file, or in the only one.
 */
int recorder__event_fd(const struct recorder *recorder);
/* Those of the recorder @data, in any thread: an output_list_fill. */
void recorder__figures(void *data, struct output_figures *figures);
/*
 * No more calls of the tap: writes all that waits, and says in the log what was recorded and
 * left out.  Returns 0, or -errno if the recording could not be written to its end, which the
 * log has been told.  NULL is allowed.
 */
int recorder__close(struct recorder *recorder);

#endif /* CONTROLLER_RECORDER_H */
