/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies the values of an entry out of a process, by process_vm_readv(2): one call for the values
 * at fixed addresses and for all pointers, and one more for each step through pointers.
 *
 * A call sleeps while a page is fetched, from a disk or from a file system that the owner of the
 * process has mounted (FUSE), which may never answer; only SIGKILL ends the sleep then.  So call
 * from a thread that no other work depends on, and never from the event loop.
 */
#ifndef APPLICATION_READER_H
#define APPLICATION_READER_H

#include <stdbool.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "process.h"

struct application_reader;

/*
 * Plans the calls for @entry, which the caller keeps, and which belongs to any number of processes
 * with its layout, one after the other.  Returns 0, -E2BIG or -ENOMEM.
 */
int application_reader__new(struct application_reader **reader,
			    const struct dart_application_entry *entry, struct dart_error *error);
void application_reader__free(struct application_reader *reader);

/* A row that is fetched in a pass. */
struct application_row {
	uint32_t row;
	bool is_whole; /* false: a text stays if the pointer to it is the same as before */
	bool has_changed; /* set by the pass: another value was found */
};

/*
 * Fetches @count rows of the entry, each of them once, into @rows, entry->rows copies of
 * entry->schema->length bytes, which keep their contents from pass to pass.  With @fetched NULL
 * all rows are fetched whole, as the caller has to at first, and after an error.  Values behind a
 * NULL pointer become 0.  Each integer is fetched whole, but not all at one moment.  Returns 0;
 * -EFAULT if a value is not in memory or at no multiple of its width; -ESRCH if the process has
 * ended or executes another program.  After an error @rows is undefined.
 */
int application_reader__read(struct application_reader *reader,
			     const struct application_process *process, void *rows,
			     struct application_row *fetched, uint32_t count);

#endif /* APPLICATION_READER_H */
