/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that writes the full bank of a store to a file at a bounded rate, and clears it: so that
 * neither the event loop nor other users of the disk wait.
 */
#ifndef EPOCH_WRITER_H
#define EPOCH_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "epoch_folder.h"
#include "epoch_memory.h"

/* Bytes of files that a writer writes in a second. */
#define EPOCH_WRITER_RATE (UINT64_C(64) << 20)

struct epoch_writer {
	const struct epoch_folder *folder;
	struct epoch_memory *memory;
	struct dart_epoch epoch; /* of the full bank; its times and reporters are private */
	/* The bank is clear, and in a file, if @ret is 0; otherwise it is still full, see @error. */
	void (*ended)(void *subject, int ret, const struct dart_error *error);
	void *subject;
	/* For @ended: the bank was clear already, and was swept of the slots that late reports wrote. */
	bool has_swept;
	uint64_t swept_slots;
	/* For @ended: what epoch_folder__retain() returned last, and its sentence if it failed. */
	int retained;
	struct dart_error retain_error;
	/* Private: */
	sd_event_source *event;
	int fd; /* of events */
	pthread_t thread;
	bool is_running;
	atomic_bool has_to_stop;
	int64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t bytes; /* since then */
	int ret;
	struct dart_error error;
};

/* The members above @has_swept are set. */
int epoch_writer__open(struct epoch_writer *writer, sd_event *loop, struct dart_error *error);
/* Stops writing: the bank stays full. */
void epoch_writer__close(struct epoch_writer *writer);

/*
 * Starts a thread that writes the epoch of the bank that is not in use, unless the bank has none or
 * @is_lost, and clears the bank, or sweeps it if it is clear.  No thread runs before.  After a
 * success @ended is called.
 */
int epoch_writer__start(struct epoch_writer *writer, bool is_lost, struct dart_error *error);

#endif /* EPOCH_WRITER_H */
