// SPDX-License-Identifier: GPL-2.0-only
/* Receives the digests of simple_switch: see digests.h. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "digests.h"
#include "publisher.h"

#define TOPIC	"LEA|"

struct header {
	char topic[4];
	uint64_t device;
	uint32_t context;
	uint32_t list;
	uint64_t buffer;
	uint32_t samples;
} __attribute__((packed));

_Static_assert(sizeof(struct header) == 32, "the header of a digest");

struct switch_digests {
	struct publisher *publisher;
	int32_t list;
	uint32_t sample_length;
	/* buffers to acknowledge, from @unacknowledged up to but without @end */
	uint64_t unacknowledged;
	uint64_t end;
};

int switch_digests__open(const struct switch_digests_settings *settings,
			 struct switch_digests **result, struct dart_error *error)
{
	struct switch_digests *digests;
	int ret;

	if (!settings->sample_length ||
	    settings->sample_length > PUBLISHER_MESSAGE_MAX - sizeof(struct header))
		return dart_error__set(error, EINVAL, "a digest cannot have %u bytes",
				       settings->sample_length);
	digests = calloc(1, sizeof(*digests));
	if (!digests)
		return dart_error__no_memory(error);
	digests->list = settings->list;
	digests->sample_length = settings->sample_length;
	ret = publisher__open(settings->address, &digests->publisher, error);
	if (ret) {
		free(digests);
		return ret;
	}
	*result = digests;
	return 0;
}

void switch_digests__close(struct switch_digests *digests)
{
	if (!digests)
		return;
	publisher__close(digests->publisher);
	free(digests);
}

int switch_digests__descriptor(const struct switch_digests *digests)
{
	return publisher__descriptor(digests->publisher);
}

/* Buffer numbers only go up, but a restarted switch counts from 0, and a hostile one sends any. */
static void note(struct switch_digests *digests, uint64_t buffer)
{
	const uint64_t first = buffer < SWITCH_DIGESTS_LOST_MAX ?
				       0 : buffer - SWITCH_DIGESTS_LOST_MAX;

	if (buffer < digests->end)
		digests->unacknowledged = 0;
	if (digests->unacknowledged < first)
		digests->unacknowledged = first;
	digests->end = buffer + 1;
}

/* Takes the @length bytes.  Returns false if they are not a message of the list. */
static bool take(struct switch_digests *digests, const uint8_t *message,
		 uint32_t length, uint32_t *count)
{
	struct header header;
	uint64_t buffer;

	if (length < sizeof(header))
		return false;
	memcpy(&header, message, sizeof(header));
	*count = le32toh(header.samples);
	buffer = le64toh(header.buffer);
	if (memcmp(header.topic, TOPIC, sizeof(header.topic)) || header.context ||
	    (int32_t)le32toh(header.list) != digests->list || !*count || buffer > INT64_MAX - 1 ||
	    (uint64_t)*count * digests->sample_length != length - sizeof(header))
		return false;
	note(digests, buffer);
	return true;
}

int switch_digests__next(struct switch_digests *digests, const void **samples,
			 uint32_t *count, struct dart_error *error)
{
	const uint8_t *message;
	uint32_t length;
	int ret;

	do {
		ret = publisher__next(digests->publisher, &message, &length, error);
		if (ret <= 0)
			return ret;
	} while (!take(digests, message, length, count));
	*samples = message + sizeof(struct header);
	return 1;
}

int switch_digests__acknowledge(struct switch_digests *digests, struct thrift *thrift,
				struct dart_error *error)
{
	int ret;

	for (; digests->unacknowledged < digests->end; digests->unacknowledged++) {
		thrift__begin(thrift, SWITCH_STANDARD, "bm_learning_ack_buffer");
		thrift__put_i32(thrift, 1, 0);
		thrift__put_i32(thrift, 2, digests->list);
		thrift__put_i64(thrift, 3, digests->unacknowledged);
		ret = thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP),
				  "the acknowledgment of a digest", error);
		if (ret)
			return ret;
	}
	return 0;
}
