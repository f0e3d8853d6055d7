/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a file of a recording, whose bytes may be damaged, cut or hostile: returns all records of
 * intact chunks in order, and reports the damage at the end.
 */
#ifndef CONTROLLER_RECORD_READER_H
#define CONTROLLER_RECORD_READER_H

#include <libdart/error.h>

#include "record.h"

struct reader;

/* Times from @from_ns on and before @to_ns, compared with time_ns of records. */
struct reader_range {
	int64_t from_ns;
	int64_t to_ns;
};

#define READER_ALL ((struct reader_range){ INT64_MIN, INT64_MAX })

/*
 * Opens the file at @path, which outlives the reader.  Returns 0, or -errno with a sentence in
 * @error.
 */
int reader__open(const char *path, struct reader **reader, struct dart_error *error);
/* NULL is allowed. */
void reader__close(struct reader *reader);

/* Returns CLOCK_REALTIME of the recorder when it began the file, in ns. */
int64_t reader__started_ns(const struct reader *reader);
/* The number of a file in its recording, and whether two files belong to the same recording. */
uint64_t reader__number(const struct reader *reader);
bool reader__is_same_recording(const struct reader *reader, const struct reader *other);
/* Makes the reader skip chunks that contain only events of other times. */
void reader__set_range(struct reader *reader, struct reader_range range);

/*
 * Returns 1 with the next @record, a definition or an event of the range, valid until the next
 * call; 0 after the last one; or -errno with a sentence in @error.
 */
int reader__next(struct reader *reader, struct record *record, struct dart_error *error);
/*
 * Call this at the end.  Returns true if the file is cut or damaged, with a sentence without "." in
 * @error.
 */
bool reader__is_damaged(const struct reader *reader, struct dart_error *error);

#endif /* CONTROLLER_RECORD_READER_H */
