// SPDX-License-Identifier: GPL-2.0-only
/*
 * table_entries insert TABLE FIRST COUNT VERSION
 * table_entries remove TABLE FIRST COUNT
 * table_entries stream TABLE FIRST BATCH VERSION PID
 * table_entries have TABLE FIRST COUNT VERSION
 * table_entries lack TABLE FIRST COUNT
 *
 * The key and the value of entry n of VERSION are made of these numbers. insert and remove
 * print the sum of the changes that dartd made, as JSON. stream inserts batches and, after
 * some of them, kills dartd (process PID) at a random time; it prints how many entries dartd
 * acknowledged. have and lack look the entries up in the memory of the agent, print the
 * number of wrong ones, and fail if any is wrong.
 */
#include <errno.h>
#include <error.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>
#include <jansson.h>
#include <libdart/registration/descriptor.h>
#include <libdart/tea/tea_lookup.h>

#include "selftests/lib/agent_socket.h"
#include "selftests/lib/table_entry.h"

struct table {
	int socket;
	const char *name;
	struct dart_tea_geometry geometry;
	uint32_t epoch;
	void *memory;
};

/* The reply to a sent request, NULL if dartd disconnected. */
static json_t *receive(int socket, int *fd)
{
	char line[8192];
	size_t length = 0;
	json_t *reply;
	ssize_t count;

	*fd = -1;
	do {
		if (!length)
			count = dart_descriptor__receive(socket, line, sizeof(line), 0, fd, NULL);
		else
			count = recv(socket, line + length, sizeof(line) - length, 0);
		if (count <= 0)
			return NULL;
		length += count;
	} while (line[length - 1] != '\n' && length < sizeof(line));
	reply = json_loadb(line, length, 0, NULL);
	if (!json_is_true(json_object_get(reply, "ok")))
		error(1, 0, "%.*s", (int)length, line);
	return reply;
}

