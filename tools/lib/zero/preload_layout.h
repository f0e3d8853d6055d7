/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layouts of applications for libdartzero-preload, see dart_application(5): the form in which
 * dartctl application describe writes them, a line for each module and each field.  Other forms of
 * YAML are refused: a program gets no library for it.
 */
#ifndef PRELOAD_LAYOUT_H
#define PRELOAD_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "zero.h"

/* As of dart_application(5). */
#define PRELOAD_MODULES_MAX 8
#define PRELOAD_ENTRIES_MAX 256
#define PRELOAD_FIELDS_MAX 1024
#define PRELOAD_LAYOUT_BYTES_MAX (1 << 20)

#define PRELOAD_REASON_MAX 256

/* The executable comes first. */
struct preload_module {
	const char *soname; /* NULL: of the executable */
	const char *build_id; /* lower-case hexadecimal digits; NULL: checks prove the module */
};

struct preload_field {
	struct dart_zero_field shown; /* its offset comes later */
	uint64_t address; /* from the same base as the program headers of the module */
	uint32_t module;
	bool is_pointed_to; /* the value is not there, but where a pointer leads to */
};

struct preload_entry {
	const char *name;
	bool has_rows;
	struct preload_field *fields;
	uint32_t field_count;
};

struct preload_layout {
	char *text; /* which all strings lie in */
	struct preload_module modules[PRELOAD_MODULES_MAX];
	uint32_t module_count;
	struct preload_entry *entries;
	uint32_t entry_count;
};

/*
 * Reads @path.  Returns 0; -ENOENT: there is no such file; another -errno with the sentence in
 * @reason.  preload_layout__free() frees the layout only after 0.
 */
int preload_layout__read(const char *path, struct preload_layout *layout,
			 char reason[static PRELOAD_REASON_MAX]);
void preload_layout__free(struct preload_layout *layout);

#endif /* PRELOAD_LAYOUT_H */
