// SPDX-License-Identifier: GPL-2.0-only
/*
 * Editions of pages: see editions.h.
 *
 * One lock is over all: it is held to link, hold and wait, never to print, pack or copy.  A
 * chunk that is linked does not change.  Each holds the next one, so an edition keeps what its
 * slowest reader has not taken yet, and all of it only while further readers may begin with it.
 */
#include "editions.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/controller/base/gzip.h"
#include "tools/controller/base/thread.h"

#define MAKERS 2
#define CHUNK_BYTES (64U << 10)
/* What a maker prints before the next edition has its turn: a few milliseconds. */
#define TURN_BYTES (256U << 10)
#define PIECE_BYTES (32U << 10)
/* A new reader joins an edition in progress if it is not older than this. */
#define SHARED_NS 1000000000LL

struct chunk {
	struct chunk *next; /* held */
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
	struct chunk *
		head; /* an empty one: held while readers may begin here; or NULL */
	struct chunk *last; /* held until all is made */
	uint64_t chunks; /* that are linked */
	int64_t begun_ns;

	/* Of the maker that has it. */
	struct edition_content *content;
	struct metric_text_stream *text;
	struct gzip_stream packer;
	struct chunk *filled; /* not linked so far */
};

struct edition_reader {
	struct edition *edition;
	struct edition_reader *next, *previous; /* of the edition */
	struct http_stream *stream; /* NULL: it has not started */
	struct chunk *chunk; /* held; NULL: it was cut off */
	size_t offset; /* in it */
	uint64_t position; /* chunks that it has come to */
	bool is_reading; /* the chunk, without the lock */
	bool is_cut;
	bool is_late; /* its peer took nothing for too long */
	char peer[HTTP_ADDRESS_TEXT_MAX];
	bool unpacks;
	struct gzip_stream unpacker;
};

struct queue {
	struct edition *first, *last;
};

struct editions {
	pthread_mutex_t lock;
	pthread_cond_t comes; /* an edition is in the queue, or all ends */
	pthread_t makers[MAKERS];
	unsigned int maker_count;
	bool is_ending;
	struct edition *first, *last;
	struct queue queue;
	struct queue waiting; /* of the fleet, for the one below */
	struct edition *whole; /* of the fleet, that is made now; or NULL */
	struct editions_counts counts;
	struct cut_readers cut; /* with a lock of its own */
};

static int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* ---- chunks, with the lock */

static struct chunk *chunk__new(size_t room)
{
	struct chunk *chunk = malloc(sizeof(*chunk) + room);

	if (chunk)
		*chunk = (struct chunk){ .holders = 1, .room = room };
	return chunk;
}

static struct chunk *chunk__hold(struct chunk *chunk)
{
	chunk->holders++;
	return chunk;
}

static void editions__put(struct editions *editions, struct chunk *chunk)
{
	struct chunk *next;

	for (; chunk && !--chunk->holders; chunk = next) {
		next = chunk->next;
		editions->counts.bytes -= chunk->room;
		free(chunk);
	}
}

/* ---- editions, with the lock */

static void queue__add(struct queue *queue, struct edition *edition)
{
	edition->next_queued = NULL;
	if (queue->last)
		queue->last->next_queued = edition;
	else
		queue->first = edition;
	queue->last = edition;
}

static struct edition *queue__take(struct queue *queue)
{
	struct edition *edition = queue->first;

	if (!edition)
		return NULL;
	queue->first = edition->next_queued;
	if (!queue->first)
		queue->last = NULL;
	return edition;
}

static void edition__queue(struct edition *edition)
{
	edition->state = EDITION_QUEUED;
	queue__add(&edition->editions->queue, edition);
	pthread_cond_signal(&edition->editions->comes);
}

static void edition__begin(struct edition *edition)
{
	struct editions *editions = edition->editions;

	if (!edition->content->is_whole) {
		edition__queue(edition);
	} else if (!editions->whole) {
		editions->whole = edition;
		edition__queue(edition);
	} else {
		edition->state = EDITION_WAITING;
		queue__add(&editions->waiting, edition);
		/* Its readers are in the way of others now. */
		if (editions->whole->state == EDITION_STALLED)
			edition__queue(editions->whole);
	}
}

