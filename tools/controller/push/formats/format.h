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

/* The label of a bucket: the greatest value that it counts. */
#define FORMAT_BOUND_LABEL "le"

#define DRAFT_OPEN_MAX 4

/* A message that is being made, not compressed: the symbols come before the series. */
struct draft {
	struct symbols symbols;
	struct bytes series;
	/*
	 * Where the last messages begin in @series that further series may be added to, if the
	 * format puts series into other messages.  Without series they do not count.
	 */
	size_t open[DRAFT_OPEN_MAX];
};

/* A histogram: its buckets are adjacent in the listing of the plan, the least first. */
struct format_histogram {
	const struct metric_plan *plan;
	uint32_t first; /* place of the first bucket in the listing */
	uint32_t bucket_count;
	/* For each scrape, a point of each series of the plan; without a time it is not sent. */
	struct metric_point *const *rows;
	uint32_t scrapes;
};

/* The index of a bucket's series in the plan. */
static inline uint32_t format_histogram__series(const struct format_histogram *histogram,
						uint32_t bucket)
{
	return metric_plan__listed(histogram->plan, histogram->first + bucket);
}

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
	 * Adds a histogram, for formats that send its buckets together.  @labels are those that its
	 * buckets share, with the name of the family.  Returns the number of points of series that
	 * the format can express.  Without this function put() gets each bucket.
	 */
	size_t (*put_histogram)(struct draft *draft, const struct merged_labels *labels,
				const struct metric_family *family,
				const struct format_histogram *histogram);
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
