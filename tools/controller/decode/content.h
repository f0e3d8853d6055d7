/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects that do not change and are held once: whoever is about to make an equal one gets
 * the one that is there.  The last holder frees it, in any thread.
 *
 * They are found by a hash with a random secret, so that an agent cannot aim at others, and
 * are equal only if all of their content is.  An agent adds no more objects than its own
 * tables have, so it makes no search slower than the logarithm of what all are allowed.
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
	/* A total order; 0: the content of both is the same. */
	int (*compare)(const struct content *one, const struct content *other);
	void (*free)(struct content *content);
};

struct content_store {
	const struct content_kind *kind;
	XXH3_state_t *state; /* of the thread that searches */
	uint8_t secret[CONTENT_SECRET_BYTES];
	pthread_mutex_t lock; /* of all below */
	void *tree; /* of tsearch(3) */
	size_t count;
};

/* The first member of its user's structure. */
struct content {
	const struct content_kind *kind;
	struct content_store *store; /* NULL: it is in none */
	uint64_t hash;
	atomic_uint holders;
	bool is_listed; /* under the lock of the store */
};

/* Returns 0, -ENOMEM or an error of getrandom(2). */
int content_store__open(struct content_store *store, const struct content_kind *kind);
/* All objects have been released; also of zeros, or if content_store__open() failed. */
void content_store__close(struct content_store *store);
/* How many objects there are, in any thread. */
size_t content_store__count(struct content_store *store);

/* Begins a hash; XXH3_64bits_update() and XXH3_64bits_digest() go on with it. */
XXH3_state_t *content_store__hash(struct content_store *store);

/* The caller is the only holder; in no store so far. */
void content__init(struct content *content, const struct content_kind *kind);
/* One that is equal to @key, which has a hash; the caller holds it.  NULL: there is none. */
struct content *content_store__find(struct content_store *store, const struct content *key);
/* @content, which has a hash and is equal to none that is there.  Returns 0 or -ENOMEM. */
int content_store__add(struct content_store *store, struct content *content);

/* NULL is allowed. */
void content__release(struct content *content);

#endif /* CONTROLLER_CONTENT_H */
