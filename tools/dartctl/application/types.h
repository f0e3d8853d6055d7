/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of a program: from DWARF (version 5, and 2 to 4) by libdw, or from BTF by libbpf.  Names of
 * typedefs and qualifiers, among them _Atomic of C11, never hide a type.
 */
#ifndef APPLICATION_TYPES_H
#define APPLICATION_TYPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#include "types_format.h"

/* Of a file; the caller closes them, and no type is used later. */
struct types;

/*
 * Reads the types in @path: an object file or a debug file with DWARF, an ELF file with a section
 * .BTF, or BTF alone.  Returns 0 or -errno.
 */
int types__open(struct types **types, const char *path, struct dart_error *error);
void types__close(struct types *types);

/*
 * Finds a type by its name as C spells it: "struct redisServer", "rax *", "long unsigned int".
 * Returns 0, -ENOENT or -EINVAL; -ENOTUNIQ: source files of the program have different types of this
 * name.
 */
int types__find(const struct types *types, const char *name, struct type *type,
		struct dart_error *error);
void types__shape(const struct types *types, const struct type *type, struct type_shape *shape);
/* The type that a pointer points to, or of the elements of an array. */
void types__target(const struct types *types, const struct type *type, struct type *target);
/*
 * Finds the member @name of a structure or union, also inside anonymous ones, and its offset in
 * bytes.  Returns 0; -ENOENT; -EOPNOTSUPP for a bit-field.
 */
int types__member(const struct types *types, const struct type *type, const char *name,
		  struct type *member, uint64_t *offset);

#endif /* APPLICATION_TYPES_H */
