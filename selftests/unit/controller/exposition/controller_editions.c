// SPDX-License-Identifier: GPL-2.0-only
/* Editions of pages and their readers, over sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/bench/invented_metrics.h"
#include "tools/controller/base/gzip.h"
#include "tools/controller/exposition/editions.h"
#include "tools/controller/http/http_connections.h"

#include "selftests/unit/unit.h"

/* Helgrind, which takes a hundred times as long, gets pages of a fifth, and less memory for them. */
#ifdef HELGRIND_ATOMICS_H
#define SMALLER 5
#else
#define SMALLER 1
#endif
#define TARGETS 50
#define SERIES (2000 / SMALLER)
/* Plain: about 10 MB, more than sockets hold; packed: about half a MB. */
#define PAGE_BYTES_MAX ((64U << 20) / SMALLER / SMALLER)
/* A chunk is 64 KiB; a turn adds a few chunks at most. */
#define SLACK_BYTES (512U << 10)
#define READERS 8

/* Contents of pages: all targets share one plan, and their points change together. */
static struct fleet {
	struct editions *editions;
	struct http_server *server;
	struct metric_plan *plan;
	struct metric_point *points;
	struct metric_text_target targets[TARGETS];
	char labels[TARGETS][32];
	atomic_uint version;	/* of the values */
	atomic_int held;	/* editions that hold values */
	atomic_int taken, most_held, contents;
} fleet;

struct content {
	struct edition_content content;
	unsigned int version;
	bool is_held;
};

static int take(struct edition_content *content)
{
	struct content *own = (struct content *)content;
	int held = atomic_fetch_add(&fleet.held, 1) + 1;

	if (held > atomic_load(&fleet.most_held))
		atomic_store(&fleet.most_held, held);
	atomic_fetch_add(&fleet.taken, 1);
	own->is_held = true;
	own->version = atomic_load(&fleet.version);
	content->targets = fleet.targets;
	content->count = content->is_whole ? TARGETS : 1;
	return 0;
}

static void drop(struct edition_content *content)
{
	struct content *own = (struct content *)content;

	if (own->is_held)
		atomic_fetch_sub(&fleet.held, 1);
	own->is_held = false;
}

static bool is_current(const struct edition_content *content)
{
	return ((const struct content *)content)->version == atomic_load(&fleet.version);
}

static void free_content(struct edition_content *content)
{
	drop(content);
	atomic_fetch_sub(&fleet.contents, 1);
	free(content);
}

static void answer_page(const struct http_request *request,
			struct http_answer *answer, bool is_whole)
{
	static const struct edition_content_operations operations = {
		.take = take,
		.drop = drop,
		.is_current = is_current,
		.free = free_content,
	};
	struct content *content = calloc(1, sizeof(*content));

	assert_non_null(content);
	atomic_fetch_add(&fleet.contents, 1);
	content->content.operations = &operations;
	content->content.is_whole = is_whole;
	answer->type = "text/plain";
	editions__answer(fleet.editions, &content->content, request, answer);
}

static void fill_all(void *data, const struct http_request *request, struct http_answer *answer)
{
	answer_page(request, answer, true);
}

static void fill_one(void *data, const struct http_request *request, struct http_answer *answer)
{
	answer_page(request, answer, false);
}

static const struct http_page pages[] = {
	{ .path = "/all", .fill = fill_all },
	{ .path = "/one", .fill = fill_one },
};

