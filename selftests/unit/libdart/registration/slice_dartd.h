/* SPDX-License-Identifier: GPL-2.0-only */
/* A dartd that lends slices: the test plays it, one request after the other. */
#ifndef SLICE_DARTD_H
#define SLICE_DARTD_H

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <libdart/registration/descriptor.h>
#include <libdart/registration/slice.h>

#include "selftests/unit/unit.h"

#define MEMORY_MAX (1 << 20)

#define SECOND 1000 /* ms; for events that must not happen: a fifth */

struct fixture {
	char directory[64]; /* may be removed */
	char path[80];
	int listening;
	struct dart_slices *slices;
	json_t *schema;
	/* Members of the last request; -1: missing. */
	char request[32];
	json_int_t memory, offset;
};

static void listen_at(struct fixture *fixture)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, fixture->path);
	fixture->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fixture->listening, (void *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fixture->listening, 8), 0);
	/* As dartd does when it listens. */
	assert_int_equal(chmod(fixture->path, 0600), 0);
}

static void stop_listening(struct fixture *fixture)
{
	close(fixture->listening);
	fixture->listening = -1;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct dart_error error;

	strcpy(fixture->directory, "/tmp/dart-slice-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	strcat(fixture->directory, "/a");
	snprintf(fixture->path, sizeof(fixture->path), "%s/b/socket", fixture->directory);
	fixture->listening = -1;
	fixture->schema = json_pack("{s:s, s:i, s:[{s:s, s:i, s:i, s:s}]}", "name", "work",
				    "length", 16, "fields", "name", "done", "offset", 0, "width", 8,
				    "kind", "counter");
	assert_int_equal(dart_slices__new(&fixture->slices, fixture->path, &error), 0);
	*state = fixture;
	return 0;
}

static void make_directories(struct fixture *fixture)
{
	char directory[80];

	assert_int_equal(mkdir(fixture->directory, 0700), 0);
	snprintf(directory, sizeof(directory), "%s/b", fixture->directory);
	assert_int_equal(mkdir(directory, 0700), 0);
}

static void remove_directories(struct fixture *fixture)
{
	char directory[80];

	unlink(fixture->path);
	snprintf(directory, sizeof(directory), "%s/b", fixture->directory);
	rmdir(directory);
	rmdir(fixture->directory);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	dart_slices__free(fixture->slices);
	if (fixture->listening >= 0)
		stop_listening(fixture);
	remove_directories(fixture);
	*strrchr(fixture->directory, '/') = '\0';
	assert_int_equal(rmdir(fixture->directory), 0);
	json_decref(fixture->schema);
	free(fixture);
	return 0;
}

static struct dart_slice *add(struct fixture *fixture, const char *name)
{
	struct dart_slice *slice;
	struct dart_error error;

	assert_int_equal(dart_slices__add(fixture->slices, name, fixture->schema, &slice, &error),
			 0);
	return slice;
}

/* Processes one round of events; false if none comes within @ms. */
static bool process(struct fixture *fixture, int ms)
{
	struct pollfd event = {
		.fd = dart_slices__fd(fixture->slices),
		.events = POLLIN,
	};
	struct dart_error error;

	if (!poll(&event, 1, ms))
		return false;
	assert_true(dart_slices__process(fixture->slices, &error) >= 0);
	return true;
}

/* Processes events until @fd is readable. */
static void process_until(struct fixture *fixture, int fd)
{
	struct pollfd event = { .fd = fd, .events = POLLIN };

	while (!poll(&event, 1, 0))
		assert_true(process(fixture, 20 * SECOND));
}

static int accept_client(struct fixture *fixture)
{
	int client;

	process_until(fixture, fixture->listening);
	client = accept(fixture->listening, NULL, NULL);
	assert_true(client >= 0);
	return client;
}

/* Reads a request for @name; returns the descriptor that came with it, or -1. */
static int receive(struct fixture *fixture, int client, const char *name)
{
	const char *kind, *received;
	char line[4096];
	json_t *request;
	ssize_t length;
	int fd;

	process_until(fixture, client);
	length = dart_descriptor__receive(client, line, sizeof(line), 0, &fd, NULL);
	assert_true(length > 0 && line[length - 1] == '\n');
	request = json_loadb(line, length, 0, NULL);
	fixture->memory = fixture->offset = -1;
	assert_int_equal(json_unpack(request, "{s:s, s:s, s?I, s?I}", "request", &kind, "name",
				     &received, "memory", &fixture->memory, "offset",
				     &fixture->offset),
			 0);
	assert_string_equal(received, name);
	snprintf(fixture->request, sizeof(fixture->request), "%s", kind);
	json_decref(request);
	return fd;
}

static void reply(struct fixture *fixture, int client, const char *line, int fd)
{
	assert_int_equal(dart_descriptor__send(client, line, strlen(line), 0, fd), strlen(line));
	assert_true(process(fixture, 20 * SECOND));
}

#define OK "{\"ok\": true, \"entry\": {}}\n"

static int new_memory(void)
{
	int fd = memfd_create("slice", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, MEMORY_MAX), 0);
	return fd;
}

static void assert_same_file(int fd, int other)
{
	struct stat status, expected;

	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(fstat(other, &expected), 0);
	assert_int_equal(status.st_ino, expected.st_ino);
}

static uint64_t word_at(int memory, off_t offset)
{
	uint64_t word;

	assert_int_equal(pread(memory, &word, sizeof(word), offset), sizeof(word));
	return word;
}

#endif /* SLICE_DARTD_H */
