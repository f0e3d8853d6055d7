/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An eBPF object that takes the samples of a source, either for the module or for a gatherer of
 * dartd: it has a program for each, of another type.
 */
#ifndef SAMPLE_OBJECT_H
#define SAMPLE_OBJECT_H

#include <bpf/libbpf.h>

#include <libdart/error.h>

/*
 * @source: the name, for errors.
 *
 * Opens an object of the @size bytes of an ELF file, in order to load its program of @type, and programs
 * that find variables of the kernel.  -EOPNOTSUPP: the kernel describes no types.
 */
int sample_object__open(const void *elf, size_t size, enum bpf_prog_type type, const char *source,
			struct bpf_object **object, struct dart_error *error);
/*
 * Loads it, and finds its variables.  -EOPNOTSUPP: this kernel has other structures or variables;
 * -EPERM: it refuses the program, or hides the addresses of the variables.
 */
int sample_object__load(struct bpf_object *object, const char *source, struct dart_error *error);

#endif /* SAMPLE_OBJECT_H */
