/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connection of a target, and how the bytes of its table and of its values get into the
 * memory of this program.  There are three kinds, which land the same bytes:
 *
 *   read  transport_read.c  READs of this machine's adapter: nothing runs on the host
 *   rpc   transport_call.c  the agent answers requests, over RDMA by SEND and RECEIVE
 *   tcp   transport_call.c  the agent answers requests, over TCP with TLS
 *
 * Threads.  The control loop creates a transport, is called when it connects, reserves memory
 * for the table and for values, and frees the transport.  The I/O thread that adopted it requests
 * the table, its header and values, one part at a time, and is called when a part landed; the
 * kind decides whether events of descriptors or polling tell.  The two take turns, see
 * io/io_target.h, but a connection can end in the control loop at any time.  Functions for the
 * I/O thread neither wait nor allocate, except that GnuTLS allocates its records by malloc(3).
 *
 * Ownership.  The target owns the transport and frees it after leave().  The transport owns the
 * memory that the table lands in.  The target owns the ring and releases it after forget(), or
 * after it freed the transport.
 *
 * Errors.  0 or -errno.  After an error of adopt(), begin() or post(), and after completed()
 * with any error but -ESTALE and -EBUSY, a transport can only be freed.
 */
#ifndef CONTROLLER_TRANSPORT_H
#define CONTROLLER_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/rdma/endpoint.h>

#include "tools/controller/base/wall_clock.h"

struct io_thread;
struct ring;
struct transport;

/* The part that a request asks for.  It lands in the memory of reserve() or prepare(). */
enum transport_part {
	TRANSPORT_TABLE, /* as many bytes, from its first, as reserve() was told */
	TRANSPORT_HEADER, /* of the table, into the current slot of the ring; not with a call */
	TRANSPORT_VALUES, /* into the current slot, followed by the header of the table */
	TRANSPORT_ADDED, /* the same for the ring of prepare_added(); not with a call */
};

struct transport_handlers {
	/*
	 * In the control loop.  Without @error the transport connected; with @error connecting
	 * failed, or the connection ended.  May free the transport.
	 */
	void (*connected)(void *data, const struct dart_error *error);
	/*
	 * In the I/O thread; may begin the next part.  @result is
	 *
	 *   1        The part landed.
	 *   0        Fragments of a READ completed, or the agent of a call sent some bytes.
	 *   -ESTALE  Of a call: the agent no longer serves values of this table; fetch another.
	 *   -EBUSY   Of a call: the agent is short of memory; ask later.
	 *   -errno   The transport failed, see explain().
	 */
	void (*completed)(void *data, int result);
	/* In the I/O thread: the agent ended an update of the mirror, or told of a change. */
	void (*updated)(void *data);
};

struct transport_operations {
	/*
	 * A call: the agent itself checks whether it still serves the requested bytes, so its
	 * answers are valid at any age of the table.
	 */
	bool is_call;

	/* In the control loop.  After connected(), except free() and path(). */

	/* Allocates memory for @length bytes of a table, and frees earlier memory. */
	int (*reserve)(struct transport *transport, uint32_t length);
	/* The bytes that landed there; requests to other hosts do not change them. */
	const void *(*table)(const struct transport *transport);
	/* Frees the memory of reserve(). */
	void (*unreserve)(struct transport *transport);
	/* Values land in @ring from now on; sets @scrape. */
	int (*prepare)(struct transport *transport, struct ring *ring);
	/* Ends the use of the ring; does nothing without prepare(). */
	void (*forget)(struct transport *transport);
	void (*path)(const struct transport *transport, struct dart_endpoint_path *path);
	/* See dart_endpoint__group(); NULL in a call. */
	uint32_t (*group)(const struct transport *transport);
	/*
	 * The mirror, and its bytes, see <dart/control.h>; NULL: there is none.  The agent may
	 * change it at any time.  The function is NULL in a call.
	 */
	void *(*mirror)(const struct transport *transport, uint32_t *size);
	/*
	 * Values of @ring, which has entries alone that were just added, are asked for next, once.
	 * They, and the header unless @ring lacks it, land in memory of the transport, for which no
	 * other part is asked, and which added() returns.  Returns 0; -EFBIG: they are too many bytes; or -errno.  Both
	 * are NULL in a call.
	 */
	int (*prepare_added)(struct transport *transport, const struct ring *ring);
	const void *(*added)(const struct transport *transport);
	/* Cuts READs into fragments of @length bytes; NULL in a call, whose answers stay whole. */
	void (*cut)(struct transport *transport, uint32_t length);
	/* In any state, but not while an I/O thread uses the transport. */
	void (*free)(struct transport *transport);

	/* In the I/O thread. */

	/*
	 * Asks for memory that begin(), post() and a completion of TRANSPORT_VALUES need: with 0,
	 * then with 1 and 2, as ahead() of a timer does.  The caller has asked for the first
	 * TRANSPORT_PREFETCHED bytes.  NULL in a call.
	 */
	void (*ahead)(const struct transport *transport, unsigned int step);
	/* From now on completed() may be called. */
	int (*adopt)(struct transport *transport, struct io_thread *thread);
	/*
	 * From now on completed() is not called; does nothing without adopt().  When the I/O
	 * thread ended, another thread may call this.
	 */
	void (*leave)(struct transport *transport);
	/*
	 * Requests @part.  With NULL for @fragments, posts all of it; otherwise only sets
	 * @fragments to the number that post() must permit.
	 */
	int (*begin)(struct transport *transport, enum transport_part part, uint32_t *fragments);
	/* Permits and posts @fragments more: in a call, all of them at once. */
	int (*post)(struct transport *transport, uint32_t fragments);
	/* After updates of the mirror, others may come.  NULL in a call. */
	int (*await_updates)(struct transport *transport);
	/* The number of fragments that completed since the last call. */
	uint32_t (*take_completed)(struct transport *transport);

	/* Sets @error to the reason of the last failure.  In the turn of the caller. */
	void (*explain)(const struct transport *transport, struct dart_error *error);
};

/* The caller of ahead() asks for as many bytes of the structure of a kind. */
#define TRANSPORT_PREFETCHED 192

/* The first member of the structure of each kind, which sets the members; all may read them. */
struct transport {
	const struct transport_operations *operations;
	const struct transport_handlers *handlers;
	void *data; /* of the handlers */
	/* Valid after connected(); address and rkey only if the kind is read. */
	struct dart_endpoint_accept accept;
	/* The same: the agent tells when the table changes, unless it is too long for that. */
	bool is_told;
	/*
	 * CLOCK_REALTIME of the host - CLOCK_MONOTONIC of the controller at the handshake, in ns:
	 * unlike the offset in the accept, unaffected when the controller's CLOCK_REALTIME is set.
	 */
	int64_t host_ns;
	/* Valid after prepare(): the cost of one request of TRANSPORT_VALUES. */
	struct {
		uint32_t operations; /* READs, or requests */
		uint64_t bytes; /* on the network, without headers of packets and messages */
	} scrape;
};

/* Sets host_ns.  The kind calls it when it set the accept. */
static inline void transport__date(struct transport *transport)
{
	/* Unsigned, so that no offset that a host sends overflows. */
	transport->host_ns =
		(uint64_t)transport->accept.clock_offset_ns + (uint64_t)wall_clock__offset_ns();
}

static inline void transport__free(struct transport *transport)
{
	if (transport)
		transport->operations->free(transport);
}

#endif /* CONTROLLER_TRANSPORT_H */
