/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Immutable objects that are kept once: a caller that is about to create an equal object gets the
 * existing one instead. The last holder frees an object, in any thread.
 *
 * A store finds objects by a hash with a random secret, so that an agent cannot choose contents
 * that collide with others; two objects are equal only if their whole content is. An agent adds no
 * more objects than its own tables contain, so a search costs at most the logarithm of the number
 * of objects that all agents together may add.
 *
 * One thread searches and adds; any thread may release.
 */
#ifndef CONTROLLER_CONTENT_H
#define CONTROLLER_CONTENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#define CONTENT_SECRET_BYTES 192

struct content;

struct content_kind {
	/* A total order; 0 if both contents are equal. */
	int (*compare)(const struct content *one, const struct content *other);
	void (*free)(struct content *content);
};

struct content_store {
	const struct content_kind *kind;
	XXH3_state_t *state; /* used by the searching thread only */
	uint8_t secret[CONTENT_SECRET_BYTES];
	pthread_mutex_t lock; /* protects the members below */
	void *tree; /* root of tsearch(3) */
	size_t count;
};

/* The first member of each shared object's structure. */
struct content {
	const struct content_kind *kind;
	struct content_store *store; /* NULL until the object is added to a store */
	uint64_t hash;
	atomic_uint holders;
	bool is_listed; /* protected by the store's lock */
};

/* Returns 0, -ENOMEM or an error of getrandom(2). */
int content_store__open(struct content_store *store, const struct content_kind *kind);
/*
 * Call after all objects have been released. Also accepts a zeroed store, or one whose
 * content_store__open() failed.
 */
void content_store__close(struct content_store *store);
/* Returns the number of objects; callable from any thread. */
size_t content_store__count(struct content_store *store);

/* Begins a hash; continue with XXH3_64bits_update() and XXH3_64bits_digest(). */
XXH3_state_t *content_store__hash(struct content_store *store);

/* Makes the caller the only holder; the object belongs to no store yet. */
void content__init(struct content *content, const struct content_kind *kind);
/*
 * Returns the object that equals @key, whose hash is set, with a hold for the caller; NULL if none
 * exists.
 */
struct content *content_store__find(struct content_store *store, const struct content *key);
/*
 * Adds @content, whose hash is set and which equals no object in the store. Returns 0 or -ENOMEM.
 */
int content_store__add(struct content_store *store, struct content *content);

/* Drops one hold; ignores NULL. */
void content__release(struct content *content);

#endif /* CONTROLLER_CONTENT_H */
