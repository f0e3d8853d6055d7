/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kinds of peers that connect over RDMA: controllers, see <dart/control.h>, and
 * readers of stores, see <dart/store_access.h>.  The rooms that serve them
 * implement the operations, and agent.c hands them to the listener.
 */
#ifndef PEER_KIND_H
#define PEER_KIND_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/configuration/prefix.h>
#include <libdart/error.h>

struct ibv_pd;
struct peer_counts;

/* The beginning of the private data of every connect request. */
struct peer_request {
	__le64 magic;
	__le32 abi_version;
	__le32 reserved;	/* 0 */
};

#define PEER_OFFER_MAX 64

/* One of several objects that peers of a kind read: a store. */
struct peer_object {
	const char *name;
	uint32_t peers;		/* connected */
};

/* What an accepted peer may access. */
struct peer_offer {
	struct ibv_pd *pd;	/* the peer may READ its memory regions */
	struct peer_object *object;	/* that the peer reads, or NULL */
	uint8_t data[PEER_OFFER_MAX];	/* private data of the acceptance */
	size_t length;	/* bytes of the data */
};

struct peer_kind {
	const char *name;
	uint64_t magic;
	uint32_t abi_version;
	size_t request_length;	/* bytes, at least */
	/* Behind struct peer_request, @data is hostile. */
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
	bool needs_list;
	uint32_t most;		/* connected at a time; 0: no limit */
};

#endif /* PEER_KIND_H */
