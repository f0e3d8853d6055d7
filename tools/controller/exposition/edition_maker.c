// SPDX-License-Identifier: GPL-2.0-only
/* Makers: threads that print and pack editions, a few chunks of each in turn. */
#include "edition.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>

#define CHUNK_BYTES (64U << 10)
/* Bytes that a maker prints in a turn, which takes a few milliseconds. */
#define TURN_BYTES (256U << 10)
#define PIECE_BYTES (32U << 10)

/* With the lock: links the chunk being filled, unless there is none. */
static void edition__link(struct edition *edition)
{
	struct editions *editions = edition->editions;
	struct edition_chunk *chunk = edition->filled;

	if (!chunk)
		return;
	edition->filled = NULL;
	editions->counts.bytes += chunk->room;
	edition->last->next = edition_chunk__hold(chunk);
	/* Unless a reader holds the former last chunk, this frees it and its hold on @chunk. */
	editions__put(editions, edition->last);
	edition->last = chunk;
	edition->chunks++;
}

/* Makes a chunk to fill, unless there is one.  Returns 0, 1 if the chunk is full, or -ENOMEM. */
static int edition__need_room(struct edition *edition)
{
	if (!edition->filled)
		edition->filled = edition_chunk__new(CHUNK_BYTES);
	if (!edition->filled)
		return -ENOMEM;
	return edition->filled->length == edition->filled->room;
}

/* Packs or copies @text into chunks; @is_last ends the packed stream.  Returns 0 or -errno. */
static int edition__fill(struct edition *edition, const char *text, size_t length, bool is_last)
{
	struct editions *editions = edition->editions;
	struct edition_chunk *chunk;
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
			got = gzip_stream__take(&edition->packer, chunk->bytes + chunk->length, got,
						is_last);
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

/* Shrinks the last chunk to its length. */
static void edition__trim(struct edition *edition)
{
	struct edition_chunk *chunk = edition->filled, *smaller;

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
	edition->text =
		metric_text_stream__new(content->targets, content->count, content->format, true);
	if (!edition->text)
		return -ENOMEM;
	return edition->is_packed ? gzip_stream__open(&edition->packer, false) : 0;
}

/* Makes the part of a turn.  Returns 1 if the edition is complete, 0 if not, or -errno. */
static int edition__make(struct edition *edition)
{
	size_t length, sum = 0;
	const char *text;
	int ret = edition->text ? 0 : edition__prepare(edition);

	while (!ret && sum < TURN_BYTES) {
		ret = metric_text_stream__next(edition->text, PIECE_BYTES, &text, &length);
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

/* With the lock: ends or queues @edition after a turn of edition__make(), which returned @ret. */
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

void *edition_maker__run(void *data)
{
	struct editions *editions = data;
	struct edition *edition;
	int ret;

	pthread_mutex_lock(&editions->lock);
	while (!editions->is_ending) {
		edition = edition_queue__take(&editions->queue);
		if (!edition) {
			pthread_cond_wait(&editions->comes, &editions->lock);
			continue;
		}
		edition->state = EDITION_IN_TURN;
		if (!edition->begun_ns)
			edition->begun_ns = dart_clock__ns(CLOCK_MONOTONIC);
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
