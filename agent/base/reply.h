/* SPDX-License-Identifier: GPL-2.0-only */
/* Replies of <dart/registration.h>: new references, NULL if out of memory. */
#ifndef REPLY_H
#define REPLY_H

#include <jansson.h>

/* {"ok": true, "version": V, @key: @value}; takes the reference @value, which may be NULL. */
json_t *reply__ok(const char *key, json_t *value);
/* {"ok": false, "version": V, "error": the name of -@error, "message": @message} */
json_t *reply__error(int error, const char *message);

/*
 * Appends @item, whose reference it takes.  If either is NULL or memory runs out,
 * frees the list: *@list is NULL from then on.
 */
void reply__append(json_t **list, json_t *item);

#endif /* REPLY_H */
