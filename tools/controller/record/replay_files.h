/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of a replay, in chronological order. */
#ifndef CONTROLLER_RECORD_REPLAY_FILES_H
#define CONTROLLER_RECORD_REPLAY_FILES_H

#include <libdart/error.h>

#include "record.h"
#include "tools/controller/outputs/output.h"
#include "tools/controller/settings/replay_options.h"

struct reader;

struct replay_files {
	struct reader **readers;
	size_t count;
	size_t current; /* index of the file being read; @count after the last one */
};

/*
 * Opens the files of @options, limited to its times.  @files must be zeros.  Returns 0, or -errno
 * with a sentence in @error; the caller calls replay_files__close() in both cases.
 */
int replay_files__open(struct replay_files *files, const struct replay_options *options,
		       struct dart_error *error);
void replay_files__close(struct replay_files *files);

static inline bool replay_files__at_end(const struct replay_files *files)
{
	return files->current == files->count;
}

/* Calls reader__next() of the current file. */
int replay_files__next(struct replay_files *files, struct record *record, struct dart_error *error);
/* Does the next file belong to another recording, with other numbers? */
bool replay_files__ends_recording(const struct replay_files *files);

static inline void replay_files__turn(struct replay_files *files)
{
	files->current++;
}

/* Ends reading. */
static inline void replay_files__skip_all(struct replay_files *files)
{
	files->current = files->count;
}

/* Reports damage in a sentence for each file; true if there is none. */
bool replay_files__report(const struct replay_files *files, struct output *log);

#endif /* CONTROLLER_RECORD_REPLAY_FILES_H */
