/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of a replay, in the order of time. */
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
	size_t current; /* that is read; count: none any more */
};

/*
 * Opens those of @options, whose times they are limited to; @files is zeros before.  Returns
 * 0, or -errno with a sentence in @error; replay_files__close() in both cases.
 */
int replay_files__open(struct replay_files *files, const struct replay_options *options,
		       struct dart_error *error);
void replay_files__close(struct replay_files *files);

static inline bool replay_files__at_end(const struct replay_files *files)
{
	return files->current == files->count;
}

/* As reader__next() of the current file. */
int replay_files__next(struct replay_files *files, struct record *record, struct dart_error *error);
/* Is the file behind the current one of another recording, with other numbers? */
bool replay_files__ends_recording(const struct replay_files *files);

static inline void replay_files__turn(struct replay_files *files)
{
	files->current++;
}

/* Nothing more is read. */
static inline void replay_files__skip_all(struct replay_files *files)
{
	files->current = files->count;
}

/* Says what is damaged, a sentence for each file; true if nothing is. */
bool replay_files__report(const struct replay_files *files, struct output *log);

#endif /* CONTROLLER_RECORD_REPLAY_FILES_H */
