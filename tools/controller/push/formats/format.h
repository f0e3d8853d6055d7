/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A format in which metrics are pushed: a row of functions and facts, which the file of the format
 * defines and formats.def lists.  Nothing outside that file asks which format it deals with.
 * Documentation/adding/output.md says how to add one.
 */
#ifndef CONTROLLER_PUSH_FORMAT_H
#define CONTROLLER_PUSH_FORMAT_H

#include "answer.h"
#include "compression.h"
#include "label_set.h"
#include "symbols.h"
#include "tools/controller/settings/receiver_settings.h"

struct pieces;

/* The value of a point that says that its series has ended: a NaN that Prometheus knows. */
#define FORMAT_STALE 0x7ff0000000000002ULL

/* A message that is being made, not compressed: the symbols come before the series. */
struct draft {
	struct symbols symbols;
	struct bytes series;
};

struct format {
	/* As settings name it; in reports of the controller, too. */
	const char *name;
	/* The value of the setting "version" for this row; 0: the setting does not apply. */
	unsigned int version;
	/* Of the row, in spools, which outlive programs: a number is never used again. */
	uint8_t number;
	/* For sentences: "remote write 2.0". */
	const char *title;
	/* Lines of a request's head that describe its body; NULL ends them. */
	const char *const *headers;
	const struct compression *compression;
	/* Time stamps are multiples of so many ns. */
	int64_t precision_ns;
	/* A series that ends gets a point with the value FORMAT_STALE. */
	bool has_markers;
	/* Names of labels are plain: see labels__is_plain_name(). */
	bool has_plain_names;

	/*
	 * Adds the points of a series, in their order, to @draft, and returns how many: the format
	 * may be unable to express others, such as NaN.  Out of memory is a failure of the bytes.
	 */
	size_t (*put)(struct draft *draft, const struct merged_labels *labels,
		      const struct metric_family *family, const struct metric_point *points,
		      size_t count);
	/*
	 * Finds the series of a message that is unpacked, by pieces__add().  The bytes may come
	 * from a spool and are not trusted.  Returns 0; -EINVAL; -ENOMEM.
	 */
	int (*read)(struct pieces *pieces);

	/* All members below may be NULL. */

	/*
	 * Judges an answer beyond the common rule; with @may_be_older the verdict may be
	 * VERDICT_OLDER.  NULL: answer__judge() says all.
	 */
	enum verdict (*judge)(const struct answer *answer, bool may_be_older);
	/*
	 * For receivers that do not take this format; convert() makes a body of the older format of
	 * one of this format, both unpacked.  Returns 0; -EINVAL; -ENOMEM.
	 */
	const struct format *older;
	int (*convert)(const void *message, size_t length, struct bytes *body);
	/*
	 * The URL that requests go to, which the caller frees; NULL if out of memory.  Without this
	 * function it is that of the settings.
	 */
	char *(*url)(const struct receiver_settings *settings);
	/* The word before a token in a request's head; "Bearer" without this function. */
	const char *(*token_scheme)(const struct receiver_settings *settings);
};

#endif /* CONTROLLER_PUSH_FORMAT_H */
