/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An eBPF object that takes the samples of a source.  It contains a program for the module and a
 * program of another type for a gatherer of dartd.  Errors are reasons without a subject, for
 * sample_object__refuse(): several sources can have one object.
 */
#ifndef SAMPLE_OBJECT_H
#define SAMPLE_OBJECT_H

#include <bpf/libbpf.h>

#include <libdart/error.h>

/*
 * Opens an object from the @size bytes of an ELF file, in order to load its program of @type, and
 * programs that find variables of the kernel.  Errors as of bpf_trial__run().
 */
int sample_object__open(const void *elf, size_t size, enum bpf_prog_type type,
			struct bpf_object **object, struct dart_error *error);
/*
 * Loads the object, and finds its variables.  -EOPNOTSUPP: this kernel uses other structures or
 * variables; -EPERM: it refuses the program.
 */
int sample_object__load(struct bpf_object *object, struct dart_error *error);

/* Sets @error to the sentence that @source cannot be sampled for this @reason.  Returns @ret. */
int sample_object__refuse(const char *source, int ret, const struct dart_error *reason,
			  struct dart_error *error);

#endif /* SAMPLE_OBJECT_H */
