/* SPDX-License-Identifier: GPL-2.0-only */
/* How each source is gathered without the module. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>
#include <linux/dart_zero.h>
#include <linux/dart_zero_samples.h>

#include "agent/region/source.h"
#include "bpf/gather/exchange.h"
#include "own_sample.h"

/* An eBPF program that answers questions, with its object: see bpf/gather/exchange.h. */
struct gather_program {
	const char *name;
	enum dart_zero_source source; /* source whose sample object contains it, or NONE */
	const void *(*object)(size_t *size); /* its own ELF file, or NULL */
};

enum gather_object {
	GATHER_OBJECT_NONE, /* the host */
	GATHER_OBJECT_NETNS,
	GATHER_OBJECT_NETDEV,
	GATHER_OBJECT_DISK,
	GATHER_OBJECT_CGROUP,
	GATHER_OBJECT_FILESYSTEM,
};

struct subject {
	enum dart_zero_source source;
	enum gather_object object;
	/* The variable or type of the kernel in BTF, or the struct of a sample. */
	const char *name;
	uint32_t length; /* bytes of a copy; 0: this kernel lacks it */
	bool is_sample;
	enum source_rows rows; /* of a sample */
	int program; /* index for subject__program(), or -1 */
	const struct own_sample_kind *own; /* dartd samples by itself; or NULL */
};

/* Finds the lengths of the kernel's types; call it once, before all other functions. */
int subjects__open(struct dart_error *error);

/* Returns NULL if dartd cannot gather @source without the module. */
const struct subject *subject__find(enum dart_zero_source source);

/* The subject of DART_ZERO_SOURCE_NETDEV for a device with counters of this kind. */
const struct subject *subject__of_statistics(enum gather_statistics statistics);

/* The number of programs. */
int subject__program_count(void);
const struct gather_program *subject__program(int index);
/* Returns the ELF file of @program. */
const void *gather_program__object(const struct gather_program *program, size_t *size);

#endif /* SUBJECT_H */
