/* SPDX-License-Identifier: GPL-2.0-only */
/* Replies of <dart/registration.h>.  NULL if memory is short. */
#ifndef REPLY_H
#define REPLY_H

#include <jansson.h>

/* {"ok": true, @key: @value}; takes the reference @value, which may be NULL. */
json_t *reply__ok(const char *key, json_t *value);
/* {"ok": false, "error": the name of -@error, "message": @message} */
json_t *reply__error(int error, const char *message);

#endif /* REPLY_H */
