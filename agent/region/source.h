/* SPDX-License-Identifier: GPL-2.0-only */
/* The sources: windows on per-CPU variables of the kernel, and samples; and their fields. */
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
	const char *name;	/* in the kernel's types; NULL ends a list */
	const char *shown;	/* ignored if the types have this name as well */
};

/*
 * A part of the variable, a struct: a member, all elements of an array, or every integer.  Each
 * becomes one or more fields.
 */
struct source_part {
	const char *member;	/* "outer.inner", NULL for every integer */
	const char *unit;	/* NULL ends the list of parts */
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
	 * Fields have the names in /proc, in lower case.  Where the kernel's types have other
	 * names, @aliases lists them, or the lines of the file @listed_in begin with the names, in
	 * the order of the elements.
	 */
	const struct source_alias *aliases;
	const char *listed_in;

	const struct source_counter *known;	/* or NULL */
	bool is_only_known;	/* other counters are left out */
};

#define SOURCE_PARTS_MAX 8

/* The kind of object of which a source has one set of values for each. */
enum source_selector {
	SOURCE_SELECTOR_NONE,
	SOURCE_SELECTOR_NETNS,
	SOURCE_SELECTOR_NETDEV,		/* in a network namespace */
	SOURCE_SELECTOR_DISK,
	SOURCE_SELECTOR_CGROUP,
	SOURCE_SELECTOR_FILESYSTEM,	/* a mount point */
};

/* The objects of a source that "dartctl register host" takes. */
enum source_in_host {
	SOURCE_IN_HOST_ALL,		/* all */
	SOURCE_IN_HOST_OWN,		/* the namespace of dartd */
	SOURCE_IN_HOST_ELSEWHERE,	/* none: covered by another source, or too expensive */
	SOURCE_IN_HOST_RARELY,		/* all, but gathered more rarely: see whole_host.h */
};

/* The objects for which a gathered record has a row each. */
enum source_rows {
	SOURCE_ROWS_NONE,		/* one row: the sum */
	SOURCE_ROWS_CPU,		/* online CPUs */
	SOURCE_ROWS_NODE,		/* online NUMA nodes */
	SOURCE_ROWS_PORT,		/* ports of an RDMA device */
	SOURCE_ROWS_DEVICE,		/* devices that the object has used */
};

struct source {
	const char *name;	/* of the entry, or its beginning, before "@" */
	const char *description;	/* one line */
	enum dart_zero_source id;
	enum source_selector selector;
	bool lags;		/* DART_CONTROL_FIELD_LAGS */
	bool lags_not_gathered;	/* the module brings values up to date when it gathers them */
	enum source_in_host in_host;
	enum source_rows rows;	/* of a gathered record */
	/* Fields of a sample, ended by a name of NULL; or NULL, then @parts finds them in BTF. */
	const struct dart_field *(*fields)(void);
	struct source_part parts[SOURCE_PARTS_MAX];
};

/* A name of NULL ends the list. */
extern const struct source sources[];

/* NULL if there is no source of this name. */
const struct source *source__find(const char *name);
/* True if a request can follow all objects of its kind. */
bool source__can_be_followed(const struct source *source);
/* The field with the number of a row; NULL if records of the source have one row. */
const char *source__row_field(const struct source *source);

#endif /* SOURCE_H */
