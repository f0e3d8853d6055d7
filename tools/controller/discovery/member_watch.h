/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the membership of this controller while it runs: from the configuration, or from the list
 * that another program writes.  Another kind of list, such as one of a coordinator, is another
 * source that hands over a struct member_set.
 *
 * Only the thread of the event loop calls it.  Discovery owns it.
 */
#ifndef CONTROLLER_MEMBER_WATCH_H
#define CONTROLLER_MEMBER_WATCH_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "source.h"

struct member_watch_operations {
	/* Roles of targets may be others from now on. */
	void (*changed)(void *data);
	/*
	 * After changed(): the list is valid until then, CLOCK_BOOTTIME; 0: without an end.  May be
	 * NULL.
	 */
	void (*valid)(void *data, uint64_t until_ns);
	/*
	 * After member_watch__leave(): all other members use a list without this one.  May be NULL.
	 */
	void (*left)(void *data);
	/* The list of members cannot be read, or can be again. */
	void (*failed)(void *data);
	/* Prints a sentence for people. */
	void (*say)(void *data, const char *sentence);
};

/* Users read it. */
struct member_watch {
	struct membership membership; /* without the file, which @source has */
	bool is_complete; /* there was a look at the list, or there is no list */
	struct dart_error error; /* why the last look failed; empty: it did not */

	sd_event *event;
	const struct member_watch_operations *operations;
	void *data;
	bool never_stands_by; /* the program ends by itself: it waits for no other member */
	struct source *source; /* NULL: the configuration has the members */
	sd_event_source *change; /* when this member joins, or its list is not valid any more */
	bool has_expired; /* as was said */
	bool is_leaving; /* member_watch__leave() */
};

/* Zeroed before.  Returns 0 or -errno; member_watch__close() in both cases. */
int member_watch__open(struct member_watch *watch, sd_event *event,
		       const struct member_watch_operations *operations, void *data,
		       bool never_stands_by);
void member_watch__close(struct member_watch *watch);
/*
 * Takes over the settings of @shard, without calling changed().  If a file lists the members, the
 * ones that were there stay until it is read.  Returns 0, or -errno with a sentence in @error: then
 * nothing has changed.
 */
int member_watch__configure(struct member_watch *watch, const struct shard *shard,
			    struct dart_error *error);
/*
 * This member is about to end, and waits until others have replaced it: a list without it changes
 * nothing any more, except when it is valid until.  Returns false, and does nothing, if no other
 * member can replace it: nobody lists members, this one is not listed, or no other one is, or the
 * list is not valid.
 */
bool member_watch__leave(struct member_watch *watch);
/* Reads the list again. */
void member_watch__look(struct member_watch *watch);

#endif /* CONTROLLER_MEMBER_WATCH_H */
