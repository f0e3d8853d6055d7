/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl and dartd of different releases. */
#ifndef VERSION_H
#define VERSION_H

#include <jansson.h>

#include <libdart/error.h>

/*
 * Below 0 if the dartd that gave @reply, or has this "version" in its status, is
 * older than dartctl, above 0 if it is newer.  One that tells none is older.
 */
int version__compare(const json_t *reply);
/*
 * "dartd is version 0.0, older than dartctl 0.1: upgrade dartd, ..."; NULL if
 * both are of one release.  The caller frees it.
 */
char *version__advice(const json_t *reply);
/* Appends it, in brackets, to the reason why a request failed. */
void version__explain(const json_t *reply, struct dart_error *error);

#endif /* VERSION_H */
