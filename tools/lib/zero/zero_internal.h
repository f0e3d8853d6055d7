/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of libdartzero, or of libdartzero-preload, of which a program has one. */
#ifndef ZERO_INTERNAL_H
#define ZERO_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "zero.h"

/* The largest page of the architecture. */
#ifdef __x86_64__
#define DART_ZERO_EDGE 4096
#else
#define DART_ZERO_EDGE 65536
#endif

/* Bytes at whose multiples objects lie. */
#define DART_ZERO_UNIT 64

enum dart_zero_state {
	ZERO_WAITING, /* dartd does not list it yet */
	ZERO_REGISTERED,
	ZERO_REFUSED, /* by the dartd that was seen last */
	ZERO_LEAVING, /* the program freed it, dartd still lists it */
	ZERO_LEASED, /* dartd removed it: controllers may read it until @until_ms */
	ZERO_STATES,
};

/* A variable or an object in the memory. */
struct dart_zero_object {
	TAILQ_ENTRY(dart_zero_object) link; /* in the list of its state */
	const struct dart_zero_type *type;
	uint32_t offset; /* bytes from the start of the memory */
	enum dart_zero_state state;
	bool is_asked; /* dartd may list it */
	bool is_renamed; /* @suffix was taken: it has the other one */
	int64_t until_ms; /* CLOCK_MONOTONIC */
	char name[]; /* of the entry */
};

TAILQ_HEAD(dart_zero_objects, dart_zero_object);

/* Pages of the program.  All pieces lie side by side in the memfd. */
struct dart_zero_piece {
	char *at;
	size_t bytes;
};

struct dart_zero {
	pthread_mutex_t lock; /* guards everything but the thread's own members */
	bool is_started;
	bool is_fixed; /* objects neither come nor go, and the thread does not end: no wakes */
	bool is_exact; /* controllers see the fields of objects, and nothing else of the memory */
	/*
	 * Called in the thread once the memory is shared, or NULL.  Returns false if dartd shall not
	 * get it: the thread ends.
	 */
	bool (*may_register)(struct dart_zero *zero);
	const char *socket;
	char *prefix; /* "NAME/" of all entries */
	/* Ends the names of all entries, or NULL; the other one if the name is taken. */
	const char *suffix, *other_suffix;
	bool is_shared; /* the memfd is under the memory; else it is ordinary, and nobody reads it */
	size_t page;
	const struct dart_zero_piece *pieces;
	size_t piece_count;
	char *variables; /* the pages of the section */
	size_t variable_bytes;
	char *room; /* the bytes for objects, after the variables in the memfd */
	size_t room_bytes;
	struct dart_zero_object **by_unit; /* the object that begins there, of the room */
	size_t next_unit; /* the search for free units starts here */
	struct dart_zero_objects lists[ZERO_STATES];
	uint32_t counts[ZERO_STATES];
	char reason[256];

	pthread_t thread;
	bool is_ending; /* the thread */
	pthread_cond_t has_ended;
	bool is_woken; /* there is something to do for the thread: see dart_zero__wake() */
	pthread_cond_t woken;
	/* What dart_zero__start_thread() and the thread tell each other. */
	sem_t has_begun;
	int result;
	/* In the table of descriptors of the thread, which ends with it; or -1. */
	int fd; /* the memfd */
	int wake; /* an eventfd */
	int inotify, connection;
	int proof; /* by which dartd knows that the program lives */
};

#define DART_ZERO_INITIALIZER                                                       \
	.lock = PTHREAD_MUTEX_INITIALIZER, .woken = PTHREAD_COND_INITIALIZER,       \
	.has_ended = PTHREAD_COND_INITIALIZER, .fd = -1, .wake = -1, .inotify = -1, \
	.connection = -1, .proof = -1

/* zero_memory.c */
/* In the thread: creates the memfd and maps it over all pieces.  Returns 0 or -errno. */
int dart_zero__share(struct dart_zero *zero);
/*
 * In the thread: makes all pieces private, with the bytes that they have.  Other threads may write
 * them meanwhile.  Returns 0 or -errno.
 */
int dart_zero__unshare(struct dart_zero *zero);
/* The same in the child of fork(), which has no other thread, and not the memfd. */
int dart_zero__copy(struct dart_zero *zero);

/* zero_thread.c */
/*
 * Starts the thread, which has a table of descriptors of its own: programs close descriptors that
 * they did not open, and must neither meet nor lose one of these.  There it calls @share, which
 * calls dart_zero__share(), and then dart_zero__register().  Returns 0 when the memory is shared, or
 * -errno.
 */
int dart_zero__start_thread(struct dart_zero *zero, int (*share)(struct dart_zero *zero));
/* Makes the thread look at the lists.  With the lock held. */
void dart_zero__wake(struct dart_zero *zero);
/* Ends the thread, which makes the memory private.  With the lock held, which it releases meanwhile. */
void dart_zero__end_thread(struct dart_zero *zero);
/* In the child of fork(), which has no thread, and of its descriptors none. */
void dart_zero__forget_thread(struct dart_zero *zero);

/* zero_requests.c */
/* A request about an object. */
struct dart_zero_question {
	char *text; /* the caller frees it; NULL: out of memory */
	size_t length;
	bool is_short;
};

/*
 * Asks dartd to list @object, or no longer: in the short form if the connection has registered an
 * object of its type, @last, before.
 */
struct dart_zero_question dart_zero__ask_for(const struct dart_zero *zero,
					     const struct dart_zero_object *object,
					     const struct dart_zero_type *last);

/* zero_registration.c */
/* Hands the memory to each dartd that appears, until @zero->is_ending. */
void dart_zero__register(struct dart_zero *zero);
/* With the lock held. */
void dart_zero__move(struct dart_zero *zero, struct dart_zero_object *object,
		     enum dart_zero_state state);
/* Frees an object that nobody reads, and its bytes.  With the lock held. */
void dart_zero__drop(struct dart_zero *zero, struct dart_zero_object *object);

#endif /* ZERO_INTERNAL_H */
