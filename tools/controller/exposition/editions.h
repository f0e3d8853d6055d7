/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of any length for any number of readers.  An *edition* is a page as it was at one time.
 * Threads called *makers* print it, pack it once into *chunks*, and release the values; all readers
 * of the edition share the chunks, each at its own pace.  A reader that asks while an edition is in
 * progress joins it.  Makers work on all editions in turn, a few chunks at a time, and the threads
 * of the server only copy or unpack bytes, so one page delays no other.
 *
 * Editions of the whole fleet are made one after the other: besides the newest values of all
 * targets, the values of at most one earlier time are held, however many and slow the readers are.
 *
 * All chunks together are bounded.  At the bound the slowest reader is cut off: first of the oldest
 * edition, last of the edition in progress, unless all its readers are at the same place; then the
 * maker waits for them.
 */
#ifndef CONTROLLER_EDITIONS_H
#define CONTROLLER_EDITIONS_H

#include <stddef.h>

#include "edition_content.h"
#include "tools/controller/http/http_server.h"
#include "tools/controller/outputs/output.h"

struct editions;

/*
 * Starts the makers.  @log, which must outlive the editions, gets messages about readers that are
 * cut off; NULL suppresses them.  Returns NULL if out of memory or of threads.
 */
struct editions *editions__new(struct output *log);
/* Call it when no reader is left.  NULL is allowed. */
void editions__free(struct editions *editions);
/* In any thread: bounds the memory of all chunks. */
void editions__set_limit(struct editions *editions, size_t bytes);
void editions__count(struct editions *editions, struct editions_counts *counts);

/*
 * Sets the stream and the encoding of @answer to a new reader, of an edition of @content or of an
 * equal edition that may still be joined; packed if the peer of @request accepts gzip.  Takes
 * ownership of @content in any case.  Returns 0 or -ENOMEM.
 */
int editions__answer(struct editions *editions, struct edition_content *content,
		     const struct http_request *request, struct http_answer *answer);

#endif /* CONTROLLER_EDITIONS_H */
