/* SPDX-License-Identifier: GPL-2.0-only */
/* A transport by READs: an endpoint of a set. */
#ifndef CONTROLLER_TRANSPORT_READ_H
#define CONTROLLER_TRANSPORT_READ_H

#include <libdart/rdma/endpoint_set.h>

#include "tools/controller/flow/transport.h"

/*
 * In the control loop: begins to connect for the thread with @number in @set.  @host is numeric.
 * The agent is told @interval_ms, unless it is 0, and with @offers_mirror offered a mirror if the
 * set has mirrors.  Returns 0, or -errno with a sentence in @error.
 */
int transport_read__connect(struct dart_endpoint_set *set, uint32_t number, const char *host,
			    uint16_t port, uint32_t interval_ms, bool offers_mirror,
			    const struct transport_handlers *handlers, void *data,
			    struct transport **transport, struct dart_error *error);

/* Handlers of the set, whose endpoints are all transports; each in its thread. */
void transport_read__on_connection(struct dart_endpoint *endpoint, enum dart_endpoint_event event,
				   const struct dart_error *error);
void transport_read__on_completion(struct dart_endpoint *endpoint, int result);

#endif /* CONTROLLER_TRANSPORT_READ_H */
