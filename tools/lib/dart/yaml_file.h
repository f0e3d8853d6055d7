/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * YAML files with bounds: a file is hostile until it is checked.  Only mappings, lists and texts
 * are read; anchors, aliases, tags and further documents are refused, and so are deep nesting,
 * bytes that are not UTF-8, control characters and values that are missing: an empty value, "~" or
 * "null" without quotes.  A byte order mark at the beginning and line ends of Windows are read as
 * if they were not there.
 *
 * All functions that return int return 0, or -errno with a sentence in the error
 * that begins with "FILE:LINE: ".
 */
#ifndef DART_YAML_FILE_H
#define DART_YAML_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <yaml.h>

#include <libdart/error.h>

#define DART_YAML_BYTES_MAX (1 << 20) /* of a file */
#define DART_YAML_NODES_MAX 200000
#define DART_YAML_DEPTH_MAX 8

/* Receives each mistake of a file, "FILE:LINE: ...". */
struct dart_yaml_mistakes {
	void (*tell)(void *subject, const char *sentence);
	void *subject;
};

struct dart_yaml {
	yaml_document_t document;
	const char *path; /* for messages; the caller's */
	struct dart_error *error;
	/* NULL: the first mistake ends the reading.  Set by the caller after parsing. */
	const struct dart_yaml_mistakes *mistakes;
};

/*
 * A key that a mapping may have, and the function that takes its value into the
 * object, at @offset.
 */
struct dart_yaml_member {
	const char *name;
	int (*take)(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
	size_t offset;
};

/*
 * Parses @bytes.  *@root is NULL if the file has only comments.  On success the
 * caller calls dart_yaml__close(); the nodes and their texts live until then.
 */
int dart_yaml__parse(struct dart_yaml *yaml, const void *bytes, size_t length, const char *path,
		     const yaml_node_t **root, struct dart_error *error);

/* Bounds for files that list thousands of objects. */
struct dart_yaml_bounds {
	size_t bytes;
	unsigned int nodes;
};

/*
 * The same with all bytes of @file, which it reads until the end; @bounds is NULL for the default
 * bounds above.
 */
int dart_yaml__load(struct dart_yaml *yaml, FILE *file, const char *path,
		    const struct dart_yaml_bounds *bounds,
		    const yaml_node_t **root, struct dart_error *error);
void dart_yaml__close(struct dart_yaml *yaml);

/*
 * Sets the error, with the line of @node, tells the mistake if each one is to be told, and returns
 * -EINVAL.
 */
__attribute__((format(printf, 3, 4))) int
dart_yaml__refuse(struct dart_yaml *yaml, const yaml_node_t *node, const char *format, ...);
/* Should the next values be taken after taking a value returned @ret? */
bool dart_yaml__goes_on(const struct dart_yaml *yaml, int ret);
unsigned int dart_yaml__line(const yaml_node_t *node);

/* The text of a scalar; NULL if @node is not one or contains a NUL. */
const char *dart_yaml__raw_text(const yaml_node_t *node);
/* The same; NULL also if the text has a control character. */
const char *dart_yaml__text(const yaml_node_t *node);

/*
 * Takes a mapping whose keys are @members, each at most once; the array ends
 * with zeros and has at most 32.  If each mistake is to be told, a value or an item that is
 * refused does not keep the next ones from being taken, and the last error is returned.
 */
int dart_yaml__take_mapping(struct dart_yaml *yaml, const yaml_node_t *node,
			    const struct dart_yaml_member *members, void *into);
/*
 * Calls @take for each pair of a mapping whose keys are free texts, which may have control
 * characters.  @take refuses a key that occurs twice.
 */
int dart_yaml__take_pairs(struct dart_yaml *yaml, const yaml_node_t *node,
			  int (*take)(struct dart_yaml *yaml, const yaml_node_t *key,
				      const char *name, const yaml_node_t *value, void *into),
			  void *into);
/* Calls @take for each item of a list. */
int dart_yaml__take_list(struct dart_yaml *yaml, const yaml_node_t *node,
			 int (*take)(struct dart_yaml *yaml, const yaml_node_t *item, void *into),
			 void *into);

/* Can YAML hold @text, in UTF-8, as it is?  Not with control characters. */
bool dart_yaml__is_text(const char *text);

#endif /* DART_YAML_FILE_H */
