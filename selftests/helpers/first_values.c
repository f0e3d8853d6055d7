// SPDX-License-Identifier: GPL-2.0-only
/*
 * first_values COUNT INTERVAL_MS: registers the slices first-0 and so on, one each interval, in
 * memory of its own.  Each shows asked_ns, CLOCK_MONOTONIC just before its registration.  Prints a
 * line with the same as JSON for each, and replied_ns, after the reply of dartd.  Ends half an
 * interval after the last one, and all slices with it.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/clock.h>
#include <libdart/registration/client.h>

#define MEMORY 4096

static void sleep_ms(uint64_t ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static json_t *make_request(const char *name)
{
	json_t *request = json_pack("{s:s, s:s, s:{s:s, s:i, s:[{s:s, s:i, s:i, s:s, s:s}]}}",
				    "request", "new-slice", "name", name, "schema", "name", "first",
				    "length", 64, "fields", "name", "asked_ns", "offset", 0, "width",
				    8, "kind", "gauge", "unit", "ns");

	if (!request)
		error(1, ENOMEM, "request");
	return request;
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

static void register_slice(struct dart_registration_client *client, int number)
{
	struct dart_error problem;
	json_t *request, *reply;
	volatile uint64_t *value;
	char name[32];
	int memory, proof;

	snprintf(name, sizeof(name), "first-%d", number);
	value = make_memory(&memory);
	request = make_request(name);
	*value = dart_clock__ns(CLOCK_MONOTONIC);
	if (dart_registration_client__ask(client, request, memory, &reply, &proof, &problem))
		error(1, 0, "%s: %s", name, problem.text);
	printf("{\"entry\": \"%s\", \"asked_ns\": %llu, \"replied_ns\": %llu}\n", name,
	       (unsigned long long)*value,
	       (unsigned long long)dart_clock__ns(CLOCK_MONOTONIC));
	json_decref(request);
	json_decref(reply);
	close(memory);
}

int main(int argc, char *argv[])
{
	const int count = argc > 2 ? atoi(argv[1]) : 0, interval_ms = argc > 2 ? atoi(argv[2]) : 0;
	struct dart_registration_client client;
	struct dart_error problem;

	if (count <= 0 || interval_ms <= 0)
		error(1, 0, "usage: first_values COUNT INTERVAL_MS");
	if (dart_registration_client__open(&client, DART_REGISTRATION_SOCKET, &problem))
		error(1, 0, "%s", problem.text);
	for (int i = 0; i < count; i++) {
		register_slice(&client, i);
		sleep_ms(interval_ms);
	}
	sleep_ms(interval_ms / 2);
	dart_registration_client__close(&client);
	return 0;
}
