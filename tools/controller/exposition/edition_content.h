/* SPDX-License-Identifier: GPL-2.0-only */
/* The content of an edition, which its owner supplies, and the counts of all editions. */
#ifndef CONTROLLER_EDITION_CONTENT_H
#define CONTROLLER_EDITION_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cut_readers.h"
#include "tools/controller/metrics/text/text.h"

struct edition_content;

struct edition_content_operations {
	/*
	 * A maker calls it once, first: sets the targets of @content, the values to print, and
	 * their count.  Returns 0 or -ENOMEM.
	 */
	int (*take)(struct edition_content *content);
	/* A maker calls it once, after printing or a failure: releases the values. */
	void (*drop)(struct edition_content *content);
	/* Called after take(), in any thread: true if a page of now would be the same. */
	bool (*is_current)(const struct edition_content *content);
	/* Called in any thread, and also without drop(). */
	void (*free)(struct edition_content *content);
};

/* The first member of a structure of the owner. */
struct edition_content {
	const struct edition_content_operations *operations;
	enum metric_text_format format;
	bool is_utf8; /* see metric_text__type() */
	/* The whole fleet: readers share editions of the same format and form of names. */
	bool is_whole;
	const struct metric_text_target *targets;
	size_t count;
};

struct editions_counts {
	uint64_t made; /* complete editions */
	uint64_t readers; /* readers so far */
	uint64_t cut[CUT_REASONS]; /* readers that were cut off */
	uint64_t bytes; /* memory of all chunks now */
	uint64_t limit; /* bound of bytes */
	unsigned int open; /* readers now */
};

#endif /* CONTROLLER_EDITION_CONTENT_H */
