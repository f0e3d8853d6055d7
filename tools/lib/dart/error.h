/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors as sentences: why a call failed, for its caller to print. */
#ifndef DART_ERROR_H
#define DART_ERROR_H

#include <stdarg.h>

#define DART_ERROR_MAX 512 /* bytes, with the NUL */

/* Owned by the caller; set by the function that fails. */
struct dart_error {
	char text[DART_ERROR_MAX];
};

/*
 * Writes the sentence and returns -@code, an errno.  The sentence may quote a hostile
 * peer: it becomes UTF-8 without control characters, with the escapes of escape.h.  A
 * longer sentence is cut off.
 */
__attribute__((format(printf, 3, 4))) int dart_error__set(struct dart_error *error, int code,
							  const char *format, ...);
int dart_error__vset(struct dart_error *error, int code, const char *format, va_list arguments);
/* Appends ": " and the words of strerror(3) for @code to the sentence. */
__attribute__((format(printf, 3, 4))) int
dart_error__system(struct dart_error *error, int code, const char *format, ...);
/* "out of memory"; returns -ENOMEM. */
int dart_error__no_memory(struct dart_error *error);

#endif /* DART_ERROR_H */