static void edition__close_head(struct edition *edition)
{
	editions__put(edition->editions, edition->head);
	edition->head = NULL;
}

/* Nothing of it is made any more: the next one of the fleet has its turn. */
static void edition__end(struct edition *edition, enum edition_state state)
{
	struct editions *editions = edition->editions;
	struct edition_content *content = edition->content;

	edition->state = state;
	editions__put(editions, edition->last);
	edition->last = NULL;
	if (state == EDITION_FAILED || !content->is_whole ||
	    !content->operations->is_current(content))
		edition__close_head(edition);
	if (editions->whole != edition)
		return;
	editions->whole = queue__take(&editions->waiting);
	if (editions->whole)
		edition__queue(editions->whole);
}

/* Without the lock, after edition__abandon(). */
static void edition__free(struct edition *edition)
{
	metric_text_stream__free(edition->text);
	gzip_stream__close(&edition->packer);
	edition->content->operations->free(edition->content);
	free(edition->filled);
	free(edition);
}

/*
 * The last reader has left.  Returns whether the caller frees the edition: in a queue or a turn it is
 * freed by the maker that comes to it.
 */
static bool edition__abandon(struct edition *edition)
{
	struct editions *editions = edition->editions;

	edition__close_head(edition);
	if (edition->state == EDITION_QUEUED ||
	    edition->state == EDITION_WAITING ||
	    edition->state == EDITION_IN_TURN)
		return false;
	if (edition->state == EDITION_NEW || edition->state == EDITION_STALLED)
		edition__end(edition, EDITION_FAILED);
	if (edition->next)
		edition->next->previous = edition->previous;
	else
		editions->last = edition->previous;
	if (edition->previous)
		edition->previous->next = edition->next;
	else
		editions->first = edition->next;
	return true;
}

static void edition__wake(struct edition *edition)
{
	struct edition_reader *reader;

	for (reader = edition->readers; reader; reader = reader->next)
		if (reader->stream)
			http_stream__wake(reader->stream);
}

/* ---- the bound */

static void reader__cut(struct edition_reader *reader)
{
	struct editions *editions = reader->edition->editions;

	reader->is_cut = true;
	editions->counts.cut[CUT_FOR_MEMORY]++;
	if (!reader->is_reading) {
		editions__put(editions, reader->chunk);
		reader->chunk = NULL;
	}
	if (reader->stream)
		http_stream__wake(reader->stream);
}

/* The slowest reader with linked chunks still to take; NULL if all have taken everything. */
static struct edition_reader *find_last(const struct edition *edition,
					uint64_t *front)
{
	struct edition_reader *reader, *found = NULL;

	*front = 0;
	for (reader = edition->readers; reader; reader = reader->next) {
		if (reader->is_cut)
			continue;
		if (reader->position > *front)
			*front = reader->position;
		if (reader->position < edition->chunks &&
		    (!found || reader->position < found->position))
			found = reader;
	}
	return found;
}

/*
 * Cuts off readers until there is room.  False: all readers of @made are at the same place and
 * have chunks before them, and no other edition of the fleet waits for them.
 */
static bool edition__make_room(struct edition *made)
{
	struct editions *editions = made->editions;
	struct edition_reader *reader;
	struct edition *edition = editions->first;
	uint64_t front;

	if (editions->counts.bytes <= editions->counts.limit)
		return true;
	/* Who comes from now on begins with another one. */
	edition__close_head(made);
	while (editions->counts.bytes > editions->counts.limit && edition) {
		reader = find_last(edition, &front);
		if (!reader) {
			edition = edition->next;
			continue;
		}
		if (edition == made && !editions->waiting.first &&
		    reader->position == front)
			return false;
		reader__cut(reader);
	}
	return true;
}

