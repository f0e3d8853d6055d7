/* SPDX-License-Identifier: GPL-2.0-only */
/* Passwords and tokens in files, read before each request: they may be exchanged. */
#ifndef CONTROLLER_SECRET_H
#define CONTROLLER_SECRET_H

#include <libdart/error.h>

/* A token of JWT with many claims has some thousand. */
#define SECRET_MAX 16384

/*
 * The first line of the file at @path, for the caller to free with secret__free().  Returns 0,
 * or -errno with a sentence in @error: it cannot be read, is empty or too long, or has control
 * characters, which could not be sent.
 */
int secret__read(const char *path, char **secret, struct dart_error *error);
/* Overwrites a text first.  NULL is allowed. */
void secret__free(char *secret);

#endif /* CONTROLLER_SECRET_H */
