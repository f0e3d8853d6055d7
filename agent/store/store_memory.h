/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a store: all of it there from the start. */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

struct store_memory {
	void *address;
	size_t length;		/* bytes that were asked for */
	size_t mapped;		/* bytes: whole pages */
	int fd;			/* for others to map for reading only */
	bool is_huge;		/* of hugetlb */
};

/*
 * Takes @length bytes of memory of its own, or, if @file is not -1, those of a
 * file on tmpfs or hugetlbfs that is open for reading and writing and has
 * either that size, and keeps its contents, or none.  On error nothing is taken,
 * and the file is as it was.
 */
int store_memory__open(struct store_memory *memory, uint64_t length, int file,
		       struct dart_error *error);
void store_memory__close(struct store_memory *memory);

#endif /* STORE_MEMORY_H */
