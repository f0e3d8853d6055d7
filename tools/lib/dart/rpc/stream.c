// SPDX-License-Identifier: LGPL-2.1-or-later
/* Cuts the bytes of TLS into messages: see stream.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "stream.h"

struct dart_rpc_stream {
	struct dart_tls_stream *tls;
	uint32_t in_max;
	uint32_t in_used;	/* bytes that have arrived */
	uint32_t in_taken;	/* of them, by the last message that was returned */
	uint32_t out_length;	/* of the message being sent; 0: none */
	uint32_t out_sent;
	uint8_t *out;
	uint8_t in[];		/* in_max bytes, then the bytes of out */
};

int dart_rpc_stream__open(struct dart_tls_stream *tls, uint32_t in_max, uint32_t out_max,
			  struct dart_rpc_stream **result, struct dart_error *error)
{
	struct dart_rpc_stream *stream;

	stream = calloc(1, sizeof(*stream) + in_max + out_max);
	if (!stream) {
		dart_tls_stream__free(tls);
		return dart_error__no_memory(error);
	}
	stream->tls = tls;
	stream->in_max = in_max;
	stream->out = stream->in + in_max;
	*result = stream;
	return 0;
}

void dart_rpc_stream__free(struct dart_rpc_stream *stream)
{
	if (!stream)
		return;
	dart_tls_stream__free(stream->tls);
	free(stream);
}

void *dart_rpc_stream__out(struct dart_rpc_stream *stream)
{
	return stream->out_length ? NULL : stream->out;
}

void dart_rpc_stream__put(struct dart_rpc_stream *stream, size_t length)
{
	stream->out_length = length;
	stream->out_sent = 0;
}

int dart_rpc_stream__flush(struct dart_rpc_stream *stream, struct dart_error *error)
{
	ssize_t sent;

	while (stream->out_sent < stream->out_length) {
		sent = dart_tls_stream__send(stream->tls, stream->out + stream->out_sent,
					     stream->out_length - stream->out_sent, error);
		if (sent < 0)
			return sent;
		stream->out_sent += sent;
	}
	stream->out_length = 0;
	return 0;
}

bool dart_rpc_stream__waits_to_send(const struct dart_rpc_stream *stream)
{
	return dart_tls_stream__waits_to_send(stream->tls);
}

/* Bytes of the message at the beginning: 0 if not known yet, UINT32_MAX if too many. */
static uint32_t length_of_first(const struct dart_rpc_stream *stream)
{
	struct dart_rpc_header header;

	if (stream->in_used < sizeof(header))
		return 0;
	memcpy(&header, stream->in, sizeof(header));
	return dart_rpc__message_length(&header, stream->in_max) ?: UINT32_MAX;
}

int dart_rpc_stream__next(struct dart_rpc_stream *stream, const void **bytes,
			  size_t *length, struct dart_error *error)
{
	uint32_t whole;
	ssize_t got;

	stream->in_used -= stream->in_taken;
	memmove(stream->in, stream->in + stream->in_taken, stream->in_used);
	stream->in_taken = 0;
	for (;;) {
		whole = length_of_first(stream);
		if (whole == UINT32_MAX)
			return dart_error__set(
				error, EBADMSG,
				"the length of a message is not one from %zu to %u bytes",
				sizeof(struct dart_rpc_header), stream->in_max);
		if (whole && whole <= stream->in_used)
			break;
		got = dart_tls_stream__receive(stream->tls, stream->in + stream->in_used,
					       stream->in_max - stream->in_used, error);
		if (got < 0)
			return got;
		stream->in_used += got;
	}
	stream->in_taken = whole;
	*bytes = stream->in;
	*length = whole;
	return 1;
}

bool dart_rpc_stream__has_begun(const struct dart_rpc_stream *stream)
{
	return stream->in_used > stream->in_taken;
}
