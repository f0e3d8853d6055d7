/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sends messages by HTTP POST over one connection, one after the other, by libcurl.  In one
 * thread, which waits here for answers and for others that wake it.
 */
#ifndef CONTROLLER_POSTER_H
#define CONTROLLER_POSTER_H

#include <libdart/error.h>

#include "answer.h"
#include "message.h"
#include "receiver_settings.h"

struct poster;

/*
 * @settings outlive it.  Returns 0, or -errno with a sentence in @error: libcurl or a file of
 * the settings is missing.
 */
int poster__new(const struct receiver_settings *settings, struct poster **poster,
		struct dart_error *error);
/* What is under way is given up.  NULL is allowed. */
void poster__free(struct poster *poster);

/*
 * Begins to send @message, which stays the caller's and is not freed before the answer.
 * Nothing is under way.  Returns 0, or -errno with a sentence in @error: nothing is sent.
 */
int poster__begin(struct poster *poster, const struct message *message,
		  struct dart_error *error);
/*
 * Waits up to @timeout_ms for the answer, or until the eventfd @wake, which is read then, is
 * written, or less long.  True if there is an answer, or none will come.
 */
bool poster__wait(struct poster *poster, int wake, int timeout_ms,
		  struct answer *answer);
/* Bytes of all requests so far, as they were sent: bodies and heads. */
uint64_t poster__bytes(const struct poster *poster);

#endif /* CONTROLLER_POSTER_H */
