// SPDX-License-Identifier: GPL-2.0-only
/*
 * nat_changes TABLE KIND COUNT SEED RATE FILE: changes entries of the agent's table, RATE in a
 * second, until FILE exists: three in four are entries of nat_entry.h with this seed, whose
 * values change between versions 0 and 1; the others are entries of the next seed, which come
 * and go.  Prints as JSON how many changes of each kind the agent carried out, and the time.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/registration/client.h>

#include "selftests/lib/nat_entry.h"

#define PERIOD_MS 20 /* between two requests */
#define BATCH_MAX 1000
#define RECORD (1 + NAT_KEY + NAT_VALUE)

struct changes {
	const char *table;
	bool is_random;
	uint64_t count, seed;
	uint32_t batch; /* changes of one request */
	uint8_t *versions; /* of each entry */
	bool *is_there; /* for each entry that comes and goes */
	struct dart_random random;
	struct dart_registration_client client;
	int fd;
	uint64_t changed, inserted, removed;
};

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "nat_changes: %s\n", what);
	exit(EXIT_FAILURE);
}

/* Writes change @number to @record. */
static void make_change(struct changes *changes, uint32_t number, uint8_t *record)
{
	const uint64_t i = dart_random__below(&changes->random, changes->count);
	const bool comes_and_goes = number % 4 == 3;
	struct nat_entry entry;

	if (!comes_and_goes)
		changes->versions[i] ^= 1;
	entry = nat_entry__make(changes->is_random, changes->seed + comes_and_goes, i,
				changes->versions[i]);
	record[0] = comes_and_goes && changes->is_there[i] ? DART_REGISTRATION_TABLE_REMOVE :
							     DART_REGISTRATION_TABLE_INSERT;
	if (comes_and_goes)
		changes->is_there[i] = !changes->is_there[i];
	memcpy(record + 1, entry.key, NAT_KEY);
	memcpy(record + 1 + NAT_KEY, entry.value, NAT_VALUE);
}

static void send_batch(struct changes *changes)
{
	uint8_t records[BATCH_MAX * RECORD];
	json_int_t changed, inserted, removed, missing, foreign, full;
	json_t *request, *reply;
	struct dart_error error;
	uint32_t i;

	for (i = 0; i < changes->batch; i++)
		make_change(changes, i, records + i * RECORD);
	if (pwrite(changes->fd, records, changes->batch * RECORD, 0) !=
	    (ssize_t)changes->batch * RECORD)
		fail("cannot write");
	request = json_pack("{s:s, s:s, s:i}", "request", "table-change", "name", changes->table,
			    "count", (int)changes->batch);
	if (dart_registration_client__ask(&changes->client, request, changes->fd, &reply, NULL,
					  &error))
		fail(error.text);
	if (json_unpack(reply, "{s:{s:I, s:I, s:I, s:I, s:I, s:I}}", "changes", "changed", &changed,
			"inserted", &inserted, "removed", &removed, "missing", &missing, "foreign",
			&foreign, "full", &full) ||
	    missing || foreign || full)
		fail("a change was not carried out");
	changes->changed += changed;
	changes->inserted += inserted;
	changes->removed += removed;
	json_decref(request);
	json_decref(reply);
}

static int changes__init(struct changes *changes, char *argv[])
{
	struct dart_error error;

	*changes = (struct changes){
		.table = argv[1],
		.count = strtoull(argv[3], NULL, 10),
		.seed = strtoull(argv[4], NULL, 10),
		.batch = strtoul(argv[5], NULL, 10) * PERIOD_MS / 1000,
		.random = dart_random__of(1),
		.fd = memfd_create("changes", MFD_CLOEXEC),
	};
	changes->versions = calloc(changes->count, 1);
	changes->is_there = calloc(changes->count, 1);
	if (!changes->batch || changes->batch > BATCH_MAX ||
	    nat_entry__find_kind(argv[2], &changes->is_random) ||
	    !changes->versions || !changes->is_there || changes->fd < 0)
		return -1;
	if (dart_registration_client__open(&changes->client, DART_REGISTRATION_SOCKET, &error))
		fail(error.text);
	return 0;
}

static double seconds(const struct timespec *begin, const struct timespec *end)
{
	return end->tv_sec - begin->tv_sec + (end->tv_nsec - begin->tv_nsec) / 1e9;
}

int main(int argc, char *argv[])
{
	struct timespec begin, next, end;
	struct changes changes;

	if (argc != 7 || changes__init(&changes, argv)) {
		fputs("usage: nat_changes TABLE KIND COUNT SEED RATE FILE\n", stderr);
		return EXIT_FAILURE;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	next = begin;
	do {
		send_batch(&changes);
		next.tv_nsec += PERIOD_MS * 1000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	} while (access(argv[6], F_OK));
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("{\"changed\": %" PRIu64 ", \"inserted\": %" PRIu64 ", \"removed\": %" PRIu64
	       ", \"seconds\": %.1f}\n",
	       changes.changed, changes.inserted, changes.removed, seconds(&begin, &end));
	dart_registration_client__close(&changes.client);
	return EXIT_SUCCESS;
}
