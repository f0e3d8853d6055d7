/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries from a file, a pipe or the standard input. */
#ifndef TEA_INPUT_H
#define TEA_INPUT_H

#include "parser.h"

struct tea_input {
	struct tea_parser parser;
	struct tea_span span; /* within buffer */
	const char *name; /* of the file, for messages */
	char *buffer;
	bool has_begun; /* the parser has seen the first bytes */
	int fd;
};

/*
 * Opens the file @name, "-": the standard input.  @name and @layout outlive the input.
 * Returns 0, or sets @error and returns -errno.
 */
int tea_input__open(struct tea_input *input, const char *name, const struct tea_layout *layout,
		    tea_parser_next *next, struct dart_error *error);
void tea_input__close(struct tea_input *input);

/*
 * Writes the next entry to @entry.  Returns 1, 0 at the end, or sets @error, "file:line:
 * what", and returns -errno.
 */
int tea_input__next(struct tea_input *input, uint8_t *entry, struct dart_error *error);

#endif /* TEA_INPUT_H */
