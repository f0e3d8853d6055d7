/* SPDX-License-Identifier: GPL-2.0-only */
/* Executables and shared objects, and the locations of their variables. */
#ifndef APPLICATION_BINARY_H
#define APPLICATION_BINARY_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/application/location.h>
#include <libdart/error.h>

struct binary {
	const char *path; /* the caller's */
	int fd;
	Elf *elf;
	GElf_Half machine; /* EM_... */
	struct dart_application_build_id build_id;
	const char *soname; /* of a shared object; or NULL */
};

/* Opens a 64-bit, little-endian ELF file with a build-id.  Returns 0 or -errno. */
int binary__open(struct binary *binary, const char *path, struct dart_error *error);
void binary__close(struct binary *binary);

/*
 * Finds the variable @name among the symbols that @binary defines, in .symtab and .dynsym: its
 * address, from the base that program headers count from, and its bytes.  Returns 0; -ENOENT;
 * -EOPNOTSUPP if it is not a variable that all threads share.
 */
int binary__find(const struct binary *binary, const char *name, uint64_t *address, uint64_t *size);

/*
 * Finds the variable that the function @name returns, if the function does nothing else:
 * "mov ADDRESS(%rip),%rax; ret", on x86-64.  Returns 0 or -errno.
 */
int binary__find_returned(const struct binary *binary, const char *name, uint64_t *address,
			  uint64_t *size, struct dart_error *error);

#endif /* APPLICATION_BINARY_H */
