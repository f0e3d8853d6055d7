/* SPDX-License-Identifier: GPL-2.0-only */
/* The P4 program of dart-zero, as p4c compiles it for BMv2. */
#ifndef SWITCH_PROGRAM_H
#define SWITCH_PROGRAM_H

#include <jansson.h>

#include <libdart/error.h>

#include "state.h"

#define SWITCH_HASHES_MAX	256

/* A CRC-32 of the program whose polynomial is set at run time. */
struct switch_hash {
	const char *name;	/* of the calculation */
	uint32_t polynomial;	/* from <dart/store.h> */
};

struct switch_program {
	json_t *json;		/* holds the names */
	uint32_t hash_count;
	struct switch_hash hashes[SWITCH_HASHES_MAX];
};

/*
 * Takes the reference to @json.  Returns 0, or -errno with a sentence in @error
 * that names what the program lacks.
 */
int switch_program__read(struct switch_program *program, json_t *json,
			 struct dart_error *error);
void switch_program__free(struct switch_program *program);

/* Does it suit @wish?  Returns 0, or -errno with a sentence in @error. */
int switch_program__check(const struct switch_program *program,
			  const struct switch_wish *wish,
			  struct dart_error *error);

#endif /* SWITCH_PROGRAM_H */
