/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that the service manager keeps for the next dartd, however this one
 * ends: see FileDescriptorStoreMax= in systemd.service(5) and FDSTORE= in
 * sd_notify(3).  A name has 1 to FD_STORE_NAME_MAX - 1 printable characters.
 */
#ifndef FD_STORE_H
#define FD_STORE_H

#include <stdbool.h>
#include <sys/queue.h>

#include <libdart/error.h>

/* With the NUL.  Each character may take three in FDNAME=, whose limit is 255. */
#define FD_STORE_NAME_MAX 86

struct fd_store {
	/* Copies of the descriptors of the last dartd that no room has released. */
	TAILQ_HEAD(, fd_store_item) items;
};

/*
 * Takes over the descriptors of the last dartd.  Descriptors whose names begin with none of
 * @prefixes, a list that NULL ends, are closed, and the service manager forgets them.
 */
void fd_store__open(struct fd_store *store, const char *const *prefixes);
/* The service manager keeps the descriptors. */
void fd_store__close(struct fd_store *store);

/*
 * Hands @fd to the service manager under @name, which must be unused, and waits until it holds the
 * descriptor, so that no crash can lose it.
 */
int fd_store__put(const char *name, int fd, struct dart_error *error);
/* The same without waiting: for descriptors that dartd can lose. */
int fd_store__send(const char *name, int fd, struct dart_error *error);
/* Makes the service manager forget @name, waits for that, and closes the copy. */
void fd_store__remove(struct fd_store *store, const char *name);
/* The same without waiting. */
void fd_store__forget(struct fd_store *store, const char *name);

/* Calls @each with @userdata and the name of each copy that begins with @prefix. */
void fd_store__each(const struct fd_store *store, const char *prefix,
		    void (*each)(void *userdata, const char *name), void *userdata);
/* Copies the first name that begins with @prefix; false if there is none. */
bool fd_store__find(const struct fd_store *store, const char *prefix,
		    char name[static FD_STORE_NAME_MAX]);
/*
 * Returns the copy of a descriptor, which stays the store's, or -1.  Any file may
 * be open there: check it.
 */
int fd_store__get(const struct fd_store *store, const char *name);
/* Closes the copy, because its user has another; the service manager keeps it. */
void fd_store__release(struct fd_store *store, const char *name);

#endif /* FD_STORE_H */
