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
	/* The key of an output in the configuration file; reports of the controller show it. */
	const char *name;
	/* The value of the setting "version" for this row; 0: the setting does not apply. */
	unsigned int version;
	/* Identifies the row in spools, which outlive programs: a number is never used again. */
	uint8_t number;
	/* The format in sentences: "remote write 2.0". */
	const char *title;
	/*
	 * Lines of a request's head that describe its body, Content-Type among them; NULL ends
	 * them.
	 */
	const char *const *headers;
	const struct compression *compression;
	/*
	 * The unit of time stamps, in ns.  The queue leaves out a point whose time stamp, in this
	 * unit, equals the time stamp of the previous point of its series; put() gets times in ns
	 * and converts them.
	 */
	int64_t precision_ns;
	/* The queue adds a point with the value FORMAT_STALE to a series that ends. */
	bool has_markers;
	/* put() gets only labels with plain names: see labels__is_plain_name(). */
	bool has_plain_names;

	/*
	 * Adds the points of a series, in their order, to @draft.  Returns the number of points
	 * that the format can express, without NaN, for example.  Out of memory is a failure of
	 * the bytes.
	 */
	size_t (*put)(struct draft *draft, const struct merged_labels *labels,
		      const struct metric_family *family, const struct metric_point *points,
		      size_t count);
	/*
	 * Calls pieces__add() for each series of an unpacked message.  The bytes may come from a
	 * spool and are not trusted.  Returns 0; -EINVAL; -ENOMEM.
	 */
	int (*read)(struct pieces *pieces);

	/* All members from here on may be NULL. */

	/*
	 * Reads the body of an answer, which is not trusted, before judge() is asked: sets @text
	 * and @rejected.  Without this function @text is the first line.
	 */
	void (*read_answer)(struct answer *answer);
	/*
	 * Judges an answer beyond the common rule; with @may_be_older the verdict may be
	 * VERDICT_OLDER.  NULL: answer__judge() alone decides.
	 */
	enum verdict (*judge)(const struct answer *answer, bool may_be_older);
	/*
	 * The format for receivers that refuse this one.  convert() translates a body to the older
	 * format, both unpacked.  Returns 0; -EINVAL; -ENOMEM.
	 */
	const struct format *older;
	int (*convert)(const void *message, size_t length, struct bytes *body);
	/*
	 * Returns the URL of requests, which the caller frees; NULL if out of memory.  Without this
	 * function requests go to the URL of the settings.
	 */
	char *(*url)(const struct receiver_settings *settings);
	/* The word before a token in a request's head; "Bearer" without this function. */
	const char *(*token_scheme)(const struct receiver_settings *settings);
};

#endif /* CONTROLLER_PUSH_FORMAT_H */