/* Is there a reader that was not cut off? */
static bool edition__is_wanted(const struct edition *edition)
{
	const struct edition_reader *reader = edition->readers;

	while (reader && reader->is_cut)
		reader = reader->next;
	return reader;
}

/* ---- makers */

/* With the lock.  Links the filled chunk, if there is one. */
static void edition__link(struct edition *edition)
{
	struct editions *editions = edition->editions;
	struct chunk *chunk = edition->filled;

	if (!chunk)
		return;
	edition->filled = NULL;
	editions->counts.bytes += chunk->room;
	edition->last->next = chunk__hold(chunk);
	/* Which lets go of the chunk, too, if no reader is left. */
	editions__put(editions, edition->last);
	edition->last = chunk;
	edition->chunks++;
}

/* The chunk that is filled, with room in it.  Returns 1 if it is full, 0, or -ENOMEM. */
static int edition__need_room(struct edition *edition)
{
	if (!edition->filled)
		edition->filled = chunk__new(CHUNK_BYTES);
	if (!edition->filled)
		return -ENOMEM;
	return edition->filled->length == edition->filled->room;
}

/* Packs @text into chunks; @is_last ends the packed stream.  Returns 0 or -errno. */
static int edition__fill(struct edition *edition, const char *text,
			 size_t length, bool is_last)
{
	struct editions *editions = edition->editions;
	struct chunk *chunk;
	ssize_t got;
	int ret;

	gzip_stream__put(&edition->packer, text, length);
	do {
		ret = edition__need_room(edition);
		if (ret < 0)
			return ret;
		if (ret) {
			pthread_mutex_lock(&editions->lock);
			edition__link(edition);
			edition__wake(edition);
			pthread_mutex_unlock(&editions->lock);
			got = 1;
			continue;
		}
		chunk = edition->filled;
		got = chunk->room - chunk->length;
		if (edition->is_packed) {
			got = gzip_stream__take(&edition->packer,
						chunk->bytes + chunk->length,
						got, is_last);
		} else {
			if (got > (ssize_t)length)
				got = length;
			memcpy(chunk->bytes + chunk->length, text, got);
			text += got;
			length -= got;
		}
		if (got < 0)
			return got;
		chunk->length += got;
	} while (got > 0);
	return 0;
}

/* The last chunk takes no more memory than it needs. */
static void edition__trim(struct edition *edition)
{
	struct chunk *chunk = edition->filled, *smaller;

	if (!chunk)
		return;
	smaller = realloc(chunk, sizeof(*chunk) + chunk->length);
	if (!smaller)
		return;
	smaller->room = smaller->length;
	edition->filled = smaller;
}

static int edition__prepare(struct edition *edition)
{
	struct edition_content *content = edition->content;
	int ret = content->operations->take(content);

	if (ret)
		return ret;
	edition->text = metric_text_stream__new(
		content->targets, content->count, content->format, true);
	if (!edition->text)
		return -ENOMEM;
	return edition->is_packed ? gzip_stream__open(&edition->packer, false) :
				    0;
}

/* Returns 1 when all is made, 0 when there is more, or -errno. */
static int edition__make(struct edition *edition)
{
	size_t length, sum = 0;
	const char *text;
	int ret = edition->text ? 0 : edition__prepare(edition);

	while (!ret && sum < TURN_BYTES) {
		ret = metric_text_stream__next(edition->text, PIECE_BYTES,
					       &text, &length);
		if (!ret)
			ret = edition__fill(edition, text, length, !length);
		if (!ret && !length)
			ret = 1;
		sum += length;
	}
	if (ret == 1)
		edition__trim(edition);
	if (ret) {
		metric_text_stream__free(edition->text);
		edition->text = NULL;
		gzip_stream__close(&edition->packer);
		edition->content->operations->drop(edition->content);
	}
	return ret;
}

