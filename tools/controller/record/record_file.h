/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The current file of a recording and its predecessors: PATH is the newest, PATH.1 the one before,
 * then PATH.2 and so on.
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
	int fd; /* -1 if closed */
	uint64_t length;
	uint64_t number; /* of the file in its recording, from 0 */
	uint64_t chunks;
	uint64_t total; /* bytes of all files of the recording */
	bool has_events;
	uint8_t recording[16]; /* random */
};

/*
 * Begins a recording.  With one file PATH must not exist.  Otherwise existing files get the next
 * numbers, if PATH is a recording that no recorder writes.  @settings outlives the file.  Returns
 * 0, or -errno with a sentence in @error; the caller calls record_file__close() in both cases.
 */
int record_file__open(struct record_file *file, const struct settings_record *settings,
		      struct dart_error *error);
/*
 * Begins the next file.  All files get the next number, and the oldest one is removed.  With @room
 * this happens only once the disk has so many free bytes, so that no recorded file is removed in
 * vain.  Returns 0, or -errno with a sentence in @error; then this file stays current.
 */
int record_file__rotate(struct record_file *file, uint64_t room, struct dart_error *error);
void record_file__close(struct record_file *file);

/* Does the size limit of the file allow @size more bytes? */
bool record_file__has_room(const struct record_file *file, uint64_t size);
/*
 * Numbers the chunk and appends all of it, or nothing.  Returns 0, or -errno with a sentence in
 * @error.
 */
int record_file__append(struct record_file *file, uint8_t *chunk, size_t size,
			struct dart_error *error);

#endif /* CONTROLLER_RECORD_FILE_H */
