/* SPDX-License-Identifier: GPL-2.0-only */
/* A plan while its series are being invented, in any order. */
#ifndef BENCH_INVENTED_MADE_H
#define BENCH_INVENTED_MADE_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/controller/metrics/metric/metric.h"

#include "invented_motion.h"

#define LABELS_MAX 2

/* A series, with the members of its family. */
struct row {
	const char *family;
	const char *name;
	const char *help;
	const char *unit;
	enum metric_type type;
	struct invented_motion motion;
	struct metric_label labels[LABELS_MAX];
	uint32_t label_count;
	char *text;
};

struct made {
	struct row *rows;
	size_t count, capacity;
	/* All texts of rows that are not constants. */
	char **texts;
	size_t text_count, text_capacity;
	struct metric_family *families;
	struct metric_series *series;
	bool has_failed;
};

/* A family, and how its series move. */
struct kind {
	const char *family, *help, *unit;
	enum metric_type type;
	enum invented_shape shape;
	double base;
};

/* Prints a text that lives as long as @made; NULL, and has_failed: out of memory. */
__attribute__((format(printf, 2, 3))) char *made__print(struct made *made, const char *format, ...);
/* Adds a series. Labels are in the order of their names; @second may be NULL, as @first. */
struct row *made__add(struct made *made, const struct kind *kind, const struct metric_label *first,
		      const struct metric_label *second);
void made__free(struct made *made);

#endif /* BENCH_INVENTED_MADE_H */
