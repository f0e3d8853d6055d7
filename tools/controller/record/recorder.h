/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder: a tap that writes landed scrapes to files, in its own thread.
 *
 * The queue to the thread is limited in bytes.  If the disk is too slow, the recorder drops and
 * counts scrapes, and reports that in the log once an hour.  It writes each event within 5 s, so a
 * recorder that is killed loses no more.
 */
#ifndef CONTROLLER_RECORDER_H
#define CONTROLLER_RECORDER_H

#include <libdart/error.h>

#include "tools/controller/decode/tap.h"
#include "tools/controller/outputs/output.h"

/* Limit of the queue: some seconds of a hundred hosts, or a single larger scrape. */
#define RECORDER_BYTES (64U << 20)
/* Time for which events are collected for a chunk. */
#define RECORDER_CHUNK_MS 5000

struct recorder;

/*
 * Begins a recording.  @settings and @log outlive it.  Returns 0, or -errno with a sentence in
 * @error.
 */
int recorder__open(const struct settings_record *settings, struct output *log,
		   struct recorder **recorder, struct dart_error *error);
struct tap *recorder__tap(struct recorder *recorder);
/*
 * Returns a descriptor that becomes readable once the recording ended, because its only file is
 * full or damaged.  A full disk does not end a recording.  It continues when there is room, in the
 * next file, or in the only one.
 */
int recorder__event_fd(const struct recorder *recorder);
/* Fills in the figures of the recorder @data, in any thread: an output_list_fill. */
void recorder__figures(void *data, struct output_figures *figures);
/*
 * Call this after the last call of the tap.  Writes all queued events, and reports in the log how
 * many scrapes were recorded and dropped.  Returns 0, or -errno if the end of the recording could
 * not be written, which the log reported.  NULL is allowed.
 */
int recorder__close(struct recorder *recorder);

#endif /* CONTROLLER_RECORDER_H */