static void table__open(struct table *table, const char *name)
{
	struct dart_tea_geometry *geometry = &table->geometry;
	struct stat status;
	char request[256];
	json_t *reply;
	int fd;

	table->name = name;
	table->socket = agent_socket__connect();
	snprintf(request, sizeof(request),
		 "{\"request\": \"table-open\", \"name\": \"%s\"}\n", name);
	if (send(table->socket, request, strlen(request), MSG_NOSIGNAL) < 0)
		error(1, errno, "cannot send");
	reply = receive(table->socket, &fd);
	if (!reply || fd < 0 ||
	    json_unpack(reply, "{s:{s:i, s:i, s:i, s:i, s:i, s:i}}", "table", "rows_log2",
			&geometry->rows_log2, "cells", &geometry->cells, "key_length",
			&geometry->key_length, "value_length", &geometry->value_length,
			"packet_length", &geometry->packet_length, "epoch", &table->epoch))
		error(1, 0, "no table");
	if (fstat(fd, &status) || (uint64_t)status.st_size < dart_tea_geometry__length(geometry))
		error(1, errno, "the memory is too small");
	table->memory = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (table->memory == MAP_FAILED)
		error(1, errno, "cannot map the memory");
	if (mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
		error(1, 0, "the descriptor can be mapped for writing");
	json_decref(reply);
	close(fd);
}

/* Sends the batch in a memfd with the request; NULL if dartd disconnected. */
static json_t *change(const struct table *table, uint8_t operation,
		      uint64_t first, uint64_t count, uint64_t version)
{
	const size_t key_length = table->geometry.key_length;
	const size_t length = 1 + key_length + table->geometry.value_length;
	int fd = memfd_create("changes", MFD_CLOEXEC), none;
	uint8_t *bytes = malloc(count * length), *record = bytes;
	char request[256];
	json_t *reply;
	uint64_t i;

	if (!bytes || fd < 0)
		error(1, errno, "cannot make a batch");
	for (i = 0; i < count; i++, record += length) {
		*record = operation;
		table_entry__make(&table->geometry, first + i, version,
				  record + 1, record + 1 + key_length);
	}
	if (write(fd, bytes, count * length) != (ssize_t)(count * length))
		error(1, errno, "cannot write a batch");
	snprintf(request, sizeof(request),
		 "{\"request\": \"table-change\", \"name\": \"%s\", \"count\": %" PRIu64 "}\n",
		 table->name, count);
	if (dart_descriptor__send(table->socket, request, strlen(request), 0, fd) < 0)
		reply = NULL;
	else
		reply = receive(table->socket, &none);
	close(fd);
	free(bytes);
	return reply;
}

static void add(json_t *sums, const json_t *reply)
{
	const char *name;
	json_t *number;

	json_object_foreach(json_object_get(reply, "changes"), name, number)
		json_object_set_new(sums, name,
				    json_integer(json_integer_value(number) +
						 json_integer_value(json_object_get(sums, name))));
}

static void change_all(const struct table *table, uint8_t operation,
		       uint64_t first, uint64_t count, uint64_t version)
{
	json_t *sums = json_object(), *reply;
	uint64_t some;

	for (; count; count -= some, first += some) {
		some = count < DART_REGISTRATION_TABLE_CHANGES_MAX ?
			       count :
			       DART_REGISTRATION_TABLE_CHANGES_MAX;
		reply = change(table, operation, first, some, version);
		if (!reply)
			error(1, 0, "dartd has disconnected");
		add(sums, reply);
		json_decref(reply);
	}
	json_dumpf(sums, stdout, JSON_COMPACT);
	putchar('\n');
}

#define BATCHES_BEFORE	10
#define KILL_WITHIN_NS	5000000

static void kill_soon(pid_t pid)
{
	struct timespec time = { };
	uint32_t random;

	if (fork())
		return;
	if (getrandom(&random, sizeof(random), 0) == sizeof(random))
		time.tv_nsec = random % KILL_WITHIN_NS;
	nanosleep(&time, NULL);
	_exit(kill(pid, SIGKILL));
}

static void stream(const struct table *table, uint64_t first, uint64_t batch,
		   uint64_t version, pid_t pid)
{
	uint64_t acknowledged = 0;
	json_t *reply;

	while ((reply = change(table, DART_REGISTRATION_TABLE_INSERT, first + acknowledged, batch,
			       version))) {
		if (json_integer_value(json_object_get(json_object_get(reply, "changes"), "full")))
			error(1, 0, "the table is full");
		acknowledged += batch;
		if (acknowledged == BATCHES_BEFORE * batch)
			kill_soon(pid);
		json_decref(reply);
	}
	printf("%" PRIu64 "\n", acknowledged);
}

static int look_up(const struct table *table, uint64_t first, uint64_t count,
		   bool is_there, uint64_t version)
{
	uint8_t key[DART_TEA_KEY_MAX], value[DART_TEA_VALUE_MAX];
	uint8_t found[DART_TEA_VALUE_MAX];
	struct dart_tea_hash *hash;
	uint64_t i, wrong = 0;
	int ret;

	if (dart_tea_hash__new(&table->geometry, &hash))
		error(1, 0, "out of memory");
	for (i = 0; i < count; i++) {
		table_entry__make(&table->geometry, first + i, version, key, value);
		ret = dart_tea_lookup__memory(hash, table->epoch, table->memory, key, found);
		if (is_there)
			wrong += ret || memcmp(found, value, table->geometry.value_length);
		else
			wrong += ret != -ENOENT;
	}
	dart_tea_hash__free(hash);
	printf("%" PRIu64 " of %" PRIu64 " are wrong\n", wrong, count);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	uint64_t first, count, version;
	struct table table;
	const char *verb;

	if (argc < 5)
		error(2, 0, "usage: table_entries VERB TABLE FIRST COUNT [VERSION]");
	verb = argv[1];
	first = strtoull(argv[3], NULL, 0);
	count = strtoull(argv[4], NULL, 0);
	version = argc > 5 ? strtoull(argv[5], NULL, 0) : 0;
	table__open(&table, argv[2]);
	if (!strcmp(verb, "insert"))
		change_all(&table, DART_REGISTRATION_TABLE_INSERT, first, count, version);
	else if (!strcmp(verb, "remove"))
		change_all(&table, DART_REGISTRATION_TABLE_REMOVE, first, count, 0);
	else if (!strcmp(verb, "stream") && argc == 7)
		stream(&table, first, count, version, atoi(argv[6]));
	else if (!strcmp(verb, "have") || !strcmp(verb, "lack"))
		return look_up(&table, first, count, *verb == 'h', version);
	else
		error(2, 0, "no such verb: %s", verb);
	return EXIT_SUCCESS;
}
