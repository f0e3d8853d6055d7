/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that a recording is written to, and those that it was written to before: PATH is
 * the newest, then come PATH.1, PATH.2 and so on.
 */
#ifndef CONTROLLER_RECORD_FILE_H
#define CONTROLLER_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#include "tools/controller/settings/settings.h"

struct record_file {
	const struct settings_record *settings;
	int fd; /* -1: none */
	uint64_t length;
	uint64_t number; /* in the recording, from 0 */
	uint64_t chunks;
	uint64_t total; /* bytes of all files of the recording */
	bool has_events;
	uint8_t recording[16]; /* random */
};

/*
 * Begins a recording.  With one file PATH must not exist; otherwise files that are there move
 * on if PATH is a recording, and is not being written.  @settings outlives the file.
 * Returns 0, or -errno with a sentence in @error; record_file__close() in both cases.
 */
int record_file__open(struct record_file *file, const struct settings_record *settings,
		      struct dart_error *error);
/*
 * The next file takes the place of this one, which moves on; the last one goes.  With @room, not
 * before the disk has room for so many bytes: nothing that was recorded goes for it.  Returns 0, or
 * -errno with a sentence in @error; then this file stays as it is.
 */
int record_file__rotate(struct record_file *file, uint64_t room, struct dart_error *error);
void record_file__close(struct record_file *file);

/* Does the bound allow so many bytes more? */
bool record_file__has_room(const struct record_file *file, uint64_t size);
/*
 * Numbers the chunk and appends it, whole or not at all.  Returns 0, or -errno with a
 * sentence in @error.
 */
int record_file__append(struct record_file *file, uint8_t *chunk, size_t size,
			struct dart_error *error);

#endif /* CONTROLLER_RECORD_FILE_H */
