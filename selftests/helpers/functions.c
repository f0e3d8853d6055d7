// SPDX-License-Identifier: GPL-2.0-only
/*
 * functions COUNT PER_SECOND: starts PER_SECOND functions a second, COUNT in all, each a process that
 * lives 1 to 500 ms.  Function N registers the slice function-N: if N is even, in memory that dartd
 * lends, otherwise in memory that the process creates.  It counts its calls there, and ends without
 * a message to dartd.  Its last count of calls is 1,000,000 + N.
 *
 * Waits for the end of all, and fails if one of them failed.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/registration/client.h>

#define MEMORY 4096
#define LIFE_MAX_MS 500
/* While a function lives. */
#define CALLS 20

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL);
}

static int own_memory(void)
{
	int fd = memfd_create("function", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, MEMORY))
		error(1, errno, "memory");
	return fd;
}

/* dartd maps it for reading; the mapping of this process exists already. */
static void seal(int fd)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE))
		error(1, errno, "seals");
}

static volatile uint64_t *map(int fd)
{
	void *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		error(1, errno, "mapping");
	return memory;
}

/* Returns the descriptor that came with the reply: of the memory, or the proof of its use. */
static int register_function(int number, int memory)
{
	struct dart_registration_client client;
	struct dart_error problem;
	json_t *request, *reply;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "function-%d", number);
	request = json_pack("{s:s, s:s, s:{s:s, s:i, s:[{s:s, s:i, s:i, s:s}]}}", "request",
			    "new-slice", "name", name, "schema", "name", "function", "length", 64,
			    "fields", "name", "calls", "offset", 0, "width", 8, "kind", "counter");
	if (!request ||
	    dart_registration_client__open(&client, DART_REGISTRATION_SOCKET, &problem) ||
	    dart_registration_client__ask(&client, request, memory, &reply, &fd, &problem))
		error(1, 0, "%s: %s", name, request ? problem.text : "out of memory");
	json_decref(request);
	json_decref(reply);
	dart_registration_client__close(&client);
	return fd;
}

static void live(int number, uint64_t life_ns)
{
	const int own = number % 2 ? own_memory() : -1;
	volatile uint64_t *calls = own >= 0 ? map(own) : NULL;
	int fd;

	if (own >= 0)
		seal(own);
	fd = register_function(number, own);
	if (!calls)
		calls = map(fd);
	for (int i = 0; i < CALLS; i++) {
		++*calls;
		sleep_ns(life_ns / CALLS);
	}
	*calls = 1000000 + number;
	_exit(0);
}

int main(int argc, char *argv[])
{
	const int count = argc > 2 ? atoi(argv[1]) : 0, per_second = argc > 2 ? atoi(argv[2]) : 0;
	int status, failed = 0;
	uint64_t life_ns;

	if (count <= 0 || per_second <= 0)
		error(1, 0, "usage: functions COUNT PER_SECOND");
	srandom(1);
	for (int i = 0; i < count; i++) {
		life_ns = (1 + random() % LIFE_MAX_MS) * 1000000ULL;
		switch (fork()) {
		case -1:
			error(1, errno, "fork");
			break;
		case 0:
			live(i, life_ns);
		}
		sleep_ns(1000000000 / per_second);
	}
	while (wait(&status) >= 0)
		failed += !!status;
	printf("%d of %d functions failed\n", failed, count);
	return failed > 0;
}
