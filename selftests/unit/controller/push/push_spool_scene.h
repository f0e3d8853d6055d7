/* SPDX-License-Identifier: GPL-2.0-only */
/* A queue of messages with a spool. */
#ifndef PUSH_SPOOL_SCENE_H
#define PUSH_SPOOL_SCENE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/controller/push/formats/formats.h"
#include "tools/controller/push/queue/backlog.h"
#include "tools/controller/push/queue/record.h"

#define BOUND (4ULL << 20)

static char directory[] = "/tmp/push-spool-XXXXXX";

static inline struct spool *open_spool(uint64_t bound)
{
	struct dart_error error;
	struct spool *spool;

	if (spool__open(directory, bound, false, &spool, &error))
		fail_msg("%s", error.text);
	return spool;
}

/* Its body is @number, @length times or more. */
static inline struct message *make(uint32_t number, size_t length)
{
	struct message *message;
	uint8_t *body = malloc(length + 4);

	memset(body, number, length + 4);
	memcpy(body, &number, 4);
	message = message__new(&format_influx, number, body, length + 4);
	free(body);
	assert_non_null(message);
	return message;
}

static inline int add(struct spool *spool, uint32_t number, size_t length)
{
	struct message *message = make(number, length);
	const int ret = spool__add(spool, message);

	free(message);
	return ret;
}

/* Sends the next message and returns its number; 0: no message. */
static inline uint32_t take(struct spool *spool)
{
	struct message *message;
	uint32_t number = 0;

	assert_int_equal(spool__read(spool, &message), 0);
	if (!message)
		return 0;
	memcpy(&number, message->body, 4);
	assert_int_equal(message->samples, number);
	assert_ptr_equal(message->format, &format_influx);
	spool__advance(spool, message);
	free(message);
	return number;
}

static inline int make_directory(void **state)
{
	strcpy(directory, "/tmp/push-spool-XXXXXX");
	return !mkdtemp(directory);
}

static inline int remove_directory(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

#define SPOOL_TEST(sentence, function) \
	TEST_FIXTURE(sentence, function, make_directory, remove_directory)

#endif /* PUSH_SPOOL_SCENE_H */
