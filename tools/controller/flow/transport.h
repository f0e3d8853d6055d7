/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connection of a target, and how the bytes of its table and of its values get into the
 * memory of this program.  There are three kinds, which land the same bytes:
 *
 *   read  transport_read.c  READs of this machine's adapter: nothing runs on the host
 *   rpc   transport_call.c  the agent answers requests, over RDMA by SEND and RECEIVE
 *   tcp   transport_call.c  the same over TCP with TLS; both: transport_call_connect.c
 *
 * Threads.  The control loop makes a transport, hears that it has connected, makes room for
 * what is to land, and frees it.  The I/O thread that has adopted it asks for the table, for
 * its header and for values, one part at a time, and hears when they have landed, by events
 * of descriptors or by polling, as its kind does.  The two take turns as in io/io_target.h;
 * but that a connection has ended the control loop may hear at any time.  Nothing that an
 * I/O thread calls waits or allocates (GnuTLS has its records in memory of malloc(3)).
 *
 * Ownership.  The target owns the transport and frees it after leave().  What the table
 * lands in is the transport's.  The ring is the target's, who releases it after forget() or
 * after the transport.
 *
 * Errors.  0 or -errno.  After an error of adopt(), begin() or post(), and after completed()
 * with one but -ESTALE and -EBUSY, a transport can only be freed.
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

/* What is asked for, and lands where reserve() or prepare() have made room. */
enum transport_part {
	TRANSPORT_TABLE, /* the first bytes of it */
	TRANSPORT_HEADER, /* of the table, in the present slot of the ring; not of a call */
	TRANSPORT_VALUES, /* in the same slot, and the header behind them */
};

struct transport_handlers {
	/*
	 * In the control loop: it has connected, or with an @error it has not, or is not
	 * connected any more.  May free the transport.
	 */
	void (*connected)(void *data, const struct dart_error *error);
	/*
	 * In the I/O thread.  1: the part has landed.  0: some of it; of READs credits came
	 * back, and of a call the agent is heard.  Of a call also -ESTALE: the agent does not
	 * have the values of this table any more, fetch it; -EBUSY: it is short of memory, ask
	 * later.  Otherwise -errno: see explain().  May begin with the next part.
	 */
	void (*completed)(void *data, int result);
};

struct transport_operations {
	/*
	 * A call: the agent runs, and looks itself whether it still has what is asked for.  So
	 * what it answers is valid, however old the table is.
	 */
	bool is_call;

	/* In the control loop.  All but free() and path() only once it has connected. */

	/* Makes room for @length bytes of a table, instead of earlier room. */
	int (*reserve)(struct transport *transport, uint32_t length);
	/* What has landed there; none of other hosts changes it. */
	const void *(*table)(const struct transport *transport);
	/* Gives the room back. */
	void (*unreserve)(struct transport *transport);
	/* Values land in @ring from now on; sets @scrape. */
	int (*prepare)(struct transport *transport, struct ring *ring);
	/* Not any more; also without prepare(). */
	void (*forget)(struct transport *transport);
	void (*path)(const struct transport *transport, struct dart_endpoint_path *path);
	/* See dart_endpoint__group(); NULL of a call. */
	uint32_t (*group)(const struct transport *transport);
	/* Fragments have @length bytes; NULL of a call, whose answers are not cut. */
	void (*cut)(struct transport *transport, uint32_t length);
	/* In any state, but for an I/O thread that has it. */
	void (*free)(struct transport *transport);

	/* In the I/O thread. */

	/* From now on completed() may be called. */
	int (*adopt)(struct transport *transport, struct io_thread *thread);
	/* Not any more; also without adopt(), and by others when the thread has ended. */
	void (*leave)(struct transport *transport);
	/*
	 * Asks for @part.  Without @fragments all at once; with them it only tells how many
	 * are to be permitted by post().
	 */
	int (*begin)(struct transport *transport, enum transport_part part, uint32_t *fragments);
	/* Permits so many more fragments: of a call, all of them. */
	int (*post)(struct transport *transport, uint32_t fragments);
	/* Fragments that have completed since the last call. */
	uint32_t (*take_completed)(struct transport *transport);

	/* Sets @error to why completed() or post() had one.  The caller has its turn. */
	void (*explain)(const struct transport *transport, struct dart_error *error);
};

/* At the beginning of each kind.  Members are read by everybody, and set by the kind. */
struct transport {
	const struct transport_operations *operations;
	const struct transport_handlers *handlers;
	void *data; /* of the handlers */
	/* Once connected; address and rkey are those of READs. */
	struct dart_endpoint_accept accept;
	/*
	 * CLOCK_REALTIME of the host - CLOCK_MONOTONIC of the controller at the handshake, in ns.
	 * The offset in the accept counts from CLOCK_REALTIME, which can be set.
	 */
	int64_t host_ns;
	/* Once prepared: what values and the header behind them take. */
	struct {
		uint32_t operations; /* READs, or requests */
		uint64_t bytes; /* on the way, without headers of packets and messages */
	} scrape;
};

/* When the accept has come. */
static inline void transport__date(struct transport *transport)
{
	/* Without overflow, whatever the host told. */
	transport->host_ns =
		(uint64_t)transport->accept.clock_offset_ns + (uint64_t)wall_clock__offset_ns();
}

static inline void transport__free(struct transport *transport)
{
	if (transport)
		transport->operations->free(transport);
}

#endif /* CONTROLLER_TRANSPORT_H */
