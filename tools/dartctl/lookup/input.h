/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries from a file, a pipe or the standard input. */
#ifndef LOOKUP_INPUT_H
#define LOOKUP_INPUT_H

#include "parser.h"

struct lookup_input {
	struct lookup_parser parser;
	struct lookup_span span; /* within buffer */
	const char *name; /* of the file, for messages */
	char *buffer;
	bool has_begun; /* the parser has seen the first bytes */
	int fd;
};

/*
 * Opens the file @name, "-": the standard input.  @name and @layout outlive the input.
 * Returns 0, or sets @error and returns -errno.
 */
int lookup_input__open(struct lookup_input *input, const char *name,
		       const struct lookup_layout *layout, lookup_parser_next *next, struct dart_error *error);
void lookup_input__close(struct lookup_input *input);

/*
 * Writes the next entry to @entry.  Returns 1, 0 at the end, or sets @error, "file:line: reason",
 * and returns -errno.
 */
int lookup_input__next(struct lookup_input *input, uint8_t *entry, struct dart_error *error);

#endif /* LOOKUP_INPUT_H */
