/* SPDX-License-Identifier: GPL-2.0-only */
/* Passwords and tokens in files, read again before each request because users replace them. */
#ifndef CONTROLLER_SECRET_H
#define CONTROLLER_SECRET_H

#include <libdart/error.h>

/* Bytes.  A JSON web token with many claims needs a few thousand. */
#define SECRET_MAX 16384

/*
 * Reads the first line of the file at @path into @secret, which the caller frees with
 * secret__free().  Returns 0, or -errno with a sentence in @error if the file cannot be read, or
 * the line is empty, too long, or contains control characters, which could not be sent.
 */
int secret__read(const char *path, char **secret, struct dart_error *error);
/* Overwrites the secret before it frees it.  NULL is allowed. */
void secret__free(char *secret);

#endif /* CONTROLLER_SECRET_H */
