/* SPDX-License-Identifier: GPL-2.0-only */
/* What an edition is made of, which its owner fills in, and the numbers of all editions. */
#ifndef CONTROLLER_EDITION_CONTENT_H
#define CONTROLLER_EDITION_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cut_readers.h"
#include "tools/controller/metrics/text/text.h"

struct edition_content;

/* All but free() is called in a maker, once, and take() before drop(). */
struct edition_content_operations {
	/* Sets targets and count of @content, the values to print.  Returns 0 or -ENOMEM. */
	int (*take)(struct edition_content *content);
	/* All is printed: releases the values. */
	void (*drop)(struct edition_content *content);
	/* After take(), in any thread: would a page of now be the same? */
	bool (*is_current)(const struct edition_content *content);
	/* In any thread; drop() may not have been called. */
	void (*free)(struct edition_content *content);
};

/* Begins what an edition is made of; a structure of the owner. */
struct edition_content {
	const struct edition_content_operations *operations;
	enum metric_text_format format;
	bool is_utf8; /* see metric_text__type() */
	/* Of the whole fleet: editions of one format and the same names are shared. */
	bool is_whole;
	const struct metric_text_target *targets;
	size_t count;
};

struct editions_counts {
	uint64_t made; /* editions */
	uint64_t readers; /* that were given one */
	uint64_t cut[CUT_REASONS]; /* readers that were cut off */
	uint64_t bytes; /* of chunks now */
	uint64_t limit; /* of them */
	unsigned int open; /* readers now */
};

#endif /* CONTROLLER_EDITION_CONTENT_H */
