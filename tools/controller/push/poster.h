/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sends messages by HTTP POST over a few connections, with libcurl.  In one thread, which waits
 * here for answers and for other threads that wake it.
 *
 * 307 and 308 are followed, up to ten in turn, with the whole message; credentials are sent only to
 * scheme, host and port of the settings, as by curl.  Addresses of a name are tried one after the
 * other, for a message that is sent again in random order.  libcurl's environment names proxies.
 */
#ifndef CONTROLLER_POSTER_H
#define CONTROLLER_POSTER_H

#include <libdart/error.h>

#include "tools/controller/push/formats/answer.h"
#include "tools/controller/push/formats/message.h"
#include "tools/controller/settings/receiver_settings.h"

struct poster;

/*
 * For @slots messages at a time, to the URL of @format, with its word for tokens.  Both outlive the
 * poster.  Returns 0, or -errno with a sentence in @error: libcurl cannot be set up, or a file of
 * the settings is missing.
 */
int poster__new(const struct receiver_settings *settings, const struct format *format,
		unsigned int slots, struct poster **poster, struct dart_error *error);
/* Gives up messages that are under way.  NULL is allowed. */
void poster__free(struct poster *poster);

/* True if no message is under way in the slot, from 0 on. */
bool poster__is_free(const struct poster *poster, unsigned int slot);
/*
 * Begins to send @message in a free slot; it stays the caller's and is not freed before the
 * answer.  Returns 0, or -errno with a sentence in @error: nothing is sent.
 */
int poster__begin(struct poster *poster, unsigned int slot, struct message *message,
		  struct dart_error *error);
/*
 * Asks, by a HEAD over a new connection, whether the receiver answers beside others that are
 * open, unless that is being asked.
 */
void poster__ask(struct poster *poster);
/* True once after it was answered, with any status, or was not in the time of a request. */
bool poster__take_question(struct poster *poster, bool *is_answered);
/*
 * Closes all connections; no message is under way.  The next message goes over a new connection,
 * perhaps to another address of the name: only the address used before may be failing.
 * False if out of memory.
 */
bool poster__forget(struct poster *poster);
/*
 * Waits up to @timeout_ms for an answer, or until another thread writes to the eventfd @wake, which
 * is read then; or a shorter time.  Returns a message that got its answer or failed; NULL
 * otherwise.
 */
struct message *poster__wait(struct poster *poster, int wake, int timeout_ms,
			     struct answer *answer);
/* Bytes of all requests with messages that have ended, as they were sent: bodies and heads. */
uint64_t poster__bytes(const struct poster *poster);

#endif /* CONTROLLER_POSTER_H */
