/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Templates of Go's package regexp: a text in which $1, ${1}, $name and ${name} stand for groups of
 * an expression, and $$ for a dollar sign.  A name without braces is as long as possible: $1x is
 * ${1x}.  A group that does not exist, or took no part, is empty; a dollar sign before anything
 * else stands for itself.
 */
#ifndef CONTROLLER_TEMPLATE_H
#define CONTROLLER_TEMPLATE_H

#include "regex.h"

/* A text that grows; zeroed memory is an empty one.  The user frees @text. */
struct template_text {
	char *text; /* with a NUL; NULL before the first addition */
	size_t length, room;
};

/* Appends @length bytes.  Returns 0 or -ENOMEM. */
int template_text__add(struct template_text *text, const char *bytes, size_t length);
/*
 * Appends @template with the @count groups of a match by @regex.  Returns 0 or -ENOMEM.
 */
int template__expand(const char *template, const struct regex *regex,
		     const struct regex_group *groups, unsigned int count,
		     struct template_text *text);

#endif /* CONTROLLER_TEMPLATE_H */
