/* SPDX-License-Identifier: GPL-2.0-only */
/* An executable or a shared object as it lies in the memory of a process, which is hostile. */
#ifndef APPLICATION_ELF_IMAGE_H
#define APPLICATION_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/application/location.h>

#define ELF_IMAGE_HEADERS_MAX 64
#define ELF_IMAGE_SONAME_MAX 256

struct elf_image {
	int memory; /* /proc/PID/mem, the caller's */
	uint64_t base; /* what virtual addresses of the file are counted from */
	Elf64_Phdr headers[ELF_IMAGE_HEADERS_MAX]; /* program headers */
	uint32_t header_count;
};

/*
 * Fetches @length bytes at @address.  Returns 0; -ESRCH if the process has ended or executes
 * another program; -EFAULT if a byte is not there.
 */
int elf_image__fetch(int memory, uint64_t address, void *bytes, size_t length);

/*
 * Reads the headers at @address.  Returns 0, -ENOEXEC if no 64-bit ELF file begins there, or -errno
 * as above.
 */
int elf_image__open(struct elf_image *image, int memory, uint64_t address);
/* Finds the build-id.  Returns 0, -ENOEXEC without one, or -errno as above. */
int elf_image__build_id(const struct elf_image *image, struct dart_application_build_id *id);
/* Is @soname the name of the shared object? */
bool elf_image__is_called(const struct elf_image *image, const char *soname);

#endif /* APPLICATION_ELF_IMAGE_H */
