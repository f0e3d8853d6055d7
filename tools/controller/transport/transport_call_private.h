/* SPDX-License-Identifier: GPL-2.0-only */
/* A transport that calls: what connects it and what asks share. */
#ifndef CONTROLLER_TRANSPORT_CALL_PRIVATE_H
#define CONTROLLER_TRANSPORT_CALL_PRIVATE_H

#include <libdart/rpc/client.h>

#include "tools/controller/io/io_thread.h"
#include "transport_call.h"

#define WATCHES 2

struct transport_call {
	struct transport base; /* first: a transport is found by it */
	struct dart_rpc_client *client; /* of the thread that has the transport */
	sd_event_source *source; /* while it connects */
	uint32_t window; /* fragments of an answer that can be in flight */

	void *table;
	uint32_t table_length;
	struct ring *ring; /* of the target; NULL: not prepared */
	struct dart_rpc_plan *plan; /* of its scraper */

	/* Of the I/O thread. */
	struct io_thread *thread; /* NULL: not adopted */
	struct call_watch {
		struct io_watch base; /* first */
		struct transport_call *call;
	} watches[WATCHES];
	enum transport_part part; /* that was begun last */
	uint32_t posted; /* fragments of it */
	uint32_t completed;
	bool has_failed; /* the client can only be freed */
	struct dart_error error; /* why, or why an answer did not come */
};

extern const struct transport_operations transport_call__operations;

#endif /* CONTROLLER_TRANSPORT_CALL_PRIVATE_H */
