/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes: rooms announce them, "monitor" of <dart/registration.h> receives them.
 * Without a monitor no line is written.
 */
#ifndef CHANGES_H
#define CHANGES_H

#include <stddef.h>
#include <sys/queue.h>

struct changes {
	TAILQ_HEAD(, change_subscriber) subscribers;
};

/* Embedded in the object that receives the changes. */
struct change_subscriber {
	TAILQ_ENTRY(change_subscriber) link;
	/* Takes a JSON object and a newline; may unsubscribe itself.  Or NULL. */
	void (*receive)(struct change_subscriber *subscriber, const char *line, size_t length);
	/* Takes the arguments of changes__announce().  Or NULL. */
	void (*notice)(struct change_subscriber *subscriber, const char *event,
		       const char *object, const char *name);
};

void changes__open(struct changes *changes);
void changes__subscribe(struct changes *changes, struct change_subscriber *subscriber);
void changes__unsubscribe(struct changes *changes, struct change_subscriber *subscriber);

/* Such as "added", "entry" and the entry's name. */
void changes__announce(const struct changes *changes, const char *event,
		       const char *object, const char *name);
/* The same for an object of another one: of a "store" or "table", by its name. */
void changes__announce_in(const struct changes *changes, const char *event, const char *object,
			  const char *name, const char *kind, const char *whole);

#endif /* CHANGES_H */
