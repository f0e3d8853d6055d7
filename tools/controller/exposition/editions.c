// SPDX-License-Identifier: GPL-2.0-only
/* Readers of editions, in threads of the server, and the choice of their editions. */
#include "editions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>

#include "edition.h"
#include "tools/controller/base/thread.h"

/* For this time after its first turn, new readers join an edition in progress. */
#define SHARED_NS 1000000000LL

/*
 * With the lock: moves @reader on to a chunk with bytes left.  Returns 1; 0 if no such chunk is
 * linked yet; -ENOENT at the end of the page; or another -errno.
 */
static int reader__advance(struct edition_reader *reader)
{
	struct edition *edition = reader->edition;
	struct editions *editions = edition->editions;
	struct edition_chunk *next;

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
		edition_chunk__hold(next);
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

/*
 * The thread does not use the chunk any more.  If a maker cut the reader off meanwhile, it left
 * releasing the chunk to this function.
 */
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

/* Unpacks bytes of the chunk.  Returns their number, 0 if it needs the next chunk, or -errno. */
static ssize_t reader__unpack(struct edition_reader *reader, char *buffer, size_t size)
{
	struct edition_chunk *chunk = reader->chunk;
	ssize_t got;

	gzip_stream__put(&reader->unpacker, chunk->bytes + reader->offset,
			 chunk->length - reader->offset);
	got = gzip_stream__take(&reader->unpacker, buffer, size, false);
	reader->offset = chunk->length - reader->unpacker.zlib.avail_in;
	return got;
}

static ssize_t reader__copy(struct edition_reader *reader, char *buffer, size_t size)
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

	/* The unpacker may hold bytes that did not fit in the last buffer. */
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

/* Logs that @reader was cut off.  Called when no maker can reach the reader any more. */
static void reader__tell_cut(const struct edition_reader *reader, struct editions *editions)
{
	if (reader->is_cut || reader->is_late)
		cut_readers__add(&editions->cut, reader->peer,
				 reader->is_cut ? CUT_FOR_MEMORY : CUT_FOR_SILENCE,
				 dart_clock__ns(CLOCK_MONOTONIC));
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
	/* The edition may be stalled because of this reader. */
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

/* ---- requests, and the life of editions */

/* With the lock: finds an edition of the fleet that a new reader may join, or NULL. */
static struct edition *editions__find(struct editions *editions,
				      const struct edition_content *content)
{
	const int64_t now_ns = dart_clock__ns(CLOCK_MONOTONIC);
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
			if (!edition->begun_ns || now_ns - edition->begun_ns <= SHARED_NS)
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

/* With the lock: makes an edition, which takes ownership of @content.  NULL if out of memory. */
static struct edition *edition__new(struct editions *editions, struct edition_content *content,
				    bool is_packed)
{
	struct edition *edition = calloc(1, sizeof(*edition));

	if (edition)
		edition->head = edition_chunk__new(0);
	if (!edition || !edition->head) {
		free(edition);
		content->operations->free(content);
		return NULL;
	}
	edition->editions = editions;
	edition->content = content;
	edition->is_packed = is_packed;
	edition->last = edition_chunk__hold(edition->head);
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
	reader->chunk = edition_chunk__hold(edition->head);
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
	const bool takes_gzip = gzip__is_accepted(http_request__header(request, "Accept-Encoding"));
	const bool is_packed = takes_gzip || content->is_whole;
	const bool unpacks = is_packed && !takes_gzip;
	struct edition_reader *reader = calloc(1, sizeof(*reader));
	struct edition *edition;

	if (!reader || (unpacks && gzip_stream__open(&reader->unpacker, true))) {
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
	while (editions->maker_count < EDITION_MAKERS) {
		if (thread__start(&editions->makers[editions->maker_count], "pages",
				  edition_maker__run, editions)) {
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
	/* Editions without readers that were in the queue when the makers ended. */
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
