/* SPDX-License-Identifier: GPL-2.0-only */
/* Expressions of C that name a value: "server.clients->len", "server.db[0].dict->ht_used[1]". */
#ifndef APPLICATION_EXPRESSION_H
#define APPLICATION_EXPRESSION_H

#include <libdart/application/location.h>

#include "types.h"

#define EXPRESSION_NAME_MAX 256 /* bytes of a word, with the NUL */

/* A value of a program. */
struct expression_value {
	struct dart_application_location location;
	uint32_t width; /* bytes of an element, or of a text */
	uint32_t count; /* elements */
	bool is_signed;
};

/* Copies the variable that @text begins with.  Returns the text after it, or NULL. */
const char *expression__variable(const char *text, char name[static EXPRESSION_NAME_MAX]);

/*
 * Follows @rest, the members, pointers and elements after a variable of this @type, which lies at
 * value->location.  The value is an integer, or an array of integers; if @is_text, an array of
 * characters, or, with @width, that many bytes that a pointer to characters leads to.  Returns 0 or
 * -EINVAL, with a sentence about the expression.
 */
int expression__follow(const struct types *types, const char *rest, const struct type *type,
		       bool is_text, uint32_t width, struct expression_value *value,
		       struct dart_error *error);

#endif /* APPLICATION_EXPRESSION_H */
