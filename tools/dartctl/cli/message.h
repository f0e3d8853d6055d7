/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers as JSON, errors, and advice about the release of dartd. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <jansson.h>
#include <stdio.h>

#include <libdart/error.h>

#define EXIT_USAGE 2

/*
 * Prints a value of a schema, which is no array or object, as people read it: texts with the
 * escapes of JSON, so that they cannot steer the terminal, but without quotes.  Returns 0, or -1
 * if out of memory.
 */
int print_scalar(const json_t *value);

/*
 * Prints @json, whose reference it takes, in ASCII, so that foreign texts cannot steer the
 * terminal; @flags: further ones of json_dumps(3).  NULL counts as out of memory.  Returns an exit
 * status.
 */
int print_json(json_t *json, size_t flags);

/*
 * Prints "dartctl: message" on stderr, or, after fail__in_json(), an object with the message and
 * the name of @code, an errno, on stdout.  Returns EXIT_FAILURE.
 */
__attribute__((format(printf, 2, 3))) int fail(int code, const char *format, ...);
int fail__out_of_memory(void);
void fail__in_json(void);
/*
 * Keeps the present stdout, which a file is about to replace, for errors in JSON; if it is closed,
 * errors go to stderr.
 */
void fail__keep_output(void);
/* Prints the same with EINVAL and a hint to --help; returns EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int misuse(const char *format, ...);
/* Prints "dartctl: warning: ..." on stderr. */
void print_warning(const char *warning);
/* Prints a text whose bytes may be of a user or of another machine, without control characters. */
void print_foreign(FILE *out, const char *text);

/*
 * Tells the service manager that started dartctl, if one did, that it is ready, and its status in
 * one line, as sd_notify(3) does: the library of that function, and the five that it needs, would
 * make up a fifth of the time in which each command starts.
 */
__attribute__((format(printf, 1, 2))) void tell_manager(const char *format, ...);

/* ---- dartctl and dartd of different releases */

/*
 * Returns "dartd is version 0.0, older than dartctl 0.1: upgrade dartd, ...", which the caller
 * frees; NULL if both are of one release.
 */
char *version__advice(const json_t *reply);
/* Appends the advice, in brackets, to the reason why a request failed. */
void version__explain(const json_t *reply, struct dart_error *error);

#endif /* MESSAGE_H */
