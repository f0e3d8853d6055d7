/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layouts of applications: where the values of a running program lie, see dart_application(5).
 *
 * dartctl makes a layout from a description, a binary and its types.  The kernel module and dartd
 * follow it when they copy values out of a process.  A layout fits one build of a program.
 */
#ifndef DART_APPLICATION_LAYOUT_H
#define DART_APPLICATION_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libdart/application/entry.h>
#include <libdart/application/location.h>
#include <libdart/error.h>

#define DART_APPLICATION_MODULES_MAX 8
#define DART_APPLICATION_CHECKS_MAX 32
#define DART_APPLICATION_ENTRIES_MAX 256

/* An executable or a shared object that contains values. */
struct dart_application_module {
	char *soname; /* NULL for the executable, which is the first module */
	struct dart_application_build_id build_id; /* none: checks prove the build */
	bool is_address_space; /* of memory that describes itself: addresses are the process's own */
};

/* Memory that proves the build: an integer that must be @equals. */
struct dart_application_check {
	struct dart_application_location location;
	uint64_t equals; /* fits into @width bytes */
	uint8_t width; /* 1, 2, 4, 8 */
};

struct dart_application_layout {
	char *description; /* may be NULL */
	struct dart_application_module *modules;
	struct dart_application_check *checks;
	struct dart_application_entry *entries;
	uint32_t module_count; /* at least 1 */
	uint32_t check_count; /* at least 1 if a module has no build-id */
	uint32_t entry_count; /* at least 1 */
	uint32_t left_out; /* values of described memory that a table cannot carry */
};

/*
 * Reads a layout from @file, which may be hostile; @path is for messages.  Returns 0, or sets
 * @error, with the path and line, and returns -EINVAL, -EFBIG or -ENOMEM.  The caller frees
 * *@layout.
 */
int dart_application_layout__load(FILE *file, const char *path,
				  struct dart_application_layout **layout,
				  struct dart_error *error);
/* Have both the same entries at the same locations, and the same checks? */
bool dart_application_layout__equals(const struct dart_application_layout *one,
				     const struct dart_application_layout *other);
void dart_application_layout__free(struct dart_application_layout *layout);

#endif /* DART_APPLICATION_LAYOUT_H */
