// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads files: lists of targets and of members after each change and at an interval, configurations
 * on request.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "members_file.h"
#include "sd_json.h"
#include "source_private.h"
#include "target_relabel.h"
#include "tools/controller/settings/config.h"
#include "tools/watch/path_watch.h"

struct file_state {
	struct path_watch watch;
	const char *paths[1];
};

static int open_file(struct source *source, struct dart_error *error)
{
	struct file_state *state = calloc(1, sizeof(*state));
	int ret;

	if (!state)
		return dart_error__no_memory(error);
	state->paths[0] = source->name->text;
	ret = path_watch__open(&state->watch, state->paths, 1, error);
	if (ret) {
		free(state);
		return ret;
	}
	source->state = state;
	return 0;
}

static void close_file(struct source *source)
{
	struct file_state *state = source->state;

	if (!state)
		return;
	path_watch__close(&state->watch);
	free(state);
	source->state = NULL;
}

/* Returns the length of @bytes, which the caller frees, or -errno with a sentence in @error. */
static ssize_t read_descriptor(int fd, char **bytes, struct dart_error *error)
{
	struct stat status;
	ssize_t got;
	size_t length = 0;

	if (fstat(fd, &status))
		return dart_error__system(error, errno, "cannot be read");
	if (!S_ISREG(status.st_mode))
		return dart_error__set(error, EINVAL, "is not a file");
	if (status.st_size > SD_JSON_BYTES_MAX)
		return dart_error__set(error, EINVAL, "has more than %u bytes", SD_JSON_BYTES_MAX);
	*bytes = malloc(status.st_size + 1);
	if (!*bytes)
		return dart_error__no_memory(error);
	/* Bytes that others append meanwhile cause another event, and another look. */
	do {
		got = read(fd, *bytes + length, status.st_size - length);
		if (got > 0)
			length += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		return dart_error__system(error, errno, "cannot be read");
	return length;
}

static int read_file(struct source *source, struct source_news *news)
{
	struct file_state *state = source->state;
	const char *path = state->paths[0];
	char *bytes = NULL;
	ssize_t length;
	int fd;

	news->result = path_watch__arm(&state->watch, &news->error);
	if (news->result)
		return source__retry_ms(source);
	/* Opening a pipe must not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		news->result = dart_error__system(&news->error, errno, "cannot be opened");
		return source__retry_ms(source);
	}
	length = read_descriptor(fd, &bytes, &news->error);
	close(fd);
	news->result = length < 0 ? length :
				    sd_json__parse(bytes, length, &source->defaults, source->name,
						   &news->list, &news->faults, &news->error);
	free(bytes);
	return news->result ? source__retry_ms(source) :
			      source__refresh_ms(source, SOURCE_FILE_REFRESH_MS);
}

static void wait_for_file(struct source *source, int ms)
{
	const struct file_state *state = source->state;

	path_watch__wait(&state->watch, source->wake, ms);
}

const struct source_reader source_file_reader = {
	.kind = "file_sd",
	.pause_ms = 100,
	.open = open_file,
	.read = read_file,
	.wait = wait_for_file,
	.close = close_file,
};

static int read_configuration(struct source *source, struct source_news *news)
{
	news->result =
		config__read(&news->settings, &source->settings, source->name->text,
			     &news->error) ?:
		target_list__of_settings(&news->settings, &news->list) ?:
		target_relabel__list(&news->list, news->settings.relabel, &news->faults);
	return -1;
}

const struct source_reader source_configuration_reader = {
	.kind = "configuration",
	.waits_first = true,
	.pause_ms = 100,
	.read = read_configuration,
};

static int read_members(struct source *source, struct source_news *news)
{
	struct file_state *state = source->state;

	news->result = path_watch__arm(&state->watch, &news->error) ?:
			       members_file__read(state->paths[0], &news->members, &news->error);
	return news->result ? SOURCE_RETRY_MS : SOURCE_MEMBERS_REFRESH_MS;
}

const struct source_reader source_members_reader = {
	.kind = "members",
	.pause_ms = 20,
	.open = open_file,
	.read = read_members,
	.wait = wait_for_file,
	.close = close_file,
};
