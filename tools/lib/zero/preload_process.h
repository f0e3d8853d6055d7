/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This process, for libdartzero-preload: its modules, pages, threads and names. */
#ifndef PRELOAD_PROCESS_H
#define PRELOAD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters of a build-id, and a 0. */
#define PRELOAD_BUILD_ID_MAX 129
/* Characters of a name of dartd, and a 0. */
#define PRELOAD_LABEL_MAX 200

/* A file that the dynamic linker has loaded. */
struct preload_loaded {
	const char *soname; /* NULL: the executable */
	uintptr_t base; /* address of the byte that its program headers call 0 */
	char build_id[PRELOAD_BUILD_ID_MAX]; /* lower-case hexadecimal digits; "" without one */
};

/* Finds @loaded->soname, or the executable; false if it is not loaded. */
bool preload_process__find(struct preload_loaded *loaded);
/*
 * How many of the @count pages at @pages, in ascending order, the program can write and shares with
 * nobody; they come first then, still in order.  -errno: /proc cannot be read.
 */
int preload_process__keep_writable(uintptr_t *pages, size_t count, size_t page_size);
/* The threads of this process; 0: /proc cannot be read. */
unsigned int preload_process__threads(void);
/* Writes "@SERVICE", or "@pid-N" without a service or with @by_pid. */
void preload_process__label(char label[static PRELOAD_LABEL_MAX], bool by_pid);
/* Writes "@" and @name, with %XX for characters that names of entries do not have. */
void preload_process__escape(char label[static PRELOAD_LABEL_MAX], const char *name);

#endif /* PRELOAD_PROCESS_H */
