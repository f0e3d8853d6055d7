// SPDX-License-Identifier: GPL-2.0-only
/*
 * zero_ends SOCKET: ends libdartzero while other threads of the program use it, beside a dartd at
 * SOCKET that keeps the program waiting for its answer; exits with 1 at the first difference.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <libdartzero/zero.h>

#include "zero_checks.h"

#define WRITERS 3
#define ROOM (512 << 10)
#define ROUNDS 20

struct work {
	uint64_t done;
};
DART_ZERO_TYPE(work, struct work, DART_ZERO_COUNTER(struct work, done, ""));
DART_ZERO struct work site;
DART_ZERO_VARIABLE(site, work);

static const char *path;

static int start(size_t room)
{
	const struct dart_zero_sections sections = {
		.first = __start_dart_zero,
		.end = __stop_dart_zero,
		.variables = __start_dart_zero_variables,
		.variables_end = __stop_dart_zero_variables,
	};

	return dart_zero_start_sections(&sections, "ends", room, path);
}

/* ---- threads that count meanwhile */

static atomic_bool is_over;
static sem_t counts;

struct writer {
	pthread_t thread;
	volatile uint64_t *counter;
	uint64_t counted;
};

static void *write_values(void *argument)
{
	struct writer *writer = argument;

	sem_post(&counts);
	while (!is_over) {
		++*writer->counter;
		writer->counted++;
	}
	return NULL;
}

/* Threads count in the variable, and in the first and the last object of the room. */
static void check_counts(struct work *first, struct work *last)
{
	struct writer writers[WRITERS] = {
		{ .counter = &site.done },
		{ .counter = &first->done },
		{ .counter = &last->done },
	};
	int i;

	is_over = false;
	CHECK(!start(ROOM));
	for (i = 0; i < WRITERS; i++) {
		writers[i].counted = *writers[i].counter;
		CHECK(!pthread_create(&writers[i].thread, NULL, write_values, &writers[i]));
	}
	for (i = 0; i < WRITERS; i++)
		sem_wait(&counts);
	dart_zero_stop();
	is_over = true;
	for (i = 0; i < WRITERS; i++) {
		CHECK(!pthread_join(writers[i].thread, NULL));
		CHECK(*writers[i].counter == writers[i].counted);
	}
}

/* ---- a dartd that does not answer */

static sem_t is_asked, may_answer;

static void *serve(void *listener)
{
	static const char answer[] = "{\"ok\": true}\n";
	const int fd = accept(*(int *)listener, NULL, NULL);
	char request[4096];

	CHECK(fd >= 0 && read(fd, request, sizeof(request)) > 0);
	sem_post(&is_asked);
	sem_wait(&may_answer);
	/* The program may have gone on. */
	send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static _Atomic pid_t stopper; /* its thread, which has begun */

static void *stop(void *unused)
{
	stopper = gettid();
	dart_zero_stop();
	return unused;
}

/* True once the thread sleeps, or has ended. */
static bool is_quiet(pid_t thread)
{
	char file[64], text[512], *end;
	FILE *stat;

	if (!thread)
		return false;
	snprintf(file, sizeof(file), "/proc/self/task/%d/stat", thread);
	stat = fopen(file, "r");
	if (!stat)
		return true;
	text[fread(text, 1, sizeof(text) - 1, stat)] = '\0';
	fclose(stat);
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void check_stops(int listener)
{
	pthread_t server, first;
	struct work *object;
	double begin;

	CHECK(!pthread_create(&server, NULL, serve, &listener));
	CHECK(!start(ROOM));
	sem_wait(&is_asked);
	object = dart_zero_malloc(&dart_zero_work, "freed");
	begin = seconds();
	CHECK(!pthread_create(&first, NULL, stop, NULL));
	while (!is_quiet(stopper))
		;
	/* It is asked for, or will be: the thread of the library must not lose it. */
	dart_zero_free(object);
	dart_zero_stop();
	CHECK(open_memfd() < 0);
	CHECK(seconds() - begin < 2);
	CHECK(!pthread_join(first, NULL));
	sem_post(&may_answer);
	CHECK(!pthread_join(server, NULL));
}

int main(int argc, char *argv[])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct work *objects[ROOM / 64];
	size_t i;
	int listener;

	if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: zero_ends SOCKET\n");
		return 2;
	}
	path = argv[1];
	sem_init(&counts, 0, 0);
	sem_init(&is_asked, 0, 0);
	sem_init(&may_answer, 0, 0);
	CHECK(!start(ROOM));
	check_descriptors();
	check_signals(2);
	for (i = 0; i < ROOM / 64; i++)
		objects[i] = dart_zero_malloc(&dart_zero_work, "object");
	dart_zero_stop();
	for (i = 0; i < ROUNDS; i++)
		check_counts(objects[0], objects[ROOM / 64 - 1]);
	dart_zero_free(objects[0]);

	strcpy(address.sun_path, path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(listener >= 0 && !bind(listener, (struct sockaddr *)&address, sizeof(address)));
	CHECK(!listen(listener, 1));
	check_stops(listener);
	return 0;
}
