/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The controller's end of a connection to an agent: RDMA CM, one RC queue pair,
 * READs into registered memory.  Nothing blocks: the caller polls the two
 * descriptors in its event loop and calls the matching function.  Many endpoints
 * share them: see endpoint_set.h.
 */
#ifndef DART_ENDPOINT_H
#define DART_ENDPOINT_H

#include <dart/control.h>
#include <libdart/error.h>

#include "landing.h"
#include "path.h"
#include "read_plan.h"

struct dart_endpoint;

enum dart_endpoint_event {
	DART_ENDPOINT_NOTHING = 0,	/* still in progress */
	DART_ENDPOINT_CONNECTED,	/* dart_endpoint__accept() is valid */
	DART_ENDPOINT_FAILED,		/* not reachable, rejected */
	DART_ENDPOINT_DISCONNECTED,	/* by the agent, or its host failed */
};

/*
 * Starts to connect to @host (name or address, IPv4 or IPv6) at @port.  Returns
 * 0, or sets @error and returns -errno.  A numeric address never blocks.  A
 * name is resolved first, which may block: use dart_address__resolve()
 * elsewhere if that matters.
 */
int dart_endpoint__connect(const char *host, uint16_t port, struct dart_endpoint **endpoint,
			   struct dart_error *error);
/*
 * The same, with the @length bytes at @request as private data, at most
 * DART_ENDPOINT_REQUEST_MAX.  The caller checks dart_endpoint__answer().
 */
#define DART_ENDPOINT_REQUEST_MAX 56
int dart_endpoint__connect_with(const char *host, uint16_t port, const void *request, size_t length,
				struct dart_endpoint **endpoint, struct dart_error *error);
/*
 * Tells the agent how often the caller will read values, in ms, so that entries that end stay in
 * the table as long: see struct dart_control_request.  To be called directly after
 * dart_endpoint__connect(), before any event is handled.
 */
void dart_endpoint__tell_interval(struct dart_endpoint *endpoint, uint32_t interval_ms);
/* Disconnects in any state.  @endpoint may be NULL. */
void dart_endpoint__free(struct dart_endpoint *endpoint);

/*
 * Readable when dart_endpoint__on_connection() has an event to handle.  After
 * FAILED or DISCONNECTED, which set @error, the endpoint can only be freed.
 * The caller limits the time until CONNECTED: an absent host may be noticed
 * only after a minute.
 */
int dart_endpoint__connection_fd(const struct dart_endpoint *endpoint);
enum dart_endpoint_event dart_endpoint__on_connection(struct dart_endpoint *endpoint,
						      struct dart_error *error);

/*
 * Why the connection FAILED, as -errno: -EHOSTUNREACH (no address of the network, or
 * no route), -ETIMEDOUT (the host does not answer connect requests), -ECONNREFUSED
 * (no agent listens at this port), -EACCES (the agent refuses), -EPROTONOSUPPORT
 * (another version), or another.
 */
int dart_endpoint__failure(const struct dart_endpoint *endpoint);

/* The way to the agent. */
void dart_endpoint__path(const struct dart_endpoint *endpoint, struct dart_endpoint_path *path);

/*
 * Copies the first @size bytes of the acceptance's private data to @answer, a
 * struct that begins with a little-endian magic number (8 bytes) and version (4
 * bytes).  Returns 0, or sets @error and returns -EBADMSG (too short, or
 * another number than @magic) or -EPROTONOSUPPORT (another version than
 * @version).  The other members may be hostile.
 */
int dart_endpoint__answer(const struct dart_endpoint *endpoint, uint64_t magic, uint32_t version,
			  void *answer, size_t size, struct dart_error *error);

/* The answer to dart_endpoint__connect(), checked, in host byte order. */
struct dart_endpoint_accept {
	uint64_t address;
	uint32_t rkey;
	uint32_t length;	/* at most DART_CONTROL_LENGTH_MAX */
	uint32_t used;		/* at least a header, at most @length */
	/*
	 * CLOCK_REALTIME of the agent's host - that of this one, in ns, give or
	 * take the uncertainty, which is half of the handshake; an uncertainty
	 * of 0: the agent does not tell its time.
	 */
	int64_t clock_offset_ns;
	uint64_t clock_uncertainty_ns;
};
const struct dart_endpoint_accept *dart_endpoint__accept(const struct dart_endpoint *endpoint);

