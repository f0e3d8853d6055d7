// SPDX-License-Identifier: GPL-2.0-only
/* Reads the files of a replay one after the other. */
#include "replay_files.h"

#include <stdlib.h>

#include "reader.h"

static int compare_readers(const void *a, const void *b)
{
	const struct reader *one = *(struct reader *const *)a;
	const struct reader *other = *(struct reader *const *)b;

	if (reader__started_ns(one) != reader__started_ns(other))
		return reader__started_ns(one) < reader__started_ns(other) ? -1 : 1;
	return (reader__number(one) > reader__number(other)) -
	       (reader__number(one) < reader__number(other));
}

int replay_files__open(struct replay_files *files, const struct replay_options *options,
		       struct dart_error *error)
{
	struct reader_range range;
	int64_t started_ns;
	size_t i;
	int err;

	files->readers = calloc(options->file_count, sizeof(*files->readers));
	if (!files->readers)
		return dart_error__no_memory(error);
	for (i = 0; i < options->file_count; i++) {
		err = reader__open(options->files[i], &files->readers[i], error);
		if (err)
			return err;
		files->count++;
	}
	qsort(files->readers, files->count, sizeof(*files->readers), compare_readers);
	started_ns = reader__started_ns(files->readers[0]);
	range.from_ns = replay_time__ns(&options->from, started_ns, INT64_MIN);
	range.to_ns = replay_time__ns(&options->to, started_ns, INT64_MAX);
	for (i = 0; i < files->count; i++)
		reader__set_range(files->readers[i], range);
	return 0;
}

int replay_files__next(struct replay_files *files, struct record *record, struct dart_error *error)
{
	return reader__next(files->readers[files->current], record, error);
}

bool replay_files__ends_recording(const struct replay_files *files)
{
	const size_t next = files->current + 1;

	return next < files->count &&
	       !reader__is_same_recording(files->readers[files->current], files->readers[next]);
}

bool replay_files__report(const struct replay_files *files, struct output *log)
{
	struct dart_error error;
	bool is_whole = true;
	size_t i;

	for (i = 0; i < files->count; i++) {
		if (!reader__is_damaged(files->readers[i], &error))
			continue;
		is_whole = false;
		output__print(log, "dart-controller: %s", error.text);
	}
	return is_whole;
}

void replay_files__close(struct replay_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		reader__close(files->readers[i]);
	free(files->readers);
	*files = (struct replay_files){};
}
