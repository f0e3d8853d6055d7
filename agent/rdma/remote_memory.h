/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the network reaches, of a store or the like, fully allocated from the
 * start.
 */
#ifndef REMOTE_MEMORY_H
#define REMOTE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

struct remote_memory {
	const char *noun;	/* of its purpose, "store"; in errors */
	void *address;
	size_t length;	/* bytes requested */
	size_t mapped;		/* bytes: whole pages */
	int fd;	/* for readers on this host, which can only read */
	bool is_huge;		/* of hugetlb */
	bool has_contents;	/* of an earlier dartd, or of the file */
};

/*
 * Allocates @length bytes for a @noun, a text that outlives the memory, or, if @file is
 * not -1, uses a file on tmpfs or hugetlbfs that is open for reading and writing.  The
 * file has that size, and then keeps its contents, or is empty.  On error the file is
 * unchanged.
 */
int remote_memory__open(struct remote_memory *memory, const char *noun,
			uint64_t length, int file, struct dart_error *error);
/*
 * Can @kept, a descriptor of any file, be memory of @length bytes that
 * remote_memory__open() allocated for a @noun in an earlier dartd?
 */
int remote_memory__check_kept(const char *noun, uint64_t length, int kept,
			      struct dart_error *error);
/* Takes it over, with its contents.  The caller keeps @kept. */
int remote_memory__resume(struct remote_memory *memory, const char *noun,
			  uint64_t length, int kept, struct dart_error *error);
void remote_memory__close(struct remote_memory *memory);

/* Returns a read-only descriptor of the memory of the object called @name, or -errno. */
int remote_memory__reopen(const struct remote_memory *memory, const char *name,
			  struct dart_error *error);

#endif /* REMOTE_MEMORY_H */
