/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats that types are read from: the functions that each one fills in. */
#ifndef APPLICATION_TYPES_FORMAT_H
#define APPLICATION_TYPES_FORMAT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

struct type {
	union {
		Dwarf_Die die;
		uint32_t id; /* of BTF */
	};
	uint32_t pointers; /* "rax *" is 1 above the type itself */
};

enum type_kind {
	TYPE_OTHER, /* void, functions, floating-point numbers */
	TYPE_INTEGER, /* and enumerations, truth values and characters */
	TYPE_POINTER,
	TYPE_ARRAY,
	TYPE_STRUCTURE, /* or union */
};

struct type_shape {
	enum type_kind kind;
	uint64_t size; /* bytes; 0 if the type is incomplete */
	uint64_t count; /* elements of an array; 0 if unknown, or if it has several dimensions */
	bool is_signed;
	bool is_character; /* an integer of one byte that is char by name */
};

/* All get types of the same @state; structures and targets are complete where the file says so. */
struct types_format {
	/* 0, or -ENODATA if @path has no types of this format, or -errno with a sentence */
	int (*open)(void **state, const char *path, struct dart_error *error);
	void (*close)(void *state);
	/*
	 * Calls @see for each definition of a type, until it returns a number other than 0, which is
	 * returned.  @tag: "struct", "union", "enum", or "" for typedefs and integers.
	 */
	int (*find)(void *state, const char *tag, const char *name,
		    int (*see)(void *into, const struct type *type), void *into);
	void (*shape)(void *state, const struct type *type, struct type_shape *shape);
	void (*target)(void *state, const struct type *type, struct type *target);
	/*
	 * Calls @see for each member with its name ("" for an anonymous one), type and offset in
	 * bytes, until it returns a number other than 0, which is returned.
	 */
	int (*members)(void *state, const struct type *type,
		       int (*see)(void *into, const char *name, const struct type *member,
				  uint64_t offset, bool is_bit_field),
		       void *into);
};

extern const struct types_format types_dwarf, types_btf;

#endif /* APPLICATION_TYPES_FORMAT_H */
