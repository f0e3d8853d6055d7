/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The description of a kind of P4 programs, by which the engine pushes to switches: the objects
 * that a push changes, and the functions that only this kind knows.
 *
 * A kind defines two types, which the engine passes as pointers to void: a wish, the configuration
 * that the user wants, and a state, which holds all objects, as they are in a switch or as they are
 * wanted.
 */
#ifndef SWITCH_KIND_H
#define SWITCH_KIND_H

#include <stddef.h>

#include "steps.h"
#include "tools/dartctl/switch/bmv2/program.h"

/* Where a switch keeps objects, and who accesses them. */
enum switch_place {
	SWITCH_TABLE, /* entries of a table: the engine reads and changes them */
	SWITCH_SESSION, /* mirror sessions 1 + number, whose value is a port: it changes them */
	SWITCH_REGISTER, /* elements of a register: apply() changes them */
	SWITCH_ELSEWHERE, /* other objects: apply() changes them */
};

/* How the line of a step names the objects. */
enum switch_label {
	SWITCH_NUMBERED, /* "share 0-511"; without a number if the table has no key */
	SWITCH_FROM_ONE, /* "session 1", for number 0 */
	SWITCH_NAMED, /* "otherwise absent", by name_of() */
	SWITCH_BY_ADDRESS, /* "responses of 10.0.0.1": the first 32 bits of the key */
	SWITCH_COUNTED, /* "stash: 2 entries" */
	SWITCH_TOGETHER, /* "cache": all of them */
};

/* One sort of objects that a push adds, changes and removes. */
struct switch_object {
	const char *name; /* in the lines of steps */
	enum switch_place place;
	enum switch_label label;
	/* names and widths of the values; NULL if the objects are not struct switch_entry */
	const struct switch_table *table;
	size_t offset; /* of the array of struct switch_entry in a state */
	/* for SWITCH_NAMED: the member in JSON, and its value; NULL if unknown */
	const char *member;
	const char *(*name_of)(uint32_t number);
};

/* A switch that steps change. */
struct switch_change {
	const struct switch_kind *kind;
	struct thrift *thrift;
	const void *now, *wanted; /* states */
	struct dart_error *error;
};

/* The functions return 0, or -errno with a sentence in @error; without @error, 0 or -ENOMEM. */
struct switch_kind {
	struct switch_needs needs;
	const struct switch_object *objects; /* by the numbers that steps contain */
	uint32_t object_count;
	size_t state_size;

	/* Does @program suit @wish? */
	int (*check)(const struct switch_program *program, const void *wish,
		     struct dart_error *error);
	/* Prepares a state, whose bytes are 0, for @program; NULL: nothing to do. */
	int (*prepare)(void *state, const struct switch_program *program, struct dart_error *error);
	/* Frees the memory that a state refers to; NULL: nothing to do. */
	void (*release)(void *state);
	/* Reads the objects that are not entries of tables. */
	int (*read)(struct thrift *thrift, const void *wish, void *state, struct dart_error *error);
	/* Writes the state to @wanted that a switch with the state @now should get. */
	int (*want)(const void *wish, const void *now, void *wanted);
	/*
	 * Lists the steps from @now to @wanted in a safe order.  @last: as in struct switch_push,
	 * or NULL.
	 */
	int (*compute)(const void *now, const void *wanted, const void *last,
		       struct switch_steps *steps);
	/* Takes @step for one object whose place the engine cannot change. */
	int (*apply)(const struct switch_change *change, const struct switch_step *step,
		     uint32_t number);
};

/* The entry @number of the objects @object in @state. */
static inline struct switch_entry *
switch_state__entry(const void *state, const struct switch_object *object, uint32_t number)
{
	return (struct switch_entry *)((char *)state + object->offset) + number;
}

#endif /* SWITCH_KIND_H */
