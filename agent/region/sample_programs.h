/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * eBPF programs that take samples which the module cannot take.  The kernel runs a program when
 * the module gathers a record of its source, and never otherwise.  A program stays loaded while a
 * record of its source exists.
 */
#ifndef SAMPLE_PROGRAMS_H
#define SAMPLE_PROGRAMS_H

#include <bpf/libbpf.h>

#include <libdart/error.h>

#include "source.h"

/* The number of samples. */
enum {
	SAMPLE_PROGRAMS_MAX = 0
#define DART_ZERO_SAMPLE(...) + 1
#include <linux/dart_zero_samples.def>
};

/* All NULL: no program is loaded. */
struct sample_programs {
	struct bpf_object *objects[SAMPLE_PROGRAMS_MAX];
	struct bpf_link *links[SAMPLE_PROGRAMS_MAX];
	uint32_t users[SAMPLE_PROGRAMS_MAX];
};

/* The ELF file with the programs of @source; NULL: its samples need no program. */
const void *(*sample_programs__object(enum dart_zero_source source))(size_t *size);

/*
 * Takes the program of @source, which is loaded for its first user.  Does nothing for a source
 * without a program, or whose program is optional and cannot be loaded.  -EOPNOTSUPP: the program
 * cannot run on this kernel.
 */
int sample_programs__take(struct sample_programs *programs, const struct source *source,
			  struct dart_error *error);
/* Call this after a record of @source was removed.  The last user unloads the program. */
void sample_programs__give(struct sample_programs *programs, enum dart_zero_source source);
void sample_programs__close(struct sample_programs *programs);

#endif /* SAMPLE_PROGRAMS_H */
