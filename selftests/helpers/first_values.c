// SPDX-License-Identifier: GPL-2.0-only
/*
 * first_values COUNT INTERVAL_MS [shared]: registers the slices first-0 and so on, one in each
 * interval, each in own memory, or "shared": in the memory of slice "first", which is
 * registered before them.  Each shows asked_ns, CLOCK_MONOTONIC just before its registration.
 * Prints a line with the same as JSON for each, and replied_ns, after the reply of dartd.  Ends half
 * an interval after the last one, and all slices with it.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/clock.h>
#include <libdart/registration/descriptor.h>

#define MEMORY 4096
#define SLICE 64 /* bytes */

static void sleep_ms(uint64_t ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static int connect_dartd(void)
{
	const struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = DART_REGISTRATION_SOCKET,
	};
	const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connection < 0 ||
	    connect(connection, (const struct sockaddr *)&address, sizeof(address)))
		error(1, errno, "%s", address.sun_path);
	return connection;
}

static volatile uint64_t *make_memory(int *fd)
{
	void *memory;

	*fd = memfd_create("first", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, MEMORY))
		error(1, errno, "memory");
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (memory == MAP_FAILED)
		error(1, errno, "mapping");
	/* dartd maps it for reading. */
	if (fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE))
		error(1, errno, "seals");
	return memory;
}

/* As a program without a library for JSON does it: see libdartzero. */
static void ask(int connection, const char *name, int memory)
{
	char request[512], reply[4096];
	ssize_t length;
	int proof;

	length = snprintf(
		request, sizeof(request),
		"{\"request\":\"new-slice\",\"name\":\"%s\",\"schema\":{\"name\":\"first\","
		"\"length\":64,\"fields\":[{\"name\":\"asked_ns\",\"offset\":0,\"width\":8,"
		"\"kind\":\"gauge\",\"unit\":\"ns\"}]}}\n",
		name);
	if (dart_descriptor__send(connection, request, length, 0, memory) != length)
		error(1, 0, "%s: cannot send the request", name);
	/* The proof stays open until the end. */
	length = dart_descriptor__receive(connection, reply, sizeof(reply) - 1, 0, &proof, NULL);
	if (length <= 0)
		error(1, 0, "%s: no reply", name);
	reply[length] = '\0';
	if (!strstr(reply, "\"ok\":true") || proof < 0)
		error(1, 0, "%s: %s", name, reply);
}

/* The same for another slice in that memory. */
static void ask_more(int connection, const char *name, int offset)
{
	struct pollfd answer = { .fd = connection, .events = POLLIN };
	char request[128], reply[512];
	ssize_t length;

	length = snprintf(request, sizeof(request), "%c%d %s\n", DART_REGISTRATION_SHORT, offset,
			  name);
	if (send(connection, request, length, MSG_NOSIGNAL) != length)
		error(1, errno, "%s", name);
	/* A call that waits for bytes would also wake up when dartd takes the request. */
	poll(&answer, 1, -1);
	length = recv(connection, reply, sizeof(reply) - 1, 0);
	if (length <= 0)
		error(1, 0, "%s: no reply", name);
	reply[length] = '\0';
	if (strcmp(reply, "{\"ok\":true}\n"))
		error(1, 0, "%s: %s", name, reply);
}

static void register_slice(int connection, int number, int memory, volatile uint64_t *value,
			   int offset)
{
	char name[32];

	snprintf(name, sizeof(name), "first-%d", number);
	*value = dart_clock__ns(CLOCK_MONOTONIC);
	if (offset)
		ask_more(connection, name, offset);
	else
		ask(connection, name, memory);
	printf("{\"entry\": \"%s\", \"asked_ns\": %llu, \"replied_ns\": %llu}\n", name,
	       (unsigned long long)*value, (unsigned long long)dart_clock__ns(CLOCK_MONOTONIC));
}

static void register_all(int connection, int count, int interval_ms, bool is_shared)
{
	volatile uint64_t *shared = NULL;
	int memory = -1;

	if (is_shared) {
		shared = make_memory(&memory);
		ask(connection, "first", memory);
		sleep_ms(interval_ms);
	}
	for (int i = 0; i < count; i++) {
		volatile uint64_t *own = is_shared ? shared + (i + 1) * SLICE / sizeof(*own) :
						     make_memory(&memory);

		register_slice(connection, i, memory, own, is_shared ? (i + 1) * SLICE : 0);
		if (!is_shared)
			close(memory);
		sleep_ms(interval_ms);
	}
}

int main(int argc, char *argv[])
{
	const int count = argc > 2 ? atoi(argv[1]) : 0, interval_ms = argc > 2 ? atoi(argv[2]) : 0;
	int connection;

	if (count <= 0 || interval_ms <= 0 || (argc > 3 && strcmp(argv[3], "shared")) ||
	    (argc > 3 && count >= MEMORY / SLICE))
		error(1, 0, "usage: first_values COUNT INTERVAL_MS [shared]");
	connection = connect_dartd();
	register_all(connection, count, interval_ms, argc > 3);
	sleep_ms(interval_ms / 2);
	close(connection);
	return 0;
}
