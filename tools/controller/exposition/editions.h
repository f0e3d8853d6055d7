/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of any length for any number of readers.  An *edition* is a page as it was at one time.
 * A few threads, the *makers*, print it, pack it once, and let go of the values: what is left
 * are packed *chunks*, which all its readers share, each at its own pace.  Readers that ask
 * while an edition is made share it, too.  The threads of the server only copy, or unpack, so
 * one page delays no other; makers make all editions in turn, a chunk at a time.
 *
 * Editions of the whole fleet are made one after the other: besides the newest values of all
 * targets, those of one time at most are held, however many readers there are, and however slow.
 *
 * All chunks together are bounded.  When the bound is reached, the reader that is farthest
 * behind is cut off: of the oldest edition, then of the one that is made, unless all its
 * readers are at the same place, for which the maker then waits.
 */
#ifndef CONTROLLER_EDITIONS_H
#define CONTROLLER_EDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/controller/http/http_server.h"
#include "tools/controller/metrics/text.h"

struct editions;
struct edition_content;

/* All but free() is called in a maker, once, and take() before drop(). */
struct edition_content_operations {
	/* Sets targets and count of @content: what is to be printed.  Returns 0 or -ENOMEM. */
	int (*take)(struct edition_content *content);
	/* All is printed: lets go of them. */
	void (*drop)(struct edition_content *content);
	/* After take(), in any thread: would a page of now be the same? */
	bool (*is_current)(const struct edition_content *content);
	/* In any thread; drop() may not have been called. */
	void (*free)(struct edition_content *content);
};

/* Begins what an edition is made of; a structure of the owner. */
struct edition_content {
	const struct edition_content_operations *operations;
	enum metric_text_format format;
	/* Of the whole fleet: editions of one format are shared. */
	bool is_whole;
	const struct metric_text_target *targets;
	size_t count;
};

struct editions_counts {
	uint64_t made; /* editions */
	uint64_t readers; /* that were given one */
	uint64_t cut; /* readers that were cut off */
	uint64_t bytes; /* of chunks now */
	uint64_t limit; /* of them */
	unsigned int open; /* readers now */
};

/* NULL: out of memory, or of threads. */
struct editions *editions__new(void);
/* No reader is left. */
void editions__free(struct editions *editions);
/* In any thread.  The bound of all chunks. */
void editions__set_limit(struct editions *editions, size_t bytes);
void editions__count(struct editions *editions, struct editions_counts *counts);

/*
 * Fills in the stream and the encoding of @answer: a reader of a page of @content, or of one
 * like it that has begun.  Takes @content in any case.  @takes_gzip: of the peer.  Returns 0 or
 * -ENOMEM.
 */
int editions__answer(struct editions *editions, struct edition_content *content,
		     bool takes_gzip, struct http_answer *answer);

#endif /* CONTROLLER_EDITIONS_H */
