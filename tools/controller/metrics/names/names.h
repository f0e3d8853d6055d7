/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The metric names of the fields of entries, read from the YAML files of a directory;
 * dart_metrics(5) describes the files.
 *
 * Immutable once loaded, and counted: plans hold the names that they use.
 */
#ifndef CONTROLLER_NAMES_H
#define CONTROLLER_NAMES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#include "tools/controller/metrics/metric/metric.h"

/* The source of a label's value: a constant text, the entry, its row or the host. */
enum name_label_kind {
	NAME_LABEL_CONSTANT,
	NAME_LABEL_SELECTOR,
	NAME_LABEL_APPLICATION, /* the selector before an instance in brackets */
	NAME_LABEL_INSTANCE, /* in brackets at the end of the selector */
	NAME_LABEL_NETNS,
	NAME_LABEL_NODE_NAME,
	NAME_LABEL_BOOT_ID,
	NAME_LABEL_HOST_ID,
	NAME_LABEL_FIELD, /* a text, an address or a number of the row */
};

struct name_label {
	const char *name;
	const char *text; /* the constant, or the field's name */
	enum name_label_kind kind;
};

/* One term of a sum: a field or a constant. */
struct name_term {
	const char *field; /* NULL if the term is the constant */
	uint64_t constant;
	bool is_minus;
};

/* A sum of terms, with labels in addition to the series' own. */
struct name_value {
	const struct name_term *terms;
	const struct name_label *labels; /* all of them constant */
	uint32_t term_count;
	uint32_t label_count;
	uint32_t family;
};

/* What becomes of a sum below 0: it stays, or 0 replaces it. */
enum name_sign {
	NAME_SIGN_OF_FIELDS, /* stays if any field of the sum is signed */
	NAME_SIGN_SIGNED,
	NAME_SIGN_UNSIGNED,
};

/* Values of one source, which share labels and scale. */
struct name_series {
	const char *source;
	const char *rows; /* label for the number of a copy or row; NULL: no label */
	const struct name_label *labels;
	const struct name_value *values;
	/*
	 * Name of a field that must exceed 0, or equal @when_equals, or the point is left out;
	 * NULL: no condition.
	 */
	const char *when;
	uint64_t when_equals;
	const char *per; /* name of the field that divides the value; NULL: no division */
	/* Conversions of the sum, in this order. */
	uint64_t mask; /* keep these bits; all bits: no mask */
	uint64_t equals; /* 1 if the sum equals this number, otherwise 0 */
	uint64_t above; /* 1 if the sum exceeds this number, otherwise 0 */
	uint64_t zero_from; /* 0 if the sum is at least this number: the kernel's "no limit" */
	double scale; /* factor of the result */
	bool has_when_equals;
	bool has_equals;
	bool has_above;
	bool has_zero_from;
	enum name_sign sign;
	uint32_t label_count;
	uint32_t value_count;
	uint32_t next; /* next series of the same source; or NAMES_END */
};

#define NAMES_END UINT32_MAX
/* Largest number of labels of one series, including "rows" and the labels of a value. */
#define NAMES_LABELS_MAX 16
/* Longest name of a family, a label or a unit, in addition to the rules of metric.h. */
#define NAMES_LENGTH_MAX 200

struct name_family {
	const char *name;
	const char *help;
	const char *unit; /* "": no unit */
	enum metric_type type;
};

struct names {
	const struct name_family *families;
	uint32_t family_count;
	const struct name_series *series;
	uint32_t series_count;
};

/*
 * Loads all files *.yaml of @directory in the order of their names; the name of a family must be
 * unique among all files. Returns 0; or -EINVAL, -ENOMEM or -errno of opening and reading, with a
 * sentence in @error that begins with FILE:LINE if a line is wrong.
 */
int names__load(const char *directory, struct names **names, struct dart_error *error);
/* Loads one file of @length bytes; messages call it @path. */
int names__parse(const void *bytes, size_t length, const char *path, struct names **names,
		 struct dart_error *error);
/*
 * Finds the directory relative to the program, installed or just built; "" if the program's own
 * path is unknown.
 */
void names__find_directory(char path[static PATH_MAX]);

/* Callable from any thread. names__get() returns @names; both ignore NULL. */
struct names *names__get(struct names *names);
void names__put(struct names *names);

/*
 * Returns the first series of @source, or NAMES_END; NULL @names contain no series. @source is the
 * entry's name up to '@' and '+'.
 */
uint32_t names__of_source(const struct names *names, const char *source);

#endif /* CONTROLLER_NAMES_H */
