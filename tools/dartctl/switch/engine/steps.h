/* SPDX-License-Identifier: GPL-2.0-only */
/* A list of steps that bring a switch from one state to another, in the order of the list. */
#ifndef SWITCH_STEPS_H
#define SWITCH_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/dartctl/switch/bmv2/entry.h"

enum switch_verb {
	SWITCH_ADD,
	SWITCH_CHANGE,
	SWITCH_REMOVE,
	SWITCH_STOP, /* servers of lookup tables */
	SWITCH_START, /* likewise */
};

/* Does the same with all objects from @first to @last. */
struct switch_step {
	enum switch_verb verb;
	uint32_t object; /* index in the objects of the kind */
	uint32_t first, last;
};

/* An empty list is { .count = 0 }. */
struct switch_steps {
	size_t count, room;
	struct switch_step *list;
	bool is_out_of_memory; /* steps are missing */
};

/* Empties the list, but keeps its memory. */
void switch_steps__begin(struct switch_steps *steps);
void switch_steps__add(struct switch_steps *steps, enum switch_verb verb, uint32_t object,
		       uint32_t number);
/* The same; if @joins, makes one step of it and the last one if their objects are adjacent. */
void switch_steps__join(struct switch_steps *steps, enum switch_verb verb, uint32_t object,
			uint32_t number, bool joins);
/*
 * Steps for the entries of a table; adjacent entries that become equal are one step.
 * switch_steps__vacate() removes the entries that @leaves marks; switch_steps__fill() adds them
 * again, and adds and changes others, where @wanted contains them.  All arrays have @count
 * elements.
 */
void switch_steps__vacate(struct switch_steps *steps, uint32_t object, const bool *leaves,
			  uint32_t count);
void switch_steps__fill(struct switch_steps *steps, uint32_t object, const struct switch_entry *now,
			const struct switch_entry *wanted, const bool *leaves, uint32_t count);
/* Adds or changes an object unless @now equals @wanted; adds no step if @wanted is absent. */
void switch_steps__update(struct switch_steps *steps, uint32_t object,
			  const struct switch_entry *now, const struct switch_entry *wanted,
			  uint32_t number);
/* Returns 0, or -ENOMEM if a step did not fit into memory. */
int switch_steps__end(const struct switch_steps *steps);
void switch_steps__free(struct switch_steps *steps);

#endif /* SWITCH_STEPS_H */
