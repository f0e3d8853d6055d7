// SPDX-License-Identifier: GPL-2.0-only
/* The desk that looks up keys for the page: a host that does not answer delays no other host. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/store/store_reader.h>

#include "selftests/unit/unit.h"
#include "tools/controller/web/lookup.h"

/* Seconds until a lookup that should be answered counts as delayed. */
#define PATIENCE 20

struct http_stream {
	bool is_awake;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changes = PTHREAD_COND_INITIALIZER;
static unsigned int hanging; /* lookups of hosts called "dead..." that wait for their host */
static unsigned int hanging_most;
static bool is_released;

/* ---- in place of the server and of the reader of stores */

void http_stream__wake(struct http_stream *stream)
{
	pthread_mutex_lock(&lock);
	stream->is_awake = true;
	pthread_cond_broadcast(&changes);
	pthread_mutex_unlock(&lock);
}

int dart_store_reader__open(const char *host, uint16_t port, const char *name,
			    struct dart_store_reader **reader, struct dart_error *error)
{
	pthread_mutex_lock(&lock);
	if (!strncmp(host, "dead", 4)) {
		hanging++;
		if (hanging > hanging_most)
			hanging_most = hanging;
		pthread_cond_broadcast(&changes);
		while (!is_released)
			pthread_cond_wait(&changes, &lock);
		hanging--;
	}
	pthread_mutex_unlock(&lock);
	return dart_error__set(error, ETIMEDOUT, "asked %s", host);
}

const struct dart_store_geometry *
dart_store_reader__geometry(const struct dart_store_reader *reader)
{
	return NULL;
}

int dart_store_reader__query_batch(struct dart_store_reader *reader, const void *keys,
				   size_t length, size_t count, const struct dart_store_rule *rule,
				   struct dart_store_answer *answers, struct dart_error *error)
{
	return -EIO;
}

int dart_store_reader__sample(struct dart_store_reader *reader, uint64_t samples, uint64_t seed,
			      uint64_t *written, struct dart_error *error)
{
	return -EIO;
}

void dart_store_reader__close(struct dart_store_reader *reader)
{
}

/* ---- lookups */

struct asked {
	struct http_stream stream;
	void *lookup;
};

static void ask(struct lookup_desk *desk, struct asked *asked, const char *host, uint16_t port)
{
	struct lookup_question question = {
		.host = strdup(host),
		.port = port,
		.store = strdup("paths"),
	};

	asked->stream.is_awake = false;
	asked->lookup = lookup__new(desk, &question);
	assert_non_null(asked->lookup);
	lookup__operations.start(asked->lookup, &asked->stream);
}

/* Waits until *@number is @value, or fails. */
static void await(const unsigned int *number, const bool *flag, unsigned int value)
{
	struct timespec until;
	int ret = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE;
	pthread_mutex_lock(&lock);
	while (!ret && (number ? *number != value : !*flag))
		ret = pthread_cond_timedwait(&changes, &lock, &until);
	pthread_mutex_unlock(&lock);
	assert_int_equal(ret, 0);
}

static void assert_answer(struct asked *asked, const char *expected)
{
	char text[256];
	ssize_t length = lookup__operations.read(asked->lookup, text, sizeof(text) - 1);

	assert_true(length >= 0);
	text[length] = '\0';
	assert_string_equal(text, expected);
	if (length)
		assert_int_equal(lookup__operations.read(asked->lookup, text, sizeof(text)),
				 -ENOENT);
}

static void leave(struct asked *asked)
{
	lookup__operations.free(asked->lookup);
}

static void assert_answered(struct lookup_desk *desk, const char *host)
{
	struct asked asked;
	char expected[256];

	ask(desk, &asked, host, 1);
	await(NULL, &asked.stream.is_awake, true);
	snprintf(expected, sizeof(expected), "{\"error\":\"asked %s\"}", host);
	assert_answer(&asked, expected);
	leave(&asked);
}

static void release(void)
{
	pthread_mutex_lock(&lock);
	is_released = true;
	pthread_cond_broadcast(&changes);
	pthread_mutex_unlock(&lock);
}

static int begin(void **state)
{
	is_released = false;
	hanging = hanging_most = 0;
	*state = lookup_desk__new();
	return *state ? 0 : -1;
}

static int end(void **state)
{
	release();
	lookup_desk__free(*state);
	return 0;
}

static void test_dead_host(void **state)
{
	struct lookup_desk *desk = *state;
	struct asked first, others[LOOKUPS_HOST_MAX], further;
	size_t i;

	ask(desk, &first, "dead", 1);
	await(&hanging, NULL, 1);
	assert_answered(desk, "alive");
	for (i = 0; i < LOOKUPS_HOST_MAX; i++)
		ask(desk, &others[i], "dead", 1);
	assert_answered(desk, "alive");
	assert_int_equal(hanging_most, 1);

	/* Its lookups take no room of others. */
	ask(desk, &further, "dead", 1);
	assert_answer(&further, "{\"error\":\"too many lookups of this agent wait, try again\"}");
	leave(&further);
	assert_answered(desk, "alive");
	/* A lookup whose reader left makes room. */
	leave(&others[LOOKUPS_HOST_MAX - 1]);
	ask(desk, &others[LOOKUPS_HOST_MAX - 1], "dead", 1);
	assert_answer(&others[LOOKUPS_HOST_MAX - 1], "");
	leave(&others[0]);
	leave(&first);

	release();
	for (i = 1; i < LOOKUPS_HOST_MAX; i++) {
		await(NULL, &others[i].stream.is_awake, true);
		assert_answer(&others[i], "{\"error\":\"asked dead\"}");
		leave(&others[i]);
	}
	assert_int_equal(hanging_most, 1);
}

static void test_dead_hosts(void **state)
{
	struct asked asked[LOOKUP_THREADS], waiting[LOOKUPS_MAX], further;
	struct lookup_desk *desk = *state;
	char host[16];
	size_t i;

	for (i = 0; i < LOOKUP_THREADS; i++) {
		snprintf(host, sizeof(host), "dead%zu", i);
		ask(desk, &asked[i], host, 1);
	}
	await(&hanging, NULL, LOOKUP_THREADS);
	/* Of one name, but with other ports: other agents. */
	for (i = 0; i < LOOKUPS_MAX; i++)
		ask(desk, &waiting[i], "alive", i);
	ask(desk, &further, "alive", LOOKUPS_MAX);
	assert_answer(&further, "{\"error\":\"too many lookups wait, try again\"}");
	leave(&further);
	release();
	for (i = 0; i < LOOKUPS_MAX; i++) {
		await(NULL, &waiting[i].stream.is_awake, true);
		leave(&waiting[i]);
	}
	for (i = 0; i < LOOKUP_THREADS; i++) {
		await(NULL, &asked[i].stream.is_awake, true);
		leave(&asked[i]);
	}
}

/* The streams have ended, and the desk ends while lookups are in progress. */
static void test_end_with_lookups(void **state)
{
	struct asked asked;

	ask(*state, &asked, "dead", 1);
	await(&hanging, NULL, 1);
	leave(&asked);
	ask(*state, &asked, "dead", 1);
	leave(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a host that does not answer delays no lookup of another host",
			     test_dead_host, begin, end),
		TEST_FIXTURE(
			"lookups wait for as many such hosts as there are threads, up to a limit",
			test_dead_hosts, begin, end),
		TEST_FIXTURE("the desk ends with a lookup in progress whose reader left",
			     test_end_with_lookups, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