/* With the lock: what follows after a turn, which ended with @ret. */
static void edition__go_on(struct edition *edition, int ret)
{
	if (ret > 0) {
		edition__link(edition);
		edition->editions->counts.made++;
		edition__end(edition, EDITION_COMPLETE);
	} else if (ret) {
		edition__end(edition, EDITION_FAILED);
	}
	if (ret)
		edition__wake(edition);
	else
		edition__queue(edition);
}

static void *make_editions(void *data)
{
	struct editions *editions = data;
	struct edition *edition;
	int ret;

	pthread_mutex_lock(&editions->lock);
	while (!editions->is_ending) {
		edition = queue__take(&editions->queue);
		if (!edition) {
			pthread_cond_wait(&editions->comes, &editions->lock);
			continue;
		}
		edition->state = EDITION_IN_TURN;
		if (!edition->begun_ns)
			edition->begun_ns = monotonic_ns();
		if (!edition__is_wanted(edition)) {
			edition__end(edition, EDITION_FAILED);
		} else if (!edition__make_room(edition)) {
			edition->state = EDITION_STALLED;
			continue;
		} else {
			pthread_mutex_unlock(&editions->lock);
			ret = edition__make(edition);
			pthread_mutex_lock(&editions->lock);
			edition__go_on(edition, ret);
		}
		if (edition->readers || !edition__abandon(edition))
			continue;
		pthread_mutex_unlock(&editions->lock);
		edition__free(edition);
		pthread_mutex_lock(&editions->lock);
	}
	pthread_mutex_unlock(&editions->lock);
	return NULL;
}

/* ---- readers, in threads of the server */

/* With the lock, to the next chunk.  Returns 1, 0 if it is not there yet, or -errno. */
static int reader__advance(struct edition_reader *reader)
{
	struct edition *edition = reader->edition;
	struct editions *editions = edition->editions;
	struct chunk *next;

	if (reader->is_cut)
		return -ECONNABORTED;
	if (edition->state == EDITION_NEW)
		edition__begin(edition);
	if (reader->offset == reader->chunk->length) {
		next = reader->chunk->next;
		if (!next && edition->state == EDITION_COMPLETE)
			return -ENOENT;
		if (!next)
			return edition->state == EDITION_FAILED ? -ENOMEM : 0;
		chunk__hold(next);
		editions__put(editions, reader->chunk);
		reader->chunk = next;
		reader->offset = 0;
		reader->position++;
		if (edition->state == EDITION_STALLED)
			edition__queue(edition);
	}
	reader->is_reading = true;
	return 1;
}

/* It is not looked at any more: who cuts the reader off, or has done so, may let go of it. */
static void reader__leave_chunk(struct edition_reader *reader)
{
	struct editions *editions = reader->edition->editions;

	pthread_mutex_lock(&editions->lock);
	reader->is_reading = false;
	if (reader->is_cut) {
		editions__put(editions, reader->chunk);
		reader->chunk = NULL;
	}
	pthread_mutex_unlock(&editions->lock);
}

/* Unpacks from the chunk; 0: more of it is needed. */
static ssize_t reader__unpack(struct edition_reader *reader, char *buffer,
			      size_t size)
{
	struct chunk *chunk = reader->chunk;
	ssize_t got;

	gzip_stream__put(&reader->unpacker, chunk->bytes + reader->offset,
			 chunk->length - reader->offset);
	got = gzip_stream__take(&reader->unpacker, buffer, size, false);
	reader->offset = chunk->length - reader->unpacker.zlib.avail_in;
	return got;
}

static ssize_t reader__copy(struct edition_reader *reader, char *buffer,
			    size_t size)
{
	const size_t left = reader->chunk->length - reader->offset;

	if (size > left)
		size = left;
	memcpy(buffer, reader->chunk->bytes + reader->offset, size);
	reader->offset += size;
	return size;
}

