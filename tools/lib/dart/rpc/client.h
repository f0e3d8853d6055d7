/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The controller's end of <dart/rpc.h>: asks an agent for its table and for values, over TCP with
 * TLS or over RDMA, instead of READs.  The same bytes land in the caller's memory as READs would
 * have landed.  Nothing blocks: the caller polls the descriptors in its event loop.  One thread at
 * a time may use a client.
 */
#ifndef DART_RPC_CLIENT_H
#define DART_RPC_CLIENT_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/rpc.h>
#include <libdart/error.h>
#include <libdart/rdma/path.h>

#include "message.h"
#include "plan.h"
#include "tls.h"

struct dart_rpc_client;

enum dart_rpc_client_event {
	DART_RPC_CLIENT_NOTHING = 0,	/* still in progress */
	/* See dart_rpc_client__limit(): call again, whatever the descriptors say. */
	DART_RPC_CLIENT_MORE,
	DART_RPC_CLIENT_CONNECTED,	/* dart_rpc_client__welcome() is valid */
	DART_RPC_CLIENT_ANSWERED,	/* the answer has landed */
	/* No answer, for the reason in the error: fetch the table and ask again. */
	DART_RPC_CLIENT_STALE,
	DART_RPC_CLIENT_BUSY,		/* the same: ask again later */
	/* No answer either: there is no such store, epoch or lookup table. */
	DART_RPC_CLIENT_NOT_FOUND,
	/* The client can only be freed: */
	DART_RPC_CLIENT_FAILED,		/* not reachable, refused */
	DART_RPC_CLIENT_DISCONNECTED,	/* also for an answer that breaks a rule */
	/* See dart_rpc_client__follow_table(); an answer may be under way meanwhile. */
	DART_RPC_CLIENT_CHANGED,
	/* No answer: this caller may not do that, or its changes broke a rule and were not made. */
	DART_RPC_CLIENT_REFUSED,
};

/*
 * Start to connect to @host (name or address) at @port: 0, or -errno with a sentence in @error.  A
 * numeric address never blocks, a name is resolved first.
 *
 * Over RDMA the packets of both ends get the code point @dscp, as dart_endpoint_set__mark() says.
 *
 * Over TCP the agent's certificate must be for @name, which is @host if it is NULL; the client
 * holds @tls.
 */
int dart_rpc_client__connect_tcp(const char *host, uint16_t port, struct dart_tls *tls,
				 const char *name, struct dart_rpc_client **client,
				 struct dart_error *error);
int dart_rpc_client__connect_rdma(const char *host, uint16_t port, uint8_t dscp,
				  struct dart_rpc_client **client, struct dart_error *error);
/*
 * Tells the agent how often the caller will ask for values, in ms, as
 * dart_endpoint__tell_interval() does: directly after a function above.
 */
void dart_rpc_client__tell_interval(struct dart_rpc_client *client, uint32_t interval_ms);
/* In any state.  @client may be NULL. */
void dart_rpc_client__free(struct dart_rpc_client *client);

/*
 * Writes at most two descriptors and the events to wait for, and returns how many; they
 * may be others after each call of a function below.
 */
unsigned int dart_rpc_client__wait(const struct dart_rpc_client *client,
				   struct pollfd descriptors[2]);
/*
 * To call when one of them is ready, until it returns NOTHING.  The caller limits the
 * time until CONNECTED, and that of an answer.  Events without an answer set @error.
 */
enum dart_rpc_client_event dart_rpc_client__on_ready(struct dart_rpc_client *client,
						     struct dart_error *error);
/*
 * For callers with other work: once it is connected, on_ready() takes so many messages at most, and
 * returns MORE then.  0, the default: no limit.
 */
void dart_rpc_client__limit(struct dart_rpc_client *client, unsigned int messages);
/* Why it FAILED, as dart_endpoint__failure() says. */
int dart_rpc_client__failure(const struct dart_rpc_client *client);
/* Once it is connected: */

/* The bytes of the table now, and at most, and the clock of the host. */
const struct dart_rpc_welcome_values *
dart_rpc_client__welcome(const struct dart_rpc_client *client);
/* As in struct dart_endpoint_accept. */
void dart_rpc_client__clock(const struct dart_rpc_client *client,
			    int64_t *offset_ns, uint64_t *uncertainty_ns);
/* By TCP without a device, an MTU and a speed. */
void dart_rpc_client__path(const struct dart_rpc_client *client, struct dart_endpoint_path *path);
/*
 * The bytes of an answer that can be on the network at once, however long it is: over RDMA the
 * receives hold so many, and the window of TCP is no larger.
 */
uint32_t dart_rpc_client__window(const struct dart_rpc_client *client);

/*
 * Ask for the first @size bytes of the table, or for the values of @plan.  They land in
 * @memory (of @size bytes; of dart_rpc_plan__landing_size() bytes), which stays the
 * caller's, and is not to be touched or freed before ANSWERED, STALE or BUSY, or before
 * the client is freed.  Return 0, -EBUSY before the answer to the last request,
 * -ENOTCONN before CONNECTED, -EINVAL for a @size below that of a header, or an error
 * of the connection, after which the client can only be freed.
 */
int dart_rpc_client__get_table(struct dart_rpc_client *client, void *memory, uint32_t size,
			       struct dart_error *error);
/*
 * The same for the table, and once it has ANSWERED, on_ready() returns CHANGED as soon as the agent
 * has another table: once, and not for a table that was asked for before the last one.  An agent
 * that is older than this request disconnects.
 */
int dart_rpc_client__follow_table(struct dart_rpc_client *client, void *memory, uint32_t size,
				  struct dart_error *error);
int dart_rpc_client__get_values(struct dart_rpc_client *client, const struct dart_rpc_plan *plan,
				void *memory, struct dart_error *error);
/*
 * Ask for the epochs of a store, with @wanted->store, at @since_ns to @until_ns, or for bytes of one
 * of them.  The answer lands in @memory as it comes: dart_rpc_epochs__decode() checks a list, and
 * the bytes of an epoch are all that were asked for.  @memory and errors: as above; @memory has room
 * for DART_RPC_EPOCHS_LENGTH_MAX or for @wanted->length bytes.
 */
int dart_rpc_client__get_epochs(struct dart_rpc_client *client, const char *store,
				uint64_t since_ns, uint64_t until_ns, void *memory,
				struct dart_error *error);
int dart_rpc_client__get_epoch(struct dart_rpc_client *client,
			       const struct dart_rpc_epoch_bytes *wanted, void *memory,
			       struct dart_error *error);
/*
 * Ask for entries of a lookup table, or for changes of it, as a caller that may change these.  The
 * answer lands in @memory as it comes: dart_rpc_lookups__decode() checks a list, for which
 * @memory has room for DART_RPC_LOOKUPS_LENGTH_MAX bytes; changes are answered by one byte for each,
 * enum dart_rpc_lookup_outcome, or a byte that is none.  @changes is copied.  Errors: as above, and
 * -EINVAL for no changes, or more bytes of them than DART_RPC_RECORDS_LENGTH_MAX.
 */
int dart_rpc_client__get_lookups(struct dart_rpc_client *client,
				 const struct dart_rpc_lookups_wanted *wanted, void *memory,
				 struct dart_error *error);
int dart_rpc_client__change_lookups(struct dart_rpc_client *client,
				    const struct dart_rpc_lookup_changes *changes, void *memory,
				    struct dart_error *error);
/* After ANSWERED: the bytes of the table, or of a list, that have landed. */
uint32_t dart_rpc_client__length(const struct dart_rpc_client *client);

#endif /* DART_RPC_CLIENT_H */
