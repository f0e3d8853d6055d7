// SPDX-License-Identifier: GPL-2.0-only
/* Reads large pieces of a file, from which a parser takes entries. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/text_file.h>

#include "input.h"

#define BUFFER_LENGTH (1 << 18) /* bytes; an L2 cache holds them */
#define MARK_LENGTH 3		/* bytes of a byte order mark */

_Static_assert(BUFFER_LENGTH >= 2 * LOOKUP_PARSER_ENTRY_MAX, "a piece has room for an entry");

int lookup_input__open(struct lookup_input *input, const char *name,
		       const struct lookup_layout *layout, lookup_parser_next *next, struct dart_error *error)
{
	const bool is_standard = !strcmp(name, "-");

	lookup_parser__init(&input->parser, layout, next);
	input->name = is_standard ? "standard input" : name;
	input->has_begun = false;
	input->fd = is_standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
				  open(name, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0)
		return dart_error__system(error, errno, "cannot open '%s'", input->name);
	input->buffer = malloc(BUFFER_LENGTH);
	if (!input->buffer) {
		close(input->fd);
		return dart_error__no_memory(error);
	}
	input->span = (struct lookup_span){ input->buffer, input->buffer, false };
	return 0;
}

void lookup_input__close(struct lookup_input *input)
{
	free(input->buffer);
	close(input->fd);
}

/* Hides a byte order mark, whose bytes may come one by one from a pipe, from the parser. */
static void skip_mark(struct lookup_input *input)
{
	size_t length = input->span.end - input->span.at;
	const void *at = input->span.at;

	dart_text_file__skip_mark(&at, &length);
	input->span.at = at;
	input->has_begun = true;
}

/* Moves the rest that has not been parsed to the front, and reads more text after it. */
static int read_more(struct lookup_input *input, struct dart_error *error)
{
	struct lookup_span *span = &input->span;
	size_t left = span->end - span->at;
	ssize_t length;

	if (left > LOOKUP_PARSER_ENTRY_MAX)
		return dart_error__set(
			error, EFBIG,
			"%s:%llu: an entry has more than %d characters: is it a file of another kind?",
			input->name, (unsigned long long)input->parser.line,
			LOOKUP_PARSER_ENTRY_MAX);
	memmove(input->buffer, span->at, left);
	span->at = input->buffer;
	span->end = input->buffer + left;
	do {
		length = read(input->fd, input->buffer + left, BUFFER_LENGTH - left);
		if (length > 0)
			left += length;
	} while ((length < 0 && errno == EINTR) ||
		 (length > 0 && !input->has_begun && left < MARK_LENGTH));
	if (length < 0)
		return dart_error__system(error, errno, "cannot read '%s'", input->name);
	span->end = input->buffer + left;
	span->is_last = !length;
	if (!input->has_begun)
		skip_mark(input);
	return 0;
}

int lookup_input__next(struct lookup_input *input, uint8_t *entry, struct dart_error *error)
{
	struct lookup_parser *parser = &input->parser;
	struct dart_error why;
	int ret;

	while ((ret = parser->next(parser, &input->span, entry, &why)) == -EAGAIN) {
		ret = read_more(input, error);
		if (ret)
			return ret;
	}
	if (ret < 0)
		return dart_error__set(error, -ret, "%s:%llu: %s", input->name,
				       (unsigned long long)parser->line, why.text);
	return ret;
}
