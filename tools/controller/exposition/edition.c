// SPDX-License-Identifier: GPL-2.0-only
/* Chunks, states and bound of editions: see edition.h. */
#include "edition.h"

#include <stdlib.h>

/* ---- chunks, with the lock */

struct edition_chunk *edition_chunk__new(size_t room)
{
	struct edition_chunk *chunk = malloc(sizeof(*chunk) + room);

	if (chunk)
		*chunk = (struct edition_chunk){ .holders = 1, .room = room };
	return chunk;
}

struct edition_chunk *edition_chunk__hold(struct edition_chunk *chunk)
{
	chunk->holders++;
	return chunk;
}

void editions__put(struct editions *editions, struct edition_chunk *chunk)
{
	struct edition_chunk *next;

	for (; chunk && !--chunk->holders; chunk = next) {
		next = chunk->next;
		editions->counts.bytes -= chunk->room;
		free(chunk);
	}
}

/* ---- editions, with the lock */

static void edition_queue__add(struct edition_queue *queue, struct edition *edition)
{
	edition->next_queued = NULL;
	if (queue->last)
		queue->last->next_queued = edition;
	else
		queue->first = edition;
	queue->last = edition;
}

struct edition *edition_queue__take(struct edition_queue *queue)
{
	struct edition *edition = queue->first;

	if (!edition)
		return NULL;
	queue->first = edition->next_queued;
	if (!queue->first)
		queue->last = NULL;
	return edition;
}

void edition__queue(struct edition *edition)
{
	edition->state = EDITION_QUEUED;
	edition_queue__add(&edition->editions->queue, edition);
	pthread_cond_signal(&edition->editions->comes);
}

void edition__begin(struct edition *edition)
{
	struct editions *editions = edition->editions;

	if (!edition->content->is_whole) {
		edition__queue(edition);
	} else if (!editions->whole) {
		editions->whole = edition;
		edition__queue(edition);
	} else {
		edition->state = EDITION_WAITING;
		edition_queue__add(&editions->waiting, edition);
		/* Its slow readers now delay other readers, and may be cut off. */
		if (editions->whole->state == EDITION_STALLED)
			edition__queue(editions->whole);
	}
}

void edition__close_head(struct edition *edition)
{
	editions__put(edition->editions, edition->head);
	edition->head = NULL;
}

void edition__end(struct edition *edition, enum edition_state state)
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
	editions->whole = edition_queue__take(&editions->waiting);
	if (editions->whole)
		edition__queue(editions->whole);
}

void edition__free(struct edition *edition)
{
	metric_text_stream__free(edition->text);
	gzip_stream__close(&edition->packer);
	edition->content->operations->free(edition->content);
	free(edition->filled);
	free(edition);
}

bool edition__abandon(struct edition *edition)
{
	struct editions *editions = edition->editions;

	edition__close_head(edition);
	if (edition->state == EDITION_QUEUED || edition->state == EDITION_WAITING ||
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

void edition__wake(struct edition *edition)
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

/*
 * The slowest reader that did not take all linked chunks; NULL if there is none.  Sets @front to
 * the position of the fastest.
 */
static struct edition_reader *find_last(const struct edition *edition, uint64_t *front)
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

bool edition__make_room(struct edition *made)
{
	struct editions *editions = made->editions;
	struct edition_reader *reader;
	struct edition *edition = editions->first;
	uint64_t front;

	if (editions->counts.bytes <= editions->counts.limit)
		return true;
	/* New readers begin with another edition, so that the first chunks can be freed. */
	edition__close_head(made);
	while (editions->counts.bytes > editions->counts.limit && edition) {
		reader = find_last(edition, &front);
		if (!reader) {
			edition = edition->next;
			continue;
		}
		if (edition == made && !editions->waiting.first && reader->position == front)
			return false;
		reader__cut(reader);
	}
	return true;
}

bool edition__is_wanted(const struct edition *edition)
{
	const struct edition_reader *reader = edition->readers;

	while (reader && reader->is_cut)
		reader = reader->next;
	return reader;
}