static int begin_fleet(void **state)
{
	const struct http_server_options options = {
		.address = "127.0.0.1:0",
		.pages = pages,
		.page_count = 2,
		.threads = 4,
		.streams = HTTP_CONNECTIONS_MAX,
	};
	struct dart_error error;
	uint32_t i;

	memset(&fleet, 0, sizeof(fleet));
	fleet.plan = invented_plan__new(SERIES, 0);
	fleet.points = calloc(SERIES, sizeof(*fleet.points));
	assert_non_null(fleet.points);
	for (i = 0; i < fleet.plan->series_count; i++)
		fleet.points[i] = (struct metric_point){
			invented_plan__value(fleet.plan, i, 1, 7, 40),
			1700000000000000000LL + i * 1000000LL,
		};
	for (i = 0; i < TARGETS; i++) {
		snprintf(fleet.labels[i], sizeof(fleet.labels[i]), "instance=\"host%u\"", i);
		fleet.targets[i] = (struct metric_text_target){
			.labels = fleet.labels[i],
			.plan = fleet.plan,
			.points = fleet.points,
		};
	}
	fleet.editions = editions__new(NULL);
	assert_non_null(fleet.editions);
	if (http_server__new(&options, &fleet.server, &error))
		fail_msg("%s", error.text);
	return 0;
}

/* Nothing that was taken is left. */
static int end_fleet(void **state)
{
	struct editions_counts counts;

	http_server__free(fleet.server);
	editions__count(fleet.editions, &counts);
	assert_int_equal(counts.open, 0);
	editions__free(fleet.editions);
	assert_int_equal(fleet.contents, 0);
	assert_int_equal(fleet.held, 0);
	metric_plan__put(fleet.plan);
	free(fleet.points);
	return 0;
}

static int begin(const char *method, const char *path, const char *encoding)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(http_server__port(fleet.server)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), length;
	const int room = 32 << 10;
	char request[256];

	assert_true(fd >= 0);
	/* A small buffer, so that the kernel does not read ahead of the test. */
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	length = snprintf(
		request, sizeof(request),
		"%s %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAccept-Encoding: %s\r\n\r\n",
		method, path, encoding);
	assert_int_equal(send(fd, request, length, MSG_NOSIGNAL), length);
	return fd;
}

/* A body of chunks (RFC 9112, section 7.1) in place; -1: it was cut off. */
static ssize_t join_chunks(char *body, size_t length)
{
	size_t at = 0, used = 0, size;
	char *end;

	for (;;) {
		if (at >= length)
			return -1;
		size = strtoul(body + at, &end, 16);
		at = end - body + 2;
		if (!size)
			return used;
		if (at + size + 2 > length)
			return -1;
		memmove(body + used, body + at, size);
		used += size;
		at += size + 2;
	}
}

/* The body, for free(); NULL: it was cut off. */
static char *finish(int fd, size_t *length)
{
	char *all = malloc(PAGE_BYTES_MAX + 1), *body;
	size_t used = 0;
	ssize_t got, joined;

	assert_non_null(all);
	while ((got = recv(fd, all + used, PAGE_BYTES_MAX - used, 0)) > 0)
		used += got;
	close(fd);
	all[used] = '\0';
	body = strstr(all, "\r\n\r\n");
	joined = body ? join_chunks(body + 4, all + used - body - 4) : -1;
	if (joined >= 0)
		memmove(all, body + 4, joined);
	*length = joined < 0 ? 0 : joined;
	if (joined >= 0)
		return all;
	free(all);
	return NULL;
}

static char *unpack(char *packed, size_t *length)
{
	char *text = malloc(PAGE_BYTES_MAX);
	z_stream stream = { };

	assert_non_null(text);
	assert_non_null(packed);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = (Bytef *)packed;
	stream.avail_in = *length;
	stream.next_out = (Bytef *)text;
	stream.avail_out = PAGE_BYTES_MAX;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	*length = stream.total_out;
	inflateEnd(&stream);
	free(packed);
	return text;
}

static void expect_text(char *body, size_t length, size_t targets)
{
	size_t expected;
	char *text;

	assert_non_null(body);
	assert_int_equal(metric_text__print(fleet.targets, targets, METRIC_TEXT_PROMETHEUS, true,
					    &text, &expected),
			 0);
	assert_int_equal(length, expected);
	assert_memory_equal(body, text, length);
	free(text);
	free(body);
}

