/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An executable or a shared object as it lies in the memory of a process, which is hostile.
 *
 * Bytes are fetched by process_vm_readv(2), which sleeps while a page is fetched, from a file
 * system or a userfaultfd(2) of the process, but can be killed then: read(2) of /proc/PID/mem
 * cannot, and a program that sleeps in it does not even end.
 */
#ifndef APPLICATION_ELF_IMAGE_H
#define APPLICATION_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/application/location.h>

#define ELF_IMAGE_HEADERS_MAX 64
#define ELF_IMAGE_SONAME_MAX 256
/* Of a program: its headers and its build-id, in most cases. */
#define ELF_IMAGE_FIRST_BYTES 2048

/* The memory of a process; or the file of a program, whose addresses are offsets. */
struct elf_memory {
	pid_t pid; /* 0: a file */
	int file; /* /proc/PID/mem: tells whether @pid still has this memory */
};

struct elf_image {
	struct elf_memory memory; /* the caller's */
	uint64_t start; /* of @first */
	uint8_t first[ELF_IMAGE_FIRST_BYTES]; /* fetched at once, because each fetch is two calls */
	size_t first_length;
	uint64_t base; /* what virtual addresses of the file are counted from */
	Elf64_Phdr headers[ELF_IMAGE_HEADERS_MAX]; /* program headers */
	uint32_t header_count;
};

/*
 * Fetches @length bytes at @address.  Returns 0; -ESRCH if the process has ended or executes
 * another program; -EFAULT if a byte is not there.
 */
int elf_image__fetch(const struct elf_memory *memory, uint64_t address, void *bytes, size_t length);
/* Fetches the first bytes of @length that are there, and returns their number. */
size_t elf_memory__fetch_some(const struct elf_memory *memory, uint64_t address, void *bytes,
			      size_t length);
/*
 * False: the process has ended or executes another program.  Touches no page, so it never sleeps.
 */
bool elf_memory__lives(const struct elf_memory *memory);

/*
 * Reads the headers at @address.  Returns 0, -ENOEXEC if no 64-bit ELF file begins there, or -errno
 * as above.
 */
int elf_image__open(struct elf_image *image, const struct elf_memory *memory, uint64_t address);
/* Finds the build-id.  Returns 0, -ENOEXEC without one, or -errno as above. */
int elf_image__build_id(const struct elf_image *image, struct dart_application_build_id *id);
/* Is @soname the name of the shared object? */
bool elf_image__is_called(const struct elf_image *image, const char *soname);

#endif /* APPLICATION_ELF_IMAGE_H */