static ssize_t on_read(void *data, char *buffer, size_t size)
{
	struct edition_reader *reader = data;
	struct editions *editions = reader->edition->editions;
	ssize_t got;

	/* What was unpacked before may have left bytes that did not fit. */
	if (reader->unpacks && reader->unpacker.is_open) {
		gzip_stream__put(&reader->unpacker, NULL, 0);
		got = gzip_stream__take(&reader->unpacker, buffer, size, false);
		if (got)
			return got;
	}
	for (;;) {
		pthread_mutex_lock(&editions->lock);
		got = reader__advance(reader);
		pthread_mutex_unlock(&editions->lock);
		if (got <= 0)
			return got;
		got = reader->unpacks ? reader__unpack(reader, buffer, size) :
					reader__copy(reader, buffer, size);
		reader__leave_chunk(reader);
		if (got)
			return got;
	}
}

static void on_start(void *data, struct http_stream *stream)
{
	struct edition_reader *reader = data;
	struct editions *editions = reader->edition->editions;

	pthread_mutex_lock(&editions->lock);
	reader->stream = stream;
	pthread_mutex_unlock(&editions->lock);
}

static void on_timed_out(void *data)
{
	struct edition_reader *reader = data;
	struct editions *editions = reader->edition->editions;

	pthread_mutex_lock(&editions->lock);
	if (!reader->is_cut) {
		reader->is_late = true;
		editions->counts.cut[CUT_FOR_SILENCE]++;
	}
	pthread_mutex_unlock(&editions->lock);
}

/* No maker knows it any more. */
static void reader__tell_cut(const struct edition_reader *reader, struct editions *editions)
{
	if (reader->is_cut || reader->is_late)
		cut_readers__add(&editions->cut, reader->peer,
				 reader->is_cut ? CUT_FOR_MEMORY : CUT_FOR_SILENCE,
				 monotonic_ns());
}

static void on_free(void *data)
{
	struct edition_reader *reader = data;
	struct edition *edition = reader->edition;
	struct editions *editions = edition->editions;
	bool is_over;

	pthread_mutex_lock(&editions->lock);
	editions->counts.open--;
	editions__put(editions, reader->chunk);
	if (reader->next)
		reader->next->previous = reader->previous;
	if (reader->previous)
		reader->previous->next = reader->next;
	else
		edition->readers = reader->next;
	is_over = !edition->readers && edition__abandon(edition);
	/* It may have been what the maker waits for. */
	if (!is_over && edition->state == EDITION_STALLED)
		edition__queue(edition);
	pthread_mutex_unlock(&editions->lock);
	if (is_over)
		edition__free(edition);
	reader__tell_cut(reader, editions);
	gzip_stream__close(&reader->unpacker);
	free(reader);
}

static const struct http_stream_operations reader_operations = {
	.start = on_start,
	.read = on_read,
	.timed_out = on_timed_out,
	.free = on_free,
};

/* ---- from outside */

/* With the lock: an edition of the fleet that a new reader can join, or NULL. */
static struct edition *editions__find(struct editions *editions,
				      const struct edition_content *content)
{
	const int64_t now_ns = monotonic_ns();
	struct edition *edition;

	if (!content->is_whole)
		return NULL;
	for (edition = editions->last; edition; edition = edition->previous) {
		if (!edition->head || !edition->content->is_whole ||
		    edition->content->format != content->format ||
		    edition->content->is_utf8 != content->is_utf8)
			continue;
		switch (edition->state) {
		case EDITION_NEW:
		case EDITION_WAITING:
			return edition;
		case EDITION_QUEUED:
		case EDITION_IN_TURN:
			if (!edition->begun_ns ||
			    now_ns - edition->begun_ns <= SHARED_NS)
				return edition;
			break;
		case EDITION_COMPLETE:
			if (content->operations->is_current(edition->content))
				return edition;
			edition__close_head(edition);
			break;
		case EDITION_STALLED:
		case EDITION_FAILED:
			break;
		}
	}
	return NULL;
}

