// SPDX-License-Identifier: GPL-2.0-only
/* Bodies of requests: see message.h. */
#include "message.h"

#include <errno.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

#include "remote_write.h"

/* More than an encoder puts into one. */
#define UNCOMPRESSED_MAX (64U << 20)

static struct message *message__with_room(enum message_format format,
					  uint32_t samples, size_t room)
{
	struct message *message = malloc(sizeof(*message) + room);

	if (!message)
		return NULL;
	*message = (struct message){
		.format = format,
		.shards = MESSAGE_SHARDS_ALL,
		.samples = samples,
		.length = room,
	};
	return message;
}

void message__inherit(struct message *message, const struct message *from)
{
	message->shards = from->shards;
	message->is_apart = from->is_apart;
	message->is_piece = from->is_piece;
	message->made_ns = from->made_ns;
}

struct message *message__new(enum message_format format, uint32_t samples,
			     const void *body, size_t length)
{
	struct message *message = message__with_room(format, samples, length);

	if (message)
		memcpy(message->body, body, length);
	return message;
}

int message__compress(enum message_format format, uint32_t samples,
		      const void *bytes, size_t length,
		      struct message **messagep)
{
	size_t room = snappy_max_compressed_length(length);
	struct message *message = message__with_room(format, samples, room);
	struct message *small;

	if (!message)
		return -ENOMEM;
	/* It fails only without room. */
	snappy_compress(bytes, length, (char *)message->body, &room);
	message->length = room;
	/* It may wait for long: without the room that was not needed. */
	small = realloc(message, sizeof(*message) + room);
	*messagep = small ?: message;
	return 0;
}

int message__convert(const struct message *message, struct message **converted)
{
	const char *body = (const char *)message->body;
	struct bytes result = {};
	size_t length;
	char *bytes;
	int ret;

	if (snappy_uncompressed_length(body, message->length, &length) ||
	    length > UNCOMPRESSED_MAX)
		return -EINVAL;
	bytes = malloc(length ?: 1);
	if (!bytes)
		return -ENOMEM;
	ret = snappy_uncompress(body, message->length, bytes, &length) ?
		      -EINVAL :
		      remote_write__convert(bytes, length, &result);
	if (!ret)
		ret = message__compress(MESSAGE_REMOTE_WRITE_1,
					message->samples, result.data,
					result.length, converted);
	if (!ret)
		message__inherit(*converted, message);
	bytes__free(&result);
	free(bytes);
	return ret;
}
