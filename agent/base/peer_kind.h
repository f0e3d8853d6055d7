/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kinds of peers that connect over RDMA: controllers, see <dart/control.h>, readers of stores, see
 * <dart/store_access.h>, readers of tables, see <dart/tea_access.h>, readers of journals, see
 * <dart/journal_access.h>, readers of ledgers, see <dart/ledger_access.h>, readers of sketches, see
 * <dart/sketch_access.h>, and callers, see
 * <dart/rpc.h>.  The rooms that serve them implement the operations, and agent.c hands them to the
 * listener.
 */
#ifndef PEER_KIND_H
#define PEER_KIND_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/configuration/prefix.h>
#include <libdart/error.h>

#include "mirror.h"

struct audience;
struct ibv_pd;
struct peer_counts;

/* The beginning of the private data of every connect request. */
struct peer_request {
	__le64 magic;
	__le32 abi_version;
	__le32 interval_ms;	/* of a kind that takes it, otherwise 0 */
};

#define PEER_OFFER_MAX 64

/* One of several objects that peers of a kind read: a store or a table. */
struct peer_object {
	const char *noun;	/* "store" */
	const char *name;
	uint32_t peers;		/* connected */
};

/* Serves one peer that sends requests; embedded in the object that does. */
struct peer_messenger {
	const struct peer_messenger_operations *operations;
	uint32_t request_max;	/* bytes of a request */
	uint32_t answer_max;	/* bytes of a message to the peer */
	uint32_t sends_max;	/* messages on their way, at least 1 */
	/* Set by the owner: there is a message that answers no request under way. */
	void (*wake)(struct peer_messenger *messenger);
	void *owner;
};

struct peer_messenger_operations {
	void (*free)(struct peer_messenger *messenger);
	/* The bytes are hostile, and are the caller's. */
	void (*take)(struct peer_messenger *messenger, const void *bytes, size_t length);
	/* Writes the next message and returns its length; 0: there is none now. */
	size_t (*next)(struct peer_messenger *messenger, void *bytes, size_t size);
	/* Is there another message to be sent? */
	bool (*is_busy)(const struct peer_messenger *messenger);
	/*
	 * True once the session is closing: the owner refuses requests, and disconnects after the
	 * last message.
	 */
	bool (*is_over)(const struct peer_messenger *messenger);
	/* It is disconnected because it does not take the answer. */
	void (*cut_off)(struct peer_messenger *messenger);
};

/* The memory, or the service, that an accepted peer may use. */
struct peer_offer {
	const struct sockaddr *address;	/* of the peer, set by the listener */
	struct ibv_pd *pd;	/* the peer may READ its memory regions; or NULL */
	struct peer_object *object;	/* that the peer reads, or NULL */
	/* NULL: the peer READs.  Otherwise it may not, and this serves it. */
	struct peer_messenger *messenger;
	uint8_t data[PEER_OFFER_MAX];	/* private data of the acceptance */
	size_t length;	/* bytes of the data */
	/* A controller's: the connection joins the audience.  NULL: it does not. */
	struct audience *audience;
	uint32_t interval_ms;
	/* The same of mirrors, with the mirror that the peer offers. */
	struct mirrors *mirrors;
	struct mirror_place mirror;
};

struct peer_kind {
	const char *name;
	uint64_t magic;
	uint32_t abi_version;
	size_t request_length;	/* bytes, at least */
	size_t option_length;	/* bytes that may follow */
	bool takes_interval;	/* as the last member of struct peer_request */
	/* The bytes of @data after struct peer_request are hostile. */
	int (*offer)(void *subject, const void *data, struct peer_offer *offer,
		     struct dart_error *error);
};

/* A kind, and which of its peers may connect; a kind of NULL ends a list. */
struct peer_service {
	const struct peer_kind *kind;
	void *subject;		/* that offer() gets */
	struct peer_counts *counts;
	/* Addresses.  NULL: all; without a list: all, or none if it is needed. */
	const struct dart_prefixes *allowed;
	const char *list;	/* the name of these, in "allow" of the configuration */
	bool needs_list;
	uint32_t most;		/* connected at a time; 0: no limit */
};

#endif /* PEER_KIND_H */
