/* SPDX-License-Identifier: GPL-2.0-only */
/* A P4 program of dart-zero, as p4c compiles it for BMv2. */
#ifndef SWITCH_PROGRAM_H
#define SWITCH_PROGRAM_H

#include <jansson.h>

#include <libdart/error.h>

#include "entry.h"
#include "tools/dartctl/switch/thrift/thrift.h"

#define SWITCH_HASHES_MAX 256

/* A CRC-32 of the program whose polynomial is set at run time. */
struct switch_hash {
	const char *name; /* of the calculation */
	uint32_t polynomial; /* from <dart/store.h> or <dart/tea.h> */
};

struct switch_program {
	json_t *json; /* holds the names */
	uint32_t hash_count;
	struct switch_hash hashes[SWITCH_HASHES_MAX];
};

/* The parts that a program must have so that it can be set up. */
struct switch_needs {
	const struct switch_table *tables;
	uint32_t table_count;
	const struct switch_register *registers;
	uint32_t register_count;
	const struct switch_polynomial *polynomials;
	uint32_t polynomial_count;
};

struct switch_register {
	const char *name;
	uint32_t size; /* elements that the register must have at least */
};

struct switch_polynomial {
	const char *field; /* that receives the CRC */
	uint32_t polynomial;
	bool is_needed; /* by all such programs */
};

/*
 * Takes the reference to @json.  Returns 0, or -errno with a sentence in @error
 * that names the missing parts.
 */
int switch_program__parse(struct switch_program *program, const struct switch_needs *needs,
			  json_t *json, struct dart_error *error);
/* Reads the program that the switch runs.  Returns as switch_program__parse() does. */
int switch_program__read(struct switch_program *program, const struct switch_needs *needs,
			 struct thrift *thrift, struct dart_error *error);
void switch_program__free(struct switch_program *program);

bool switch_program__has_hash(const struct switch_program *program, uint32_t polynomial);
/* A table in its JSON, or NULL. */
json_t *switch_program__table(const struct switch_program *program, const char *name);

/*
 * Sets the polynomials of all hashes.  A switch does not tell them, so each push sets them.
 * Returns 0, or -errno with a sentence in @error.
 */
int switch_program__set_polynomials(const struct switch_program *program, struct thrift *thrift,
				    struct dart_error *error);

#endif /* SWITCH_PROGRAM_H */
