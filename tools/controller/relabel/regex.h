/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regular expressions of RE2, whose syntax and results are those of Go, hence of Prometheus
 * (https://github.com/google/re2/wiki/Syntax).  A match takes time in proportion to the text,
 * whatever the expression, and the memory of an expression is bounded.
 *
 * RE2 is a C++ library: regex.cc is the only C++ file of the program, and this is all of it.
 */
#ifndef CONTROLLER_REGEX_H
#define CONTROLLER_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable; any thread may match. */
struct regex;

/* A part of a text that a group in parentheses matched; NULL: the group took no part. */
struct regex_group {
	const char *at;
	size_t length;
};

/*
 * Compiles "^(?:@pattern)$", as Prometheus does.  Returns 0; -EINVAL with the reason of RE2 in
 * @why, @size bytes with the NUL; or -ENOMEM.
 */
int regex__new(const char *pattern, struct regex **regex, char *why, size_t size);
/* NULL is allowed. */
void regex__free(struct regex *regex);

/* The number of groups; group 0 is the whole match, and does not count. */
unsigned int regex__groups(const struct regex *regex);
/* The number of the group with this name of @length bytes; 0 if there is none. */
unsigned int regex__find_group(const struct regex *regex, const char *name, size_t length);

/*
 * Looks for the first match in @text from byte @start, which is not before a match of "^" unless it
 * is 0.  Writes the groups from 0 on to @groups, of which there are @count.  Returns 1 or 0, or
 * -ENOMEM.
 */
int regex__search(const struct regex *regex, const char *text, size_t start,
		  struct regex_group *groups, unsigned int count);

#ifdef __cplusplus
}
#endif

#endif /* CONTROLLER_REGEX_H */