/* Takes @content; NULL: out of memory. */
static struct edition *edition__new(struct editions *editions,
				    struct edition_content *content,
				    bool is_packed)
{
	struct edition *edition = calloc(1, sizeof(*edition));

	if (edition)
		edition->head = chunk__new(0);
	if (!edition || !edition->head) {
		free(edition);
		content->operations->free(content);
		return NULL;
	}
	edition->editions = editions;
	edition->content = content;
	edition->is_packed = is_packed;
	edition->last = chunk__hold(edition->head);
	edition->previous = editions->last;
	if (editions->last)
		editions->last->next = edition;
	else
		editions->first = edition;
	editions->last = edition;
	return edition;
}

static void edition__add(struct edition *edition, struct edition_reader *reader)
{
	reader->edition = edition;
	reader->chunk = chunk__hold(edition->head);
	reader->next = edition->readers;
	if (reader->next)
		reader->next->previous = reader;
	edition->readers = reader;
	edition->editions->counts.readers++;
	edition->editions->counts.open++;
}

int editions__answer(struct editions *editions, struct edition_content *content,
		     const struct http_request *request, struct http_answer *answer)
{
	const bool takes_gzip =
		gzip__is_accepted(http_request__header(request, "Accept-Encoding"));
	const bool is_packed = takes_gzip || content->is_whole;
	const bool unpacks = is_packed && !takes_gzip;
	struct edition_reader *reader = calloc(1, sizeof(*reader));
	struct edition *edition;

	if (!reader ||
	    (unpacks && gzip_stream__open(&reader->unpacker, true))) {
		free(reader);
		content->operations->free(content);
		return -ENOMEM;
	}
	reader->unpacks = unpacks;
	http_request__peer(request, reader->peer);
	pthread_mutex_lock(&editions->lock);
	edition = editions__find(editions, content);
	if (edition)
		content->operations->free(content);
	else
		edition = edition__new(editions, content, is_packed);
	if (edition)
		edition__add(edition, reader);
	pthread_mutex_unlock(&editions->lock);
	if (!edition) {
		gzip_stream__close(&reader->unpacker);
		free(reader);
		return -ENOMEM;
	}
	answer->stream = &reader_operations;
	answer->stream_data = reader;
	answer->encoding = takes_gzip ? "gzip" : NULL;
	return 0;
}

static void editions__stop(struct editions *editions)
{
	pthread_mutex_lock(&editions->lock);
	editions->is_ending = true;
	pthread_cond_broadcast(&editions->comes);
	pthread_mutex_unlock(&editions->lock);
	while (editions->maker_count)
		pthread_join(editions->makers[--editions->maker_count], NULL);
}

struct editions *editions__new(struct output *log)
{
	struct editions *editions = calloc(1, sizeof(*editions));

	if (!editions)
		return NULL;
	editions->counts.limit = SIZE_MAX;
	cut_readers__init(&editions->cut, log);
	pthread_mutex_init(&editions->lock, NULL);
	pthread_cond_init(&editions->comes, NULL);
	while (editions->maker_count < MAKERS) {
		if (thread__start(&editions->makers[editions->maker_count],
				  "pages", make_editions, editions)) {
			editions__free(editions);
			return NULL;
		}
		editions->maker_count++;
	}
	return editions;
}

void editions__free(struct editions *editions)
{
	struct edition *edition;

	if (!editions)
		return;
	editions__stop(editions);
	/* Without readers, in the queue when the makers ended. */
	while ((edition = editions->first)) {
		editions->first = edition->next;
		editions__put(editions, edition->head);
		editions__put(editions, edition->last);
		edition__free(edition);
	}
	pthread_cond_destroy(&editions->comes);
	pthread_mutex_destroy(&editions->lock);
	cut_readers__clear(&editions->cut);
	free(editions);
}

void editions__set_limit(struct editions *editions, size_t bytes)
{
	pthread_mutex_lock(&editions->lock);
	editions->counts.limit = bytes;
	pthread_mutex_unlock(&editions->lock);
}

void editions__count(struct editions *editions, struct editions_counts *counts)
{
	pthread_mutex_lock(&editions->lock);
	*counts = editions->counts;
	pthread_mutex_unlock(&editions->lock);
}
