/* SPDX-License-Identifier: GPL-2.0-only */
/* Replies of <dart/registration.h>: new references, NULL if out of memory. */
#ifndef REPLY_H
#define REPLY_H

#include <jansson.h>

/* {"ok": true, "version": V, @key: @value}; takes over @value, may be NULL. */
json_t *reply__ok(const char *key, json_t *value);
/* {"ok": false, "version": V, "error": name of -@ret, "message": @message} */
json_t *reply__error(int ret, const char *message);

/*
 * Writes @reply as a line, which the caller frees, and takes its reference.  The
 * newline takes the place of the NUL.
 */
char *reply__line(json_t *reply, size_t *length);

/*
 * Appends @item and takes its reference.  If either is NULL or memory runs out,
 * frees the list and sets *@list to NULL.
 */
void reply__append(json_t **list, json_t *item);

#endif /* REPLY_H */
