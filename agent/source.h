/* SPDX-License-Identifier: GPL-2.0-only */
/* The sources: what of the kernel's per-CPU variables is exposed, as what. */
#ifndef SOURCE_H
#define SOURCE_H

#include <linux/dart_zero.h>
#include <stdbool.h>

/* A member of the variable, or of a struct in it, that becomes a counter. */
struct source_member {
	const char *name;
	const char *unit;
	bool optional;		/* other kernels have another instead */
};

struct source {
	const char *name;	/* of the entry */
	enum dart_zero_source id;

	/*
	 * Either: in the variable, a struct, is an array of counters, whose
	 * elements an enum names.  The enum's last value counts the others.
	 */
	const char *array;	/* the member */
	const char *elements;	/* the enum */
	const char *prefix;	/* cut off the names of the enum */
	const char *unit;

	/* Or: these members, as far as the kernel has them; ends with NULL. */
	const struct source_member *members;
};

/* NULL if there is no source of this name. */
const struct source *source__find(const char *name);

#endif /* SOURCE_H */
