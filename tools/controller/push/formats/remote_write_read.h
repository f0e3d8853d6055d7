/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads messages of remote write, which waited in memory or in a spool, and are not trusted: their
 * series, for a receiver that refused some of them; and 2.0 as 1.0, for a receiver of which it was
 * not known before that it takes only 1.0.
 */
#ifndef CONTROLLER_REMOTE_WRITE_READ_H
#define CONTROLLER_REMOTE_WRITE_READ_H

#include "bytes.h"

struct pieces;

/* The operations read() of the rows: see format.h. */
int remote_write_1__read(struct pieces *pieces);
int remote_write_2__read(struct pieces *pieces);
/* The operation convert(): @message is 2.0, and @body becomes 1.0, both unpacked. */
int remote_write_2__convert(const void *message, size_t length, struct bytes *body);

#endif /* CONTROLLER_REMOTE_WRITE_READ_H */
