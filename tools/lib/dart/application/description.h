/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptions of applications: the values of a program by the names that its source gives them,
 * see dart_application(5).  With a binary and its types they become a layout.
 */
#ifndef DART_APPLICATION_DESCRIPTION_H
#define DART_APPLICATION_DESCRIPTION_H

#include <stdint.h>
#include <stdio.h>

#include <dart/control.h>
#include <libdart/application/location.h>
#include <libdart/error.h>

/* Each line is the one where the object begins in the file, for messages. */

/* Where an object without a symbol lies in one build. */
struct dart_description_address {
	struct dart_application_build_id build_id;
	uint64_t address; /* from the base that the program headers count from */
};

/* An object of the program that values are parts of. */
struct dart_description_symbol {
	char *name;
	char *type; /* "struct redisServer", "rax *" */
	char *soname; /* of the shared object that contains it; NULL: the executable */
	char *getter; /* a function that only returns the object; may be NULL */
	struct dart_description_address *addresses;
	uint32_t address_count;
	unsigned int line;
};

struct dart_description_check {
	char *value; /* an expression */
	uint64_t equals;
	unsigned int line;
};

struct dart_description_field {
	char *name;
	char *value; /* an expression, such as "server.clients->len" */
	char *unit; /* may be NULL */
	enum dart_control_field_kind kind;
	uint32_t width; /* bytes of a text that a pointer leads to; 0: by its type */
	unsigned int line;
};

struct dart_description_entry {
	char *name;
	char *rows_symbol; /* an array, whose elements are the rows; NULL: one row */
	uint32_t rows; /* at least 1 */
	struct dart_description_field *fields;
	uint32_t field_count; /* at least 1 */
	unsigned int line;
};

struct dart_description {
	char *description; /* may be NULL */
	struct dart_description_symbol *symbols;
	struct dart_description_check *checks;
	struct dart_description_entry *entries;
	uint32_t symbol_count; /* at least 1 */
	uint32_t check_count;
	uint32_t entry_count; /* at least 1 */
};

/*
 * Reads a description from @file, which may be hostile; @path is for messages.  Returns 0, or sets
 * @error, with the path and line, and returns -EINVAL, -EFBIG or -ENOMEM.  Expressions and types
 * are texts: only a binary shows whether they are right.  The caller frees *@description.
 */
int dart_description__load(FILE *file, const char *path, struct dart_description **description,
			   struct dart_error *error);
void dart_description__free(struct dart_description *description);

#endif /* DART_APPLICATION_DESCRIPTION_H */
