/* SPDX-License-Identifier: GPL-2.0-only */
/* The sources: per-CPU variables of the kernel and the fields they expose. */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/table/schema.h>
#include <linux/dart_zero.h>

/* A counter whose unit or kind differs from the rest of its part. */
struct source_counter {
	const char *name;	/* in the kernel's types; NULL ends a list */
	const char *unit;
	bool is_gauge;
};

/* A counter that files in /proc show under another name than the kernel's types. */
struct source_alias {
	const char *name;	/* in the types; NULL ends a list */
	const char *shown;	/* not used if the types have this name, too */
};

/*
 * A part of the variable, a struct, that becomes fields: a member, all elements
 * of an array, or every integer.
 */
struct source_part {
	const char *member;	/* "outer.inner", NULL for every integer */
	const char *unit;	/* NULL behind the last part */
	bool is_gauge;
	bool is_optional;	/* some kernels lack it */

	/*
	 * For an array: a value of the enum that names its elements, the prefix
	 * and suffix to strip from these names, and the first element used.
	 */
	const char *elements;
	const char *prefix;
	const char *suffix;
	uint32_t first;
	bool is_qualified;	/* "member.element", not "element" */

	/*
	 * Names of the fields are those of /proc in lower case.  Where they
	 * differ from those of the types: a list, or a file whose lines begin
	 * with all names in the order of the elements.
	 */
	const struct source_alias *aliases;
	const char *listed_in;

	const struct source_counter *known;	/* or NULL */
	bool is_only_known;	/* other counters are left out */
};

#define SOURCE_PARTS_MAX 8

/* The kind of object that selects one of many sets of the same counters. */
enum source_selector {
	SOURCE_SELECTOR_NONE,
	SOURCE_SELECTOR_NETNS,
	SOURCE_SELECTOR_NETDEV,		/* in a network namespace */
	SOURCE_SELECTOR_DISK,
	SOURCE_SELECTOR_CGROUP,
	SOURCE_SELECTOR_FILESYSTEM,	/* a mount point */
};

/* What a whole host has of a source. */
enum source_in_host {
	SOURCE_IN_HOST_ALL,		/* of all objects */
	SOURCE_IN_HOST_OWN,		/* of the namespace of dartd */
	SOURCE_IN_HOST_ELSEWHERE,	/* nothing: another has it, or it costs too much */
	SOURCE_IN_HOST_RARELY,		/* of all objects, see whole_host.h */
};

/* What a gathered record has a row for each of. */
enum source_rows {
	SOURCE_ROWS_NONE,		/* it is a sum */
	SOURCE_ROWS_CPU,		/* online */
	SOURCE_ROWS_NODE,		/* of NUMA, online */
	SOURCE_ROWS_PORT,		/* of RDMA */
	SOURCE_ROWS_DEVICE,		/* that the object has used */
};

struct source {
	const char *name;	/* of the entry, or the beginning of it */
	const char *description;	/* one line */
	enum dart_zero_source id;
	enum source_selector selector;
	bool lags;		/* DART_CONTROL_FIELD_LAGS */
	bool lags_not_gathered;	/* the module brings a record of it up to date */
	enum source_in_host in_host;
	enum source_rows rows;	/* if gathered */
	/* Fields of a sample, ended by a name of NULL; or NULL, then @parts finds them in BTF. */
	const struct dart_field *(*fields)(void);
	struct source_part parts[SOURCE_PARTS_MAX];
};

/* A name of NULL ends the list. */
extern const struct source sources[];

/* NULL if there is no source of this name. */
const struct source *source__find(const char *name);
/* True if all objects of its kind can be followed. */
bool source__can_be_followed(const struct source *source);
/* The field with the number of a row; NULL: records of the source are sums. */
const char *source__row_field(const struct source *source);

#endif /* SOURCE_H */
