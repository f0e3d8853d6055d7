/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A text that thousands of targets share, such as their labels.  It is stored once and does not
 * change; the last holder to release it, in any thread, frees it.
 */
#ifndef CONTROLLER_SHARED_TEXT_H
#define CONTROLLER_SHARED_TEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct shared_text {
	atomic_uint holders;
	char text[];
};

/* The caller is the first holder.  NULL if out of memory. */
static inline struct shared_text *shared_text__new(const char *text)
{
	struct shared_text *shared = malloc(sizeof(*shared) + strlen(text) + 1);

	if (!shared)
		return NULL;
	atomic_init(&shared->holders, 1);
	strcpy(shared->text, text);
	return shared;
}

/* Returns @shared; NULL is allowed. */
static inline struct shared_text *shared_text__hold(struct shared_text *shared)
{
	if (shared)
		atomic_fetch_add(&shared->holders, 1);
	return shared;
}

/* NULL is allowed. */
static inline void shared_text__release(struct shared_text *shared)
{
	if (shared && atomic_fetch_sub(&shared->holders, 1) == 1)
		free(shared);
}

/* True if both texts are equal or both are NULL. */
static inline bool shared_text__equal(const struct shared_text *one,
				      const struct shared_text *other)
{
	return one == other || (one && other && !strcmp(one->text, other->text));
}

#endif /* CONTROLLER_SHARED_TEXT_H */
