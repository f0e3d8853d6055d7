/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a store, fully allocated from the start. */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

struct store_memory {
	void *address;
	size_t length;	/* bytes requested */
	size_t mapped;		/* bytes: whole pages */
	int fd;	/* for readers on this host, which can only read */
	bool is_huge;		/* of hugetlb */
};

/*
 * Allocates @length bytes or, if @file is not -1, uses a file on tmpfs or
 * hugetlbfs that is open for reading and writing.  The file has that size, and
 * then keeps its contents, or is empty.  On error the file is unchanged.
 */
int store_memory__open(struct store_memory *memory, uint64_t length, int file,
		       struct dart_error *error);
/*
 * Can @kept, a descriptor of any file, be memory of @length bytes that
 * store_memory__open() allocated in an earlier dartd?
 */
int store_memory__check_kept(uint64_t length, int kept,
			     struct dart_error *error);
/* Takes it over, with its contents.  The caller keeps @kept. */
int store_memory__resume(struct store_memory *memory, uint64_t length, int kept,
			 struct dart_error *error);
void store_memory__close(struct store_memory *memory);

#endif /* STORE_MEMORY_H */
