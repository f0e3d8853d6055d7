// SPDX-License-Identifier: GPL-2.0-only
/* Bodies of requests: see message.h. */
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct message *message__with_room(const struct format *format, uint32_t samples,
					  size_t room)
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

struct message *message__new(const struct format *format, uint32_t samples, const void *body,
			     size_t length)
{
	struct message *message = message__with_room(format, samples, length);

	if (message)
		memcpy(message->body, body, length);
	return message;
}

int message__pack(const struct format *format, uint32_t samples, const void *bytes, size_t length,
		  struct message **messagep)
{
	size_t room = format->compression->bound(length);
	struct message *message = message__with_room(format, samples, room);
	struct message *small;
	int ret;

	if (!message)
		return -ENOMEM;
	ret = format->compression->pack(bytes, length, message->body, &room);
	if (ret) {
		free(message);
		return ret;
	}
	message->length = room;
	/* It may wait for long: without the room that was not needed. */
	small = realloc(message, sizeof(*message) + room);
	*messagep = small ?: message;
	return 0;
}

int message__convert(const struct message *message, struct message **converted)
{
	const struct format *format = message->format;
	struct bytes unpacked = {}, body = {};
	int ret;

	ret = format->compression->unpack(message->body, message->length, &unpacked) ?:
		      format->convert(unpacked.data, unpacked.length, &body)	     ?:
		      message__pack(format->older, message->samples, body.data, body.length,
				    converted);
	if (!ret)
		message__inherit(*converted, message);
	bytes__free(&body);
	bytes__free(&unpacked);
	return ret;
}
