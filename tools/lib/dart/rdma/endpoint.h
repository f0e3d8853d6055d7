/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The controller's end of one connection to an agent: RDMA CM, one RC queue
 * pair, READs into one registered buffer.  Nothing blocks: the caller waits for
 * the two descriptors in its event loop and calls the matching function.
 */
#ifndef DART_ENDPOINT_H
#define DART_ENDPOINT_H

#include <dart/control.h>
#include <libdart/error.h>

#include "read_plan.h"

struct dart_endpoint;

enum dart_endpoint_event {
	DART_ENDPOINT_NOTHING = 0,	/* goes on by itself */
	DART_ENDPOINT_CONNECTED,	/* dart_endpoint__accept() is valid */
	DART_ENDPOINT_FAILED,		/* not reachable, rejected */
	DART_ENDPOINT_DISCONNECTED,	/* the agent has gone or hung up */
};

/*
 * Starts to connect to @host (name or address, IPv4 or IPv6) at @port.  Returns
 * 0 or -errno, and a sentence in @error.  A numeric address never blocks; a name
 * is looked up here and now, which may: look it up beforehand if that matters.
 */
int dart_endpoint__connect(const char *host, uint16_t port,
			   struct dart_endpoint **endpoint,
			   struct dart_error *error);
/*
 * The same, with the @length bytes at @request as private data, at most
 * DART_ENDPOINT_REQUEST_MAX; what comes back is dart_endpoint__answer(), and the
 * caller's to check.
 */
#define DART_ENDPOINT_REQUEST_MAX 56
int dart_endpoint__connect_with(const char *host, uint16_t port,
				const void *request, size_t length,
				struct dart_endpoint **endpoint,
				struct dart_error *error);
/* Hangs up, whatever the state.  NULL is fine. */
void dart_endpoint__free(struct dart_endpoint *endpoint);

/*
 * Readable when dart_endpoint__on_connection() has something to do.  After
 * FAILED or DISCONNECTED, with a sentence in @error, the endpoint is only good
 * for dart_endpoint__free().  How long to wait for CONNECTED is the caller's
 * business: an absent host may take a minute to be called absent.
 */
int dart_endpoint__connection_fd(const struct dart_endpoint *endpoint);
enum dart_endpoint_event
dart_endpoint__on_connection(struct dart_endpoint *endpoint,
			     struct dart_error *error);

/*
 * Copies the first @size bytes of the private data of the acceptance to @answer,
 * a struct that begins with a little-endian magic number (8 bytes) and a version
 * (4).  Returns 0; -EBADMSG if they are too few or the magic number is not
 * @magic, -EPROTONOSUPPORT if the version is not @version, with a sentence in
 * @error.  Anything else in them may be hostile.
 */
int dart_endpoint__answer(const struct dart_endpoint *endpoint, uint64_t magic,
			  uint32_t version, void *answer, size_t size,
			  struct dart_error *error);

/* What the agent said in the handshake of dart_endpoint__connect(), in the machine's byte order. */
struct dart_endpoint_accept {
	uint64_t address;
	uint32_t rkey;
	uint32_t length;	/* at most DART_CONTROL_LENGTH_MAX */
	uint32_t used;		/* at least a header, at most @length */
};
const struct dart_endpoint_accept *
dart_endpoint__accept(const struct dart_endpoint *endpoint);

/*
 * Makes room for @size bytes to READ into; valid until the next call.  Not
 * while READs are in flight (-EBUSY) nor before CONNECTED (-ENOTCONN).
 * Returns 0, -ENOMEM or what ibv_reg_mr() says.  Nobody else has a key to
 * these bytes: what has landed there stays as it is until the next READ.
 */
int dart_endpoint__reserve(struct dart_endpoint *endpoint, size_t size,
			   void **landing);

/*
 * Posts @count READs, executed in this order, and asks for one completion
 * behind the last (RC: then all have landed).  One batch at a time: -EBUSY.
 * -EINVAL if a READ would land outside the reserved bytes or @count is 0 or
 * more than DART_ENDPOINT_READS_MAX.  @reads stays the caller's and must not
 * change until the batch has completed.  READs that the queue pair has no room
 * for, or that are longer than the device can do at once, are posted piecemeal
 * by dart_endpoint__on_completion().
 */
#define DART_ENDPOINT_READS_MAX 16384
int dart_endpoint__read(struct dart_endpoint *endpoint,
			const struct dart_read *reads, uint32_t count);

/*
 * Readable when a batch has completed; -1 before CONNECTED.
 * dart_endpoint__on_completion() returns 1 if it has, 0 if not yet, -errno if
 * it failed (-EACCES: remote access error, -ETIMEDOUT: no answer, -EIO), with
 * a sentence in @error; after an error the endpoint is only good for
 * dart_endpoint__free().
 */
int dart_endpoint__completion_fd(const struct dart_endpoint *endpoint);
int dart_endpoint__on_completion(struct dart_endpoint *endpoint,
				 struct dart_error *error);

#endif /* DART_ENDPOINT_H */
