/* SPDX-License-Identifier: GPL-2.0-only */
/* The sources: what of the kernel's per-CPU variables is exposed, as what. */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/control.h>
#include <linux/dart_zero.h>

/* A counter of which more is known than of the others beside it. */
struct source_counter {
	const char *name;	/* of the field; NULL ends a list */
	const char *unit;
	bool is_gauge;
};

/*
 * What of the variable, a struct, becomes fields: a member, all elements of an
 * array, or every integer.
 */
struct source_part {
	const char *member;	/* "outer.inner", NULL for every integer */
	const char *unit;	/* NULL behind the last part */
	bool is_gauge;
	bool is_optional;	/* not all kernels have it */

	/*
	 * Of an array: a value of the enum that names its elements, what is cut
	 * off both ends of these names, and the first one that is used.
	 */
	const char *elements;
	const char *prefix;
	const char *suffix;
	uint32_t first;
	bool is_qualified;	/* "member.element", not "element" */

	const struct source_counter *known; /* or NULL */
	bool is_only_known;	/* the others are none */
};

#define SOURCE_PARTS_MAX 8

/* What selects one of many sets of the same counters. */
enum source_selector {
	SOURCE_SELECTOR_NONE,
	SOURCE_SELECTOR_NETNS,
	SOURCE_SELECTOR_NETDEV,		/* in a network namespace */
	SOURCE_SELECTOR_DISK,
	SOURCE_SELECTOR_CGROUP,
};

struct source {
	const char *name;	/* of the entry, or what it begins with */
	const char *description;	/* one line */
	enum dart_zero_source id;
	enum source_selector selector;
	struct source_part parts[SOURCE_PARTS_MAX];
};

/* NULL if there is no source of this name. */
const struct source *source__find(const char *name);
/* Can all objects of a kind be followed? */
bool source__can_be_followed(const struct source *source);
/* Number @index from 0 on, NULL behind the last. */
const struct source *source__at(size_t index);

#endif /* SOURCE_H */