static void test_same(void **state)
{
	size_t length;
	char *body;

	body = finish(begin("GET", "/all", "identity"), &length);
	expect_text(body, length, TARGETS);
	body = unpack(finish(begin("GET", "/all", "gzip"), &length), &length);
	expect_text(body, length, TARGETS);
	body = finish(begin("GET", "/one", "identity"), &length);
	expect_text(body, length, 1);
	body = unpack(finish(begin("GET", "/one", "gzip"), &length), &length);
	expect_text(body, length, 1);
}

/*
 * For tests of bounds: a smaller page has too few chunks for them, and under helgrind the server takes
 * each reader for a slow one.
 */
static void skip_bounds(void)
{
	if (SMALLER > 1)
		skip();
}

/* Waits until this number of readers get a page, by the server's counts. */
static void wait_readers(uint64_t count)
{
	struct editions_counts counts;

	do {
		usleep(1000);
		editions__count(fleet.editions, &counts);
	} while (counts.readers < count);
}

/* Returns when @count editions are complete. */
static void wait_made(uint64_t count)
{
	struct editions_counts counts;

	do {
		usleep(1000);
		editions__count(fleet.editions, &counts);
	} while (counts.made < count);
}

static void *read_whole(void *data)
{
	size_t length;
	char *body = finish(*(int *)data, &length);

	body = unpack(body, &length);
	expect_text(body, length, TARGETS);
	return NULL;
}

static void *read_as_it_is(void *data)
{
	size_t length;
	char *body = finish(*(int *)data, &length);

	expect_text(body, length, TARGETS);
	return NULL;
}

/* Readers of the same values share one edition, and hold no values. */
static void test_shared(void **state)
{
	struct editions_counts counts;
	pthread_t threads[READERS];
	int fds[READERS], i;

	for (i = 0; i < READERS; i++) {
		fds[i] = begin("GET", "/all", i % 2 ? "gzip" : "identity");
		wait_readers(i + 1);
		/*
		 * Readers share a complete edition at any time, an edition in progress only for a
		 * while.
		 */
		wait_made(1);
	}
	editions__count(fleet.editions, &counts);
	assert_int_equal(counts.made, 1);
	/* A packed page may be in the hands of the kernel as a whole. */
	assert_in_range(counts.open, READERS / 2, READERS);
	assert_int_equal(fleet.held, 0);
	assert_in_range(counts.bytes, 1, 4 << 20);
	/* In parallel: a reader that waits for its turn would time out. */
	for (i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						i % 2 ? read_whole : read_as_it_is, &fds[i]),
				 0);
	for (i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	editions__count(fleet.editions, &counts);
	assert_int_equal(counts.made, 1);
	assert_int_equal(counts.cut[CUT_FOR_MEMORY], 0);
}

/* Values change each time: waiting text is bounded, and the last reader gets its page. */
static void test_bound(void **state)
{
	const size_t limit = 1 << 20;
	struct editions_counts counts;
	int fds[READERS], i, whole = 0;
	size_t length;
	char *body;

	skip_bounds();
	editions__set_limit(fleet.editions, limit);
	for (i = 0; i < READERS; i++) {
		atomic_fetch_add(&fleet.version, 1);
		fds[i] = begin("GET", "/all", "identity");
		wait_made(i + 1);
		editions__count(fleet.editions, &counts);
		assert_in_range(counts.bytes, 0, limit + SLACK_BYTES);
		assert_int_equal(fleet.held, 0);
	}
	assert_int_equal(fleet.most_held, 1);
	assert_true(counts.cut[CUT_FOR_MEMORY] > 0);
	body = finish(fds[READERS - 1], &length);
	expect_text(body, length, TARGETS);
	/* Readers that were cut off can tell. */
	for (i = 0; i < READERS - 1; i++) {
		body = finish(fds[i], &length);
		whole += !!body;
		free(body);
	}
	editions__count(fleet.editions, &counts);
	assert_int_equal(counts.cut[CUT_FOR_MEMORY] + counts.cut[CUT_FOR_SILENCE] + whole + 1,
			 READERS);
}

