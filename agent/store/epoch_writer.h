/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that writes the full bank of a store to a file, and clears it, so that the event loop
 * does not wait.  All writers of dartd together keep to one rate, and few of them compress at a
 * time: other users of the disk do not wait for 1,000 stores whose epochs end together.
 */
#ifndef EPOCH_WRITER_H
#define EPOCH_WRITER_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "epoch_folder.h"
#include "epoch_memory.h"

/* Bytes of files that all writers write in a second. */
#define EPOCH_WRITER_RATE (UINT64_C(64) << 20)
/* Files that are written at a time: each needs memory to compress.  Further writers wait. */
#define EPOCH_WRITERS_MAX 16

struct epoch_task;

struct epoch_writer {
	const struct epoch_folder *folder;
	struct epoch_memory *memory;
	int memory_fd; /* of @memory, whose banks are at the same offsets there */
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
	bool is_running;
	/* Private: */
	sd_event_source *event;
	int fd; /* of events */
	const uint8_t *banks; /* the same memory, for reading */
	struct epoch_clock clock;
	struct epoch_task *task; /* of the thread, NULL: none */
};

/* The members above @has_swept are set.  The caller keeps the descriptor until this returns. */
int epoch_writer__open(struct epoch_writer *writer, sd_event *loop, struct dart_error *error);
/*
 * Stops writing: the bank stays full.  A thread that waits for a disk goes on without the writer
 * and its memory, and may complete a file.
 */
void epoch_writer__close(struct epoch_writer *writer);

/*
 * Starts a thread that writes the epoch of the bank that is not in use, unless the bank has none or
 * @is_lost, and clears the bank, or sweeps it if it is clear.  No thread runs before.  After a
 * success @ended is called.
 */
int epoch_writer__start(struct epoch_writer *writer, bool is_lost, struct dart_error *error);

#endif /* EPOCH_WRITER_H */
