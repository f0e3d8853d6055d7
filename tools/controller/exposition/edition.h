/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An edition of a page, its chunks and its readers: see editions.h.
 *
 * One lock is over all editions: it is held to link, hold and wait, never to print, pack or copy.
 * A chunk that is linked does not change.  Each holds the next one, so an edition keeps the chunks
 * that its slowest reader has not taken yet, and all of them only while further readers may begin
 * with it.
 */
#ifndef CONTROLLER_EDITION_H
#define CONTROLLER_EDITION_H

#include <pthread.h>
#include <time.h>

#include "edition_content.h"
#include "tools/controller/base/gzip.h"
#include "tools/controller/http/http_server.h"

#define EDITION_MAKERS 2

struct edition_chunk {
	struct edition_chunk *next; /* held */
	unsigned int holders;
	size_t length, room;
	char bytes[];
};

enum edition_state {
	EDITION_NEW, /* no reader has asked for its first byte */
	EDITION_WAITING, /* another one of the fleet is made */
	EDITION_QUEUED,
	EDITION_IN_TURN, /* a maker has it */
	EDITION_STALLED, /* its readers must take chunks first */
	EDITION_COMPLETE,
	EDITION_FAILED,
};

struct edition {
	struct editions *editions;
	struct edition *next, *previous; /* of all, the oldest first */
	struct edition *next_queued; /* in editions->queue or editions->waiting */
	enum edition_state state;
	struct edition_reader *readers;
	bool is_packed;
	struct edition_chunk *head; /* an empty one: held while readers may begin here; or NULL */
	struct edition_chunk *last; /* held until all is made */
	uint64_t chunks; /* that are linked */
	int64_t begun_ns;

	/* Of the maker that has it. */
	struct edition_content *content;
	struct metric_text_stream *text;
	struct gzip_stream packer;
	struct edition_chunk *filled; /* not linked so far */
};

struct edition_reader {
	struct edition *edition;
	struct edition_reader *next, *previous; /* of the edition */
	struct http_stream *stream; /* NULL: it has not started */
	struct edition_chunk *chunk; /* held; NULL: it was cut off */
	size_t offset; /* in it */
	uint64_t position; /* chunks that it has come to */
	bool is_reading; /* the chunk, without the lock */
	bool is_cut;
	bool is_late; /* its peer took nothing for too long */
	char peer[HTTP_ADDRESS_TEXT_MAX];
	bool unpacks;
	struct gzip_stream unpacker;
};

struct edition_queue {
	struct edition *first, *last;
};

struct editions {
	pthread_mutex_t lock;
	pthread_cond_t comes; /* an edition is in the queue, or all ends */
	pthread_t makers[EDITION_MAKERS];
	unsigned int maker_count;
	bool is_ending;
	struct edition *first, *last;
	struct edition_queue queue;
	struct edition_queue waiting; /* of the fleet, for the one below */
	struct edition *whole; /* of the fleet, that is made now; or NULL */
	struct editions_counts counts;
	struct cut_readers cut; /* with a lock of its own */
};

static inline int64_t edition__now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* ---- all with the lock, unless they say otherwise */

/* An empty chunk of @room bytes with one holder; NULL if out of memory. */
struct edition_chunk *edition_chunk__new(size_t room);
/* One more holder. */
struct edition_chunk *edition_chunk__hold(struct edition_chunk *chunk);
/* One holder less; the last one frees the chunk, and lets go of the next one. */
void editions__put(struct editions *editions, struct edition_chunk *chunk);
/* The first edition of the queue, which leaves it; NULL if the queue is empty. */
struct edition *edition_queue__take(struct edition_queue *queue);
/* A maker has its turn with @edition next. */
void edition__queue(struct edition *edition);
/* A reader asks for the first byte: it is queued, or waits for another one of the fleet. */
void edition__begin(struct edition *edition);
/* No further reader begins with @edition. */
void edition__close_head(struct edition *edition);
/* Nothing of @edition is made any more: the next one of the fleet has its turn. */
void edition__end(struct edition *edition, enum edition_state state);
/* Without the lock, after edition__abandon(). */
void edition__free(struct edition *edition);
/*
 * The last reader has left.  Returns whether the caller frees the edition: if it is in a queue or a
 * turn, the maker that comes to it frees it.
 */
bool edition__abandon(struct edition *edition);
/* Readers that wait for the next chunk take it. */
void edition__wake(struct edition *edition);
/*
 * Cuts off readers until there is room.  False: all readers of @made are at the same place and
 * have chunks before them, and no other edition of the fleet waits for them.
 */
bool edition__make_room(struct edition *made);
/* Is there a reader that was not cut off? */
bool edition__is_wanted(const struct edition *edition);

/* A thread that makes editions until editions->is_ending; @data is the editions. */
void *edition_maker__run(void *data);

#endif /* CONTROLLER_EDITION_H */
