/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stores, or the lookup tables, of this host.  Each object has a name and memory, which is kept
 * for the next dartd if it is in no file.  Readers connect to an object by its name and READ the
 * memory; peers (reporters, or requesters) are added to it by their address, and each gets a queue
 * pair, a key and an address of its own.
 */
#ifndef REMOTE_OBJECTS_H
#define REMOTE_OBJECTS_H

#include <jansson.h>
#include <netinet/in.h>
#include <sys/queue.h>

#include "agent/base/changes.h"
#include "agent/base/counts.h"
#include "agent/base/peer_kind.h"
#include "kept_memory.h"
#include "listener.h"
#include "memory_view.h"
#include "remote_memory.h"

/* Bytes of a name, with the NUL. */
#define REMOTE_OBJECT_NAME_MAX	40

/* The first member of a reporter, or of a requester. */
struct remote_peer {
	TAILQ_ENTRY(remote_peer) link;
	struct in_addr address;
	uint64_t length; /* bytes of its memory region */
};

/* The first member of a store, or of a lookup table. */
struct remote_object {
	TAILQ_ENTRY(remote_object) link;
	char name[REMOTE_OBJECT_NAME_MAX];
	char *file; /* its name as the client gave it, or NULL */
	struct remote_memory memory;
	struct memory_view read; /* by readers */
	struct peer_object readers;
	TAILQ_HEAD(, remote_peer) peers;
};

/* Where the bytes and addresses of an object come from; zeros: from nowhere. */
struct remote_origin {
	int fd; /* see remote_memory__open(); -1: none */
	const char *file; /* its name, or NULL */
	int kept; /* see remote_memory__resume(); -1: none */
	/* In an earlier dartd, checked; 0: unknown. */
	uint64_t read_base, epoch;
};

/* The differences between stores and lookup tables. */
struct remote_kind {
	const char *noun; /* "store": in errors, requests, and names of kept descriptors */
	const char *peer; /* "reporter": likewise */
	const char *purpose; /* of peers, in errors: "reports" */
	const char *contents; /* of the memory, in messages: "reports" */
	/* Writes the name of the memory, see kept_memory.h. */
	void (*print_kept)(const struct remote_object *object, char name[static FD_STORE_NAME_MAX]);
	/* NULL, or: opens the contents of the memory, and frees what open() allocated. */
	int (*open)(struct remote_object *object, struct dart_error *error);
	void (*close)(struct remote_object *object);
	/* NULL, or: which bytes of the memory readers reach; all of them without it. */
	void (*window)(const struct remote_object *object, size_t *offset, size_t *length);
	/* NULL, or: readers can connect again, after the device was away. */
	void (*attached)(struct remote_object *object);
	void (*free_peer)(struct remote_peer *peer);
	/* Writes the private data for a reader, at most PEER_OFFER_MAX bytes; returns its length. */
	size_t (*offer)(const struct remote_object *object, void *data);
	/* New references, NULL if out of memory.  export(): the numbers that peers need. */
	json_t *(*to_json)(const struct remote_object *object);
	json_t *(*peer_to_json)(const struct remote_object *object, const struct remote_peer *peer);
	json_t *(*export)(const struct remote_object *object);
};

struct remote_objects {
	const struct remote_kind *kind;
	const struct device *device;
	struct kept_memory kept; /* memory that the last dartd left */
	struct listener *listener;	/* open while objects are created or deleted */
	const struct changes *changes;
	struct memory_counts *memory_counts;
	uint64_t *object_count, *peer_count;
	TAILQ_HEAD(, remote_object) list;
};

/* The list is empty.  @objects has all other members. */
void remote_objects__open(struct remote_objects *objects);
/* The listener must be closed, so that there are no readers. */
void remote_objects__close(struct remote_objects *objects);

/*
 * The device is being removed: ends the peers, and destroys the resources that readers use on it.
 * The caller has disconnected the readers.  The contents of the memory stay.
 */
void remote_objects__detach(struct remote_objects *objects);
/* The device is back: readers can connect, and peers be added. */
int remote_objects__attach(struct remote_objects *objects, struct dart_error *error);

/* NULL if there is none. */
struct remote_object *remote_objects__find(const struct remote_objects *objects, const char *name);
/*
 * Adds @object, allocated with malloc(3) and owned by @objects after a success.  It has the members
 * of its kind; the others are zeros.  It gets @length bytes of memory: if the service manager keeps
 * memory of an object with this name and these parameters, sets @origin->kept and takes that.  The
 * caller keeps the descriptors of @origin.
 */
int remote_objects__add(struct remote_objects *objects, struct remote_object *object,
			const char *name, uint64_t length, struct remote_origin *origin,
			struct dart_error *error);
/* Disconnects the readers first, and ends the peers. */
void remote_objects__delete(struct remote_objects *objects, struct remote_object *object);

/* Adds @peer, whose address and length are set, counts it and announces it. */
void remote_objects__add_peer(struct remote_objects *objects, struct remote_object *object,
			      struct remote_peer *peer);
/* The queue pair, key and address of the peer become invalid. */
void remote_objects__remove_peer(struct remote_objects *objects, struct remote_object *object,
				 struct remote_peer *peer);
/* Announces that a peer of @object was "added" or the like. */
void remote_objects__announce_peer(const struct remote_objects *objects, const char *event,
				   const struct remote_peer *peer,
				   const struct remote_object *object);
/* The peer at @address, or NULL. */
struct remote_peer *remote_object__find_peer(const struct remote_object *object,
					     struct in_addr address);
json_int_t remote_object__count_peers(const struct remote_object *object);

/*
 * Offers the object that a reader names; @subject: a struct remote_objects.  The offer() of a
 * struct peer_kind.
 */
int remote_objects__offer(void *subject, const void *data, struct peer_offer *offer,
			  struct dart_error *error);

#endif /* REMOTE_OBJECTS_H */
