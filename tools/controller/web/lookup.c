// SPDX-License-Identifier: GPL-2.0-only
/* Lookups in stores: see lookup.h. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>
#include <libdart/store/store_reader.h>
#include <libdart/store/store_sizing.h>

#include "tools/controller/base/thread.h"

#include "lookup.h"

/* Referenced by its stream, and by the desk until the desk answered it. */
struct lookup {
	struct lookup_desk *desk;
	struct lookup_question question;

	/* Protected by the desk's lock. */
	struct lookup *next; /* next in the desk's queue */
	bool is_waiting; /* in this queue */
	unsigned int references;
	struct http_stream *stream; /* NULL once its reader left */
	char *text; /* the answer; NULL before it is ready */
	size_t taken;
	bool has_failed; /* out of memory */
};

struct lookup_desk {
	pthread_t threads[LOOKUP_THREADS];
	unsigned int thread_count;
	pthread_mutex_t lock;
	pthread_cond_t comes; /* a lookup to do, or the end */
	struct lookup *first, **end; /* of the queue */
	unsigned int waiting; /* in it */
	struct lookup *served[LOOKUP_THREADS]; /* by each thread; NULL: none */
	bool is_ending;
};

void lookup_question__clear(struct lookup_question *question)
{
	free(question->host);
	free(question->store);
	*question = (struct lookup_question){};
}

/* Drops a reference. The caller holds the desk's lock. */
static void lookup__put(struct lookup *lookup)
{
	if (--lookup->references)
		return;
	lookup_question__clear(&lookup->question);
	free(lookup->text);
	free(lookup);
}

/* Slots that are sampled to estimate how full the store is. */
#define SAMPLES 2048

/* Without an empty slot in the sample the load of the store is unknown. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *filling(const struct dart_store_geometry *geometry, uint64_t written)
{
	double load = dart_store_sizing__estimate(written, SAMPLES, geometry->redundancy);

	return json_pack("{s:f, s:o, s:o, s:o}", "written", (double)written / SAMPLES, "load",
			 number(load), "found",
			 number(dart_store_sizing__average(load, geometry->redundancy)),
			 "oldest_found",
			 number(dart_store_sizing__oldest(load, geometry->redundancy)));
}

static json_t *json_of(const struct lookup_question *question,
		       const struct dart_store_geometry *geometry,
		       const struct dart_store_answer *found, uint64_t written)
{
	static const char *const outcomes[] = {
		[DART_STORE_FOUND] = "found",
		[DART_STORE_EMPTY] = "empty",
		[DART_STORE_AMBIGUOUS] = "ambiguous",
	};
	json_t *value = NULL;

	if (found->outcome == DART_STORE_FOUND)
		value = dart_key_schema__value(question->schema, found->value);
	return json_pack("{s:s, s:i, s:i, s:i, s:I, s:i, s:i, s:o?, s:o}", "outcome",
			 outcomes[found->outcome], "matches", (int)found->matches, "agreeing",
			 (int)found->agreeing, "redundancy", (int)geometry->redundancy, "slots",
			 (json_int_t)geometry->slots, "value_bytes", (int)geometry->value_length,
			 "checksum_bits", (int)geometry->checksum_bits, "value", value, "filling",
			 filling(geometry, written));
}

/* Checks whether the store can answer the question. */
static int check(const struct lookup_question *question, const struct dart_store_geometry *geometry,
		 struct dart_error *error)
{
	if (question->schema->value.length > geometry->value_length)
		return dart_error__set(
			error, EINVAL,
			"values of this schema have %u bytes, but those of store '%s' %u",
			question->schema->value.length, question->store, geometry->value_length);
	if (question->rule.consensus > geometry->redundancy)
		return dart_error__set(
			error, EINVAL,
			"a consensus of %u is impossible: the redundancy of store '%s' is %u",
			question->rule.consensus, question->store, geometry->redundancy);
	return 0;
}

/* Returns the answer, or a sentence with the reason why there is none; NULL if out of memory. */
static char *answer(const struct lookup_question *question)
{
	struct dart_store_reader *reader = NULL;
	struct dart_store_answer found;
	struct dart_error error;
	uint64_t written = 0;
	json_t *json;
	char *text;
	int ret;

	ret = dart_store_reader__open(question->host, question->port, question->store, &reader, &error) ?:
		      check(question, dart_store_reader__geometry(reader), &error) ?:
		      dart_store_reader__query_batch(reader, question->key, question->key_length, 1, &question->rule, &found, &error) ?:
		      dart_store_reader__sample(reader, SAMPLES, 0, &written, &error);
	json = ret ? json_pack("{s:s}", "error", error.text) :
		     json_of(question, dart_store_reader__geometry(reader), &found, written);
	dart_store_reader__close(reader);
	text = json ? dart_json__dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return text;
}

static bool is_of_one_host(const struct lookup *one, const struct lookup *other)
{
	return one->question.port == other->question.port &&
	       !strcmp(one->question.host, other->question.host);
}

/* A host that does not answer keeps a single thread busy. */
static bool is_host_served(const struct lookup_desk *desk, const struct lookup *lookup)
{
	unsigned int i;

	for (i = 0; i < LOOKUP_THREADS; i++)
		if (desk->served[i] && is_of_one_host(desk->served[i], lookup))
			return true;
	return false;
}

static unsigned int count_of_host(const struct lookup_desk *desk, const struct lookup *lookup)
{
	const struct lookup *other;
	unsigned int count = 0;

	for (other = desk->first; other; other = other->next)
		count += is_of_one_host(other, lookup);
	return count;
}

static void append(struct lookup_desk *desk, struct lookup *lookup)
{
	lookup->references++;
	lookup->is_waiting = true;
	*desk->end = lookup;
	desk->end = &lookup->next;
	desk->waiting++;
}