/* A single reader of a page beyond the bound gets it in pieces. */
static void test_longer(void **state)
{
	struct editions_counts counts;
	int fd;

	skip_bounds();
	editions__set_limit(fleet.editions, 256 << 10);
	fd = begin("GET", "/all", "gzip");
	read_whole(&fd);
	editions__count(fleet.editions, &counts);
	assert_int_equal(counts.cut[CUT_FOR_MEMORY], 0);
	assert_int_equal(counts.made, 1);
}

/* A reader that takes nothing delays neither other readers of its edition nor the next edition. */
static void test_stalled(void **state)
{
	struct editions_counts counts;
	pthread_t thread;
	int idle, fast;

	skip_bounds();
	editions__set_limit(fleet.editions, 256 << 10);
	idle = begin("GET", "/all", "identity");
	wait_readers(1);
	fast = begin("GET", "/all", "gzip");
	assert_int_equal(pthread_create(&thread, NULL, read_whole, &fast), 0);
	pthread_join(thread, NULL);
	editions__count(fleet.editions, &counts);
	assert_int_equal(counts.cut[CUT_FOR_MEMORY], 1);
	close(idle);

	atomic_fetch_add(&fleet.version, 1);
	idle = begin("GET", "/all", "identity");
	wait_readers(3);
	atomic_fetch_add(&fleet.version, 1);
	fast = begin("GET", "/one", "gzip");
	close(begin("GET", "/all", "identity"));
	free(finish(fast, &(size_t){ 0 }));
	fast = begin("GET", "/all", "gzip");
	assert_int_equal(pthread_create(&thread, NULL, read_whole, &fast), 0);
	pthread_join(thread, NULL);
	close(idle);
}

/* A reader that takes nothing is cut off and counted, even if its memory is not needed. */
static void test_silent(void **state)
{
	struct editions_counts counts;
	size_t length;
	char *body;
	int fd;

	skip_bounds();
	fd = begin("GET", "/all", "identity");
	do {
		usleep(10000);
		editions__count(fleet.editions, &counts);
	} while (!counts.cut[CUT_FOR_SILENCE]);
	assert_int_equal(counts.cut[CUT_FOR_SILENCE], 1);
	assert_int_equal(counts.cut[CUT_FOR_MEMORY], 0);
	body = finish(fd, &length);
	assert_null(body);
}

static void test_leaving(void **state)
{
	struct editions_counts counts;
	size_t length;
	char *body;
	int i;

	/* Nothing is made for who only asks for the header. */
	body = finish(begin("HEAD", "/all", "gzip"), &length);
	assert_null(body);
	for (i = 0; i < 50; i++)
		close(begin("GET", i % 3 ? "/all" : "/one", "gzip"));
	body = finish(begin("GET", "/one", "identity"), &length);
	expect_text(body, length, 1);
	do {
		usleep(1000);
		editions__count(fleet.editions, &counts);
	} while (counts.open);
	assert_in_range(counts.bytes, 0, SLACK_BYTES);
}

/* The server stops while a page is made and readers are in the middle. */
static void test_stop(void **state)
{
	int i;

	for (i = 0; i < 10; i++)
		begin("GET", i % 3 ? "/all" : "/one", i % 2 ? "gzip" : "br");
	wait_readers(5);
}

#define FLEET(sentence, function) \
	{ sentence, function, begin_fleet, end_fleet, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET("a page is the same text packed and as it is, of one target and of all",
		      test_same),
		FLEET("readers of the same values share one edition, which holds no values",
		      test_shared),
		FLEET("what waits for slow readers is bounded, those farthest behind are cut off, and can tell",
		      test_bound),
		FLEET("a page that is longer than the bound is made as its reader takes it",
		      test_longer),
		FLEET("a reader that takes nothing keeps no other waiting when the bound is reached",
		      test_stalled),
		FLEET("a reader that takes nothing for long is cut off", test_silent),
		FLEET("readers that leave leave nothing", test_leaving),
		FLEET("a server stops while pages are made and read", test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
