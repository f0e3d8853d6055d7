/* SPDX-License-Identifier: GPL-2.0-only */
/* The contents of an invented host. */
#ifndef BENCH_INVENTED_CONTENTS_H
#define BENCH_INVENTED_CONTENTS_H

#include <stdbool.h>

struct made;

struct invented_size {
	unsigned int cpus, containers;
	unsigned int series;	/* at least; filled up by families of no meaning */
	bool is_hostile;	/* labels with markup, control characters, and 255 characters */
};

/* Adds all series of a host of this size. */
void made__fill(struct made *made, const struct invented_size *size);

#endif /* BENCH_INVENTED_CONTENTS_H */