/* Takes the lookup at *@place out of the queue, with its reference. */
static struct lookup *take_at(struct lookup_desk *desk, struct lookup **place)
{
	struct lookup *lookup = *place;

	*place = lookup->next;
	if (!*place)
		desk->end = place;
	lookup->next = NULL;
	lookup->is_waiting = false;
	desk->waiting--;
	return lookup;
}

/* Takes the first lookup of a host that no thread asks now, or returns NULL. */
static struct lookup *take_next(struct lookup_desk *desk)
{
	struct lookup **place = &desk->first;

	while (*place && is_host_served(desk, *place))
		place = &(*place)->next;
	return *place ? take_at(desk, place) : NULL;
}

/* Releases the desk's lock, which the caller holds, while it looks up the key. */
static void serve(struct lookup_desk *desk, struct lookup **served)
{
	struct lookup *lookup = *served;
	char *text;

	pthread_mutex_unlock(&desk->lock);
	text = answer(&lookup->question);
	pthread_mutex_lock(&desk->lock);
	*served = NULL;
	lookup->text = text;
	lookup->has_failed = !text;
	if (lookup->stream)
		http_stream__wake(lookup->stream);
	lookup__put(lookup);
}

static void *run(void *data)
{
	struct lookup_desk *desk = data;
	struct lookup **served;

	pthread_mutex_lock(&desk->lock);
	served = &desk->served[desk->thread_count++];
	while (!desk->is_ending) {
		*served = take_next(desk);
		if (*served)
			serve(desk, served);
		else
			pthread_cond_wait(&desk->comes, &desk->lock);
	}
	pthread_mutex_unlock(&desk->lock);
	return NULL;
}

/* Waits for the first @count threads. */
static void end_threads(struct lookup_desk *desk, unsigned int count)
{
	unsigned int i;

	pthread_mutex_lock(&desk->lock);
	desk->is_ending = true;
	pthread_cond_broadcast(&desk->comes);
	pthread_mutex_unlock(&desk->lock);
	for (i = 0; i < count; i++)
		pthread_join(desk->threads[i], NULL);
}

static void close_desk(struct lookup_desk *desk)
{
	pthread_cond_destroy(&desk->comes);
	pthread_mutex_destroy(&desk->lock);
	free(desk);
}

struct lookup_desk *lookup_desk__new(void)
{
	struct lookup_desk *desk = calloc(1, sizeof(*desk));
	unsigned int i;

	if (!desk)
		return NULL;
	desk->end = &desk->first;
	pthread_mutex_init(&desk->lock, NULL);
	pthread_cond_init(&desk->comes, NULL);
	for (i = 0; i < LOOKUP_THREADS; i++) {
		if (!thread__start(&desk->threads[i], "lookup", run, desk))
			continue;
		end_threads(desk, i);
		close_desk(desk);
		return NULL;
	}
	return desk;
}

void lookup_desk__free(struct lookup_desk *desk)
{
	if (!desk)
		return;
	end_threads(desk, LOOKUP_THREADS);
	while (desk->first)
		lookup__put(take_at(desk, &desk->first));
	close_desk(desk);
}

void *lookup__new(struct lookup_desk *desk, struct lookup_question *question)
{
	struct lookup *lookup = calloc(1, sizeof(*lookup));

	if (!lookup) {
		lookup_question__clear(question);
		return NULL;
	}
	lookup->desk = desk;
	lookup->question = *question;
	*question = (struct lookup_question){};
	lookup->references = 1;
	return lookup;
}

static void on_start(void *data, struct http_stream *stream)
{
	struct lookup *lookup = data;
	struct lookup_desk *desk = lookup->desk;
	const char *refusal = NULL;

	pthread_mutex_lock(&desk->lock);
	lookup->stream = stream;
	if (desk->waiting == LOOKUPS_MAX)
		refusal = "{\"error\":\"too many lookups wait, try again\"}";
	else if (count_of_host(desk, lookup) == LOOKUPS_HOST_MAX)
		refusal = "{\"error\":\"too many lookups of this agent wait, try again\"}";
	if (refusal) {
		lookup->text = strdup(refusal);
		lookup->has_failed = !lookup->text;
	} else {
		append(desk, lookup);
		pthread_cond_signal(&desk->comes);
	}
	pthread_mutex_unlock(&desk->lock);
}

static ssize_t on_read(void *data, char *buffer, size_t size)
{
	struct lookup *lookup = data;
	size_t left = 0;
	ssize_t ret = 0;

	pthread_mutex_lock(&lookup->desk->lock);
	if (lookup->text) {
		left = strlen(lookup->text + lookup->taken);
		ret = left < size ? left : size;
		memcpy(buffer, lookup->text + lookup->taken, ret);
		lookup->taken += ret;
	}
	if (lookup->has_failed || (lookup->text && !left))
		ret = -ENOENT;
	pthread_mutex_unlock(&lookup->desk->lock);
	return ret;
}

/* Takes a lookup whose reader left out of the queue: it makes room for another one. */
static void leave_queue(struct lookup_desk *desk, const struct lookup *lookup)
{
	struct lookup **place = &desk->first;

	while (*place != lookup)
		place = &(*place)->next;
	lookup__put(take_at(desk, place));
}

static void on_free(void *data)
{
	struct lookup *lookup = data;
	struct lookup_desk *desk = lookup->desk;

	pthread_mutex_lock(&desk->lock);
	lookup->stream = NULL;
	if (lookup->is_waiting)
		leave_queue(desk, lookup);
	lookup__put(lookup);
	pthread_mutex_unlock(&desk->lock);
}

const struct http_stream_operations lookup__operations = {
	.start = on_start,
	.read = on_read,
	.free = on_free,
};