/*
 * Makes room for @size bytes to READ into, valid until the next call, even a call that fails.
 * Returns 0, -EBUSY while READs are in flight, -ENOTCONN before CONNECTED, -ENOMEM, or an error of
 * ibv_reg_mr().  No other host knows a key to these bytes: only the next READ changes them.  (On
 * iWARP devices the host that is READ knows a key, and can write there at any time.)
 */
int dart_endpoint__reserve(struct dart_endpoint *endpoint, size_t size, void **landing);

/*
 * Registers the @size bytes at @memory, so that READs can land there, or if @memory is NULL as
 * many, zero, of its own.  Memory of the caller stays his, who frees it after dart_landing__free()
 * or dart_endpoint__free(); so a reader elsewhere may still use it when the endpoint is gone.
 * Returns 0, -ENOTCONN before CONNECTED, -ENOMEM, or an error of ibv_reg_mr().
 */
int dart_endpoint__register(struct dart_endpoint *endpoint, void *memory,
			    size_t size, struct dart_landing **landing);
/*
 * READs land at @landing, which is one of @endpoint, from now on, instead of in another or in
 * reserved bytes.  NULL: nowhere.  Returns 0, or -EBUSY while READs are in flight.
 */
int dart_endpoint__land_at(struct dart_endpoint *endpoint, const struct dart_landing *landing);

/*
 * Posts @count READs, executed in this order, with one completion after the last (RC: then all have
 * landed).  Returns 0; -EBUSY while another batch is in flight; -EINVAL if a READ would land
 * outside the reserved bytes or @count is 0.  The caller keeps @reads unchanged until the batch has
 * completed. dart_endpoint__on_completion() posts the rest if the queue pair is too small for all,
 * or if they take more than 192 packets.
 */
int dart_endpoint__read(struct dart_endpoint *endpoint,
			const struct dart_read *reads, uint32_t count);

/*
 * The same in two steps, for a user that limits the operations in flight on all its endpoints.
 * dart_endpoint__begin() posts nothing yet.  Each dart_endpoint__post() permits so many more
 * operations of the batch: as many are posted, or less if the queue pair is full until others
 * complete.  Returns -EINVAL without a batch, or an error of ibv_post_send(), after which the
 * endpoint can only be freed.
 */
int dart_endpoint__begin(struct dart_endpoint *endpoint,
			 const struct dart_read *reads, uint32_t count);
int dart_endpoint__post(struct dart_endpoint *endpoint, uint32_t operations);
/*
 * How many have completed since the last call, as dart_endpoint__on_completion() found: operations
 * of a batch complete in runs of eight, or fewer if fewer were permitted; the rest of a batch, once
 * it is permitted, at once.
 */
uint32_t dart_endpoint__take_completed(struct dart_endpoint *endpoint);
/*
 * Cuts READs that begin later into operations of at most @length bytes, not 0, and at
 * most 192 packets.
 */
void dart_endpoint__cut(struct dart_endpoint *endpoint, uint32_t length);
/* The operations of the adapter that READs are, if they begin now. */
uint32_t dart_endpoint__operations(const struct dart_endpoint *endpoint,
				   const struct dart_read *reads, uint32_t count);

/*
 * Readable when some operations have completed; -1 before CONNECTED.
 * dart_endpoint__on_completion() returns 1 if the batch has completed, 0 if not yet,
 * or sets @error and returns -EACCES (remote access error), -ETIMEDOUT (no
 * answer) or -EIO; after an error the endpoint can only be freed.
 */
int dart_endpoint__completion_fd(const struct dart_endpoint *endpoint);
int dart_endpoint__on_completion(struct dart_endpoint *endpoint, struct dart_error *error);
/* Sets @error to the reason of that error, and returns it. */
int dart_endpoint__explain(const struct dart_endpoint *endpoint, struct dart_error *error);

#endif /* DART_ENDPOINT_H */
