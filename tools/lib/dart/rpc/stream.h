/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages of <dart/rpc.h> over TLS, one at a time in each direction.  Nothing blocks.
 * After dart_rpc_stream__open() only GnuTLS allocates memory: up to 16 KiB for a record.
 */
#ifndef DART_RPC_STREAM_H
#define DART_RPC_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#include "tls.h"

struct dart_rpc_stream;

/*
 * Takes over @tls, also on failure, which is -ENOMEM.  The peer's messages have at most
 * @in_max bytes, own ones @out_max.
 */
int dart_rpc_stream__open(struct dart_tls_stream *tls, uint32_t in_max,
			  uint32_t out_max, struct dart_rpc_stream **stream,
			  struct dart_error *error);
void dart_rpc_stream__free(struct dart_rpc_stream *stream);	/* may be NULL */

/* The room for the next message to send: NULL while one is being sent. */
void *dart_rpc_stream__out(struct dart_rpc_stream *stream);
/* The message there has so many bytes.  To be followed by dart_rpc_stream__flush(). */
void dart_rpc_stream__put(struct dart_rpc_stream *stream, size_t length);
/* Sends as much as the socket takes: returns 0 if all is sent, -EAGAIN or an error as of TLS. */
int dart_rpc_stream__flush(struct dart_rpc_stream *stream, struct dart_error *error);
/* After -EAGAIN: does it wait until the socket takes bytes, or until some arrive? */
bool dart_rpc_stream__waits_to_send(const struct dart_rpc_stream *stream);

/*
 * Returns 1 and the next message, whole but not checked, valid until the next call;
 * -EAGAIN if the rest has not arrived; -EBADMSG for one that is longer than allowed, or
 * an error of TLS.  Bytes may have arrived that the socket no longer tells of: call it
 * until it returns -EAGAIN.
 */
int dart_rpc_stream__next(struct dart_rpc_stream *stream, const void **bytes,
			  size_t *length, struct dart_error *error);
/* Has a message begun to arrive? */
bool dart_rpc_stream__has_begun(const struct dart_rpc_stream *stream);

#endif /* DART_RPC_STREAM_H */
