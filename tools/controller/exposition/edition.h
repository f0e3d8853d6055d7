/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An edition of a page, its chunks and its readers: see editions.h.
 *
 * One lock protects all editions.  Threads take it to link and hold chunks and to wait, never to
 * print, pack or copy.  A linked chunk does not change, and holds the next one.  So an edition
 * keeps the chunks that its slowest reader has not taken yet; it keeps all chunks only while new
 * readers may begin with it.
 */
#ifndef CONTROLLER_EDITION_H
#define CONTROLLER_EDITION_H

#include <pthread.h>

#include "edition_content.h"
#include "tools/controller/base/gzip.h"
#include "tools/controller/http/http_server.h"

#define EDITION_MAKERS 2

struct edition_chunk {
	struct edition_chunk *next; /* held; NULL: the last one so far */
	unsigned int holders;
	size_t length, room;
	char bytes[];
};

enum edition_state {
	EDITION_NEW, /* no reader asked for its first byte yet */
	EDITION_WAITING, /* until another edition of the fleet is made */
	EDITION_QUEUED, /* for a maker */
	EDITION_IN_TURN, /* a maker is working on it */
	EDITION_STALLED, /* until its readers take chunks: the memory is used up */
	EDITION_COMPLETE,
	EDITION_FAILED,
};

struct edition {
	struct editions *editions;
	struct edition *next, *previous; /* in the list of all editions, the oldest first */
	struct edition *next_queued; /* in editions->queue or editions->waiting */
	enum edition_state state;
	struct edition_reader *readers;
	bool is_packed;
	struct edition_chunk *head; /* empty, held; NULL: new readers may not begin here any more */
	struct edition_chunk *last; /* held until the edition is complete */
	uint64_t chunks; /* linked chunks */
	int64_t begun_ns; /* CLOCK_MONOTONIC of the first turn; 0: no turn yet */

	/* Used by the maker whose turn it is, without the lock. */
	struct edition_content *content;
	struct metric_text_stream *text;
	struct gzip_stream packer;
	struct edition_chunk *filled; /* the chunk being filled, not linked yet */
};

struct edition_reader {
	struct edition *edition;
	struct edition_reader *next, *previous; /* of the same edition */
	struct http_stream *stream; /* NULL: not started yet */
	struct edition_chunk *chunk; /* held; NULL: the reader was cut off */
	size_t offset; /* in the chunk */
	uint64_t position; /* number of the chunk */
	bool is_reading; /* a thread of the server uses the chunk, without the lock */
	bool is_cut; /* to free memory */
	bool is_late; /* its peer took nothing for too long */
	char peer[HTTP_ADDRESS_TEXT_MAX];
	bool unpacks; /* because the peer does not accept gzip */
	struct gzip_stream unpacker;
};

struct edition_queue {
	struct edition *first, *last;
};

struct editions {
	pthread_mutex_t lock;
	pthread_cond_t comes; /* signalled for each edition in the queue, and at the end */
	pthread_t makers[EDITION_MAKERS];
	unsigned int maker_count;
	bool is_ending;
	struct edition *first, *last;
	struct edition_queue queue; /* for makers */
	struct edition_queue waiting; /* editions of the fleet that wait until @whole is made */
	struct edition *whole; /* the edition of the fleet that is being made, or NULL */
	struct editions_counts counts;
	struct cut_readers cut; /* with a lock of its own */
};

/* ---- the caller holds the lock, unless the comment says otherwise */

/* Makes an empty chunk of @room bytes with one holder; NULL if out of memory. */
struct edition_chunk *edition_chunk__new(size_t room);
/* Adds a holder. */
struct edition_chunk *edition_chunk__hold(struct edition_chunk *chunk);
/* Removes a holder; the last one frees the chunk and releases the next chunk. */
void editions__put(struct editions *editions, struct edition_chunk *chunk);
/* Removes and returns the first edition of the queue; NULL if the queue is empty. */
struct edition *edition_queue__take(struct edition_queue *queue);
/* Queues @edition for a turn of a maker. */
void edition__queue(struct edition *edition);
/*
 * Called when a reader asks for the first byte: queues @edition, or lets it wait until the edition
 * of the fleet in progress is made.
 */
void edition__begin(struct edition *edition);
/* Lets no new reader begin with @edition. */
void edition__close_head(struct edition *edition);
/* Ends the making of @edition in @state; the next edition of the fleet may begin then. */
void edition__end(struct edition *edition, enum edition_state state);
/* Without the lock, after edition__abandon() returned true. */
void edition__free(struct edition *edition);
/*
 * Called when the last reader left.  True if the caller must free the edition.  False if it is in
 * a queue or a turn: then the maker that comes to it frees it.
 */
bool edition__abandon(struct edition *edition);
/* Wakes the readers that wait for the next chunk, or for the end. */
void edition__wake(struct edition *edition);
/*
 * Cuts off readers until the chunks fit in their bound.  False if the maker of @made must wait
 * instead: all its readers are at the same place with chunks left to take, and no other edition of
 * the fleet waits.
 */
bool edition__make_room(struct edition *made);
/* True if a reader is left that was not cut off. */
bool edition__is_wanted(const struct edition *edition);

/* The function of a maker, which makes editions until editions->is_ending; @data: the editions. */
void *edition_maker__run(void *data);

#endif /* CONTROLLER_EDITION_H */
