/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that fields of entries have as metrics, from the YAML files of a directory:
 * dart_metrics(5) describes them.
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

/* A label of a series: a constant text, or what the entry, its row or the host says. */
enum name_label_kind {
	NAME_LABEL_CONSTANT,
	NAME_LABEL_SELECTOR,
	NAME_LABEL_NETNS,
	NAME_LABEL_NODE_NAME,
	NAME_LABEL_BOOT_ID,
	NAME_LABEL_HOST_ID,
	NAME_LABEL_FIELD, /* a text or address of the row, or a number */
};

struct name_label {
	const char *name;
	const char *text; /* the constant, or the name of the field */
	enum name_label_kind kind;
};

/* A field, or a constant. */
struct name_term {
	const char *field; /* NULL: the constant */
	uint64_t constant;
	bool is_minus;
};

/* A sum of terms, with labels beside those of the series. */
struct name_value {
	const struct name_term *terms;
	const struct name_label *labels; /* all constant */
	uint32_t term_count;
	uint32_t label_count;
	uint32_t family;
};

/* Values of one source, which share labels and scale. */
struct name_series {
	const char *source;
	const char *rows; /* label with the number of a copy or row; NULL: none */
	const struct name_label *labels;
	const struct name_value *values;
	const char *when; /* a field: no point unless it is above 0; NULL: none */
	const char *per; /* a field that the value is divided by; NULL: none */
	/* What becomes of the sum, in this order. */
	uint64_t mask; /* these bits of it; all: no mask */
	uint64_t equals; /* 1 if it is this number, or else 0 */
	uint64_t zero_from; /* 0 from this number on: the kernel's "no limit" */
	double scale; /* at last it is multiplied */
	bool has_equals;
	bool has_zero_from;
	uint32_t label_count;
	uint32_t value_count;
	uint32_t next; /* series of the same source; or NAMES_END */
};

#define NAMES_END UINT32_MAX
/* Of one series, with "rows" and those of a value. */
#define NAMES_LABELS_MAX 16
/* Beside the names of metric.h: of a family, a label or a unit. */
#define NAMES_LENGTH_MAX 200

struct name_family {
	const char *name;
	const char *help;
	const char *unit; /* "": none */
	enum metric_type type;
};

struct names {
	const struct name_family *families;
	uint32_t family_count;
	const struct name_series *series;
	uint32_t series_count;
};

/*
 * Loads all files *.yaml of @directory in the order of their names; families are unique
 * among all of them.  Returns 0; or -EINVAL, -ENOMEM or -errno of opening and reading, with a
 * sentence in @error that begins with FILE:LINE if a line is wrong.
 */
int names__load(const char *directory, struct names **names, struct dart_error *error);
/* One file: @length bytes, which @path names in messages. */
int names__parse(const void *bytes, size_t length, const char *path, struct names **names,
		 struct dart_error *error);
/* Beside the program, installed or just built; "" if that is unknown. */
void names__find_directory(char path[static PATH_MAX]);

/* In any thread.  names__get() returns @names; NULL is allowed in both. */
struct names *names__get(struct names *names);
void names__put(struct names *names);

/*
 * The first series of @source, or NAMES_END; @names may be NULL, which has none.  @source is
 * the entry's name up to '@' and '+'.
 */
uint32_t names__of_source(const struct names *names, const char *source);

#endif /* CONTROLLER_NAMES_H */
