/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slices of a process: memory that it writes and that controllers read, also
 * after a restart of dartd, which needs no attention of the process but this:
 *
 *	struct dart_slices *slices;
 *	struct dart_slice *slice;
 *
 *	ret = dart_slices__new(&slices, DART_REGISTRATION_SOCKET, &error) ?:
 *	      dart_slices__add(slices, "jobs", schema, &slice, &error);
 *
 *	for (;;) {
 *		poll dart_slices__fd(slices) for POLLIN, then
 *		ret = dart_slices__process(slices, &error);
 *	}
 *
 * The memory can be written at once and stays where it is: dartd need not run
 * yet, and may be killed.  When the socket of a dartd appears, process registers
 * each slice with it, and with it the memory that an earlier dartd has lent.
 * Slices share this memory: thousands of small ones take a few descriptors of the
 * process, and a few READs of a controller.  Nothing blocks, and nothing runs while nothing changes: there is no connection
 * and no timer then.
 *
 * One thread at a time may call these functions for a set of slices.  They
 * return 0, unless their comment says otherwise, or -errno with a sentence in
 * @error.
 */
#ifndef DART_SLICE_H
#define DART_SLICE_H

#include <jansson.h>
#include <stddef.h>

#include <libdart/error.h>

struct dart_slices;

/* Read-only to the application. */
struct dart_slice {
	/*
	 * Aligned to 64 bytes, zero at first; other slices lie before and after it.  Until the
	 * first slice of the same memory is registered it is ordinary memory: process, add or
	 * remove then copies its bytes, and bytes that another thread writes meanwhile can be lost.
	 */
	void *memory;
	size_t length; /* bytes, of the schema: write none after them */
	/*
	 * 0: registered with the last dartd that was seen.  -EINPROGRESS: being
	 * registered.  Another -errno: the last attempt has failed, @reason says
	 * why; it is repeated by itself when that can help.
	 */
	int status;
	const char *reason; /* NULL without a failure */
};

/* @path: of the socket, usually DART_REGISTRATION_SOCKET. */
int dart_slices__new(struct dart_slices **slices, const char *path, struct dart_error *error);
/* The memory of all slices is unmapped, and dartd removes their entries. */
void dart_slices__free(struct dart_slices *slices);

/* To be polled for reading; stays the same, and stays with @slices. */
int dart_slices__fd(const struct dart_slices *slices);

/*
 * To be called when the descriptor is readable.  Returns the number of slices
 * that are not registered, for whatever reason.
 */
int dart_slices__process(struct dart_slices *slices, struct dart_error *error);

/*
 * Adds a slice that will be the entry @name; @schema: as in
 * <dart/registration.h>, checked by dartd.  The caller owns both arguments.  The
 * slices of a set take a descriptor of the process for each MiB, and one for each
 * doubling of the first MiB, from a page on.
 */
int dart_slices__add(struct dart_slices *slices, const char *name, const json_t *schema,
		     struct dart_slice **slice, struct dart_error *error);
/*
 * Its memory must not be used any more; dartd removes the entry.  Another slice gets
 * the bytes, zeroed, when no controller READs them any more.
 */
void dart_slices__remove(struct dart_slices *slices, struct dart_slice *slice);

#endif /* DART_SLICE_H */
