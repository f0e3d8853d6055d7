/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * eBPF programs that take samples for the module, of what modules cannot see.  The
 * kernel runs one when the module gathers a record of its source, and never otherwise;
 * so they stay loaded until dartd ends.
 */
#ifndef SAMPLE_PROGRAMS_H
#define SAMPLE_PROGRAMS_H

#include <bpf/libbpf.h>

#include <libdart/error.h>

#include "source.h"

#define SAMPLE_PROGRAMS_MAX 16

/* All NULL: none is loaded. */
struct sample_programs {
	struct bpf_object *objects[SAMPLE_PROGRAMS_MAX];
	struct bpf_link *links[SAMPLE_PROGRAMS_MAX];
};

/*
 * Loads the program of @source, unless it has none or it is loaded.  -EOPNOTSUPP: it
 * cannot run on this kernel.
 */
int sample_programs__load(struct sample_programs *programs,
			  const struct source *source,
			  struct dart_error *error);
void sample_programs__close(struct sample_programs *programs);

#endif /* SAMPLE_PROGRAMS_H */
