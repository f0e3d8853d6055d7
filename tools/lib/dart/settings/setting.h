/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings as tables.  A row describes one setting of a program: the member of a structure that
 * holds it, the option and the key of a YAML file that set it, its bounds, and its help.  The
 * command line, the file, --help, the manual page and the completions of a program are made from
 * its rows (Documentation/adding/setting.md).  Programs read the members of the structure.
 */
#ifndef DART_SETTING_H
#define DART_SETTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/yaml_file.h>

enum dart_setting_type {
	DART_SETTING_OWN,	/* no member: only the functions of the row know */
	DART_SETTING_FLAG,	/* bool, set by an option without a value */
	DART_SETTING_NUMBER,	/* unsigned integer; as the next two, 0 if not set */
	DART_SETTING_TIME,	/* unsigned integer of 64 bits, ns */
	DART_SETTING_BYTES,	/* unsigned integer of 64 bits */
	DART_SETTING_CHOICE,	/* enum: 1 for the first of the words, 0 if not set */
	DART_SETTING_TEXT,	/* char *, owned by the structure, not empty; NULL if not set */
	DART_SETTING_PATH,	/* the same, absolute */
	DART_SETTING_WORD,	/* const char *, a word of the command line */
};

struct dart_setting {
	/* ---- who sets it */

	const char *option;	/* "flow" for --flow; NULL: none */
	char letter;		/* 'i' for -i; 0: none */
	const char *argument;	/* of the option, for help; "[=WHAT]" if optional; NULL: none */
	/* "workers", or "flow.bytes" for the key bytes in the mapping flow; NULL: none */
	const char *key;

	/* ---- its value */

	enum dart_setting_type type;
	size_t offset, size;	/* of the member, see DART_SETTING_MEMBER() */
	uint64_t least, most;	/* NUMBER, TIME, BYTES: bounds, in the unit of the member */
	const char *words;	/* CHOICE: "credit|bdp|none" */
	/*
	 * In refusals: "'0' is not NOUN (expected LEAST to MOST, e.g. EXAMPLE)".  All may be NULL;
	 * @expected stands in place of the bounds.
	 */
	const char *noun, *expected, *example;
	/*
	 * Instead of parsing by the type.  @text is NULL if an optional argument is missing.
	 * Returns 0, or -errno with a sentence in @error.
	 */
	int (*take)(void *object, const struct dart_setting *setting, const char *text,
		    struct dart_error *error);
	/* Takes a value of a file that is not a text, or checks a mapping as a whole. */
	int (*read)(struct dart_yaml *yaml, const yaml_node_t *node, void *object);

	/* ---- texts for users */

	const char *help;	/* of the option, a phrase */
	const char *completion;	/* "1s 10s": words; "@file", "@file yaml yml", "@host", "@url" */
	bool is_repeatable;	/* the option may be given several times */
	bool is_joint;		/* replaced with all joint rows of its mapping: see merge */
	bool is_for_start;	/* a reload does not apply it */
};

/* The member of a structure of type @object. */
#define DART_SETTING_MEMBER(object, member)	\
	.offset = offsetof(object, member),	\
	.size = sizeof(((object *)0)->member)

/* At most 64, which DART_SETTINGS() checks: otherwise it divides by zero. */
struct dart_settings {
	const struct dart_setting *rows;
	size_t count;
};

#define DART_SETTINGS(table)					\
	{							\
		.rows = (table),				\
		.count = sizeof(table) / sizeof(*(table)) /	\
			 (sizeof(table) <= 64 * sizeof(*(table))), \
	}

/* A table and the structure that its members lie in. */
struct dart_settings_of {
	const struct dart_settings *table;
	void *object;
	/* Called with @subject before each value of a file is taken, unless NULL; may refuse it. */
	int (*before)(struct dart_yaml *yaml, const yaml_node_t *node,
		      const struct dart_setting *setting, void *subject);
	void *subject;
};

/* All that return int return 0, or -errno with a sentence in the error. */

/* -EINVAL: @text cannot be the value, in a sentence made from the row. */
int dart_setting__refuse(const struct dart_setting *setting, const char *text,
			 struct dart_error *error);
/* Sets the member of @object. */
int dart_setting__take(const struct dart_setting *setting, void *object, const char *text,
		       struct dart_error *error);
/* The row with this key, or else this option; NULL if there is none. */
const struct dart_setting *dart_settings__find(const struct dart_settings *table, const char *name);
/* The values as people read them: "1 to 64, e.g. 8", or "a, b or c"; "" if there are no bounds. */
void dart_setting__print_bounds(const struct dart_setting *setting, char *text, size_t size);

/*
 * Takes a mapping of a file: the keys of the rows in @group ("flow" for "flow.bytes"; NULL: all
 * without a dot), and mappings in it.  Each key may occur once.  @places ends with an empty one.
 * If the file is only checked, a refused value does not keep the next ones from being read.
 */
int dart_settings__read(struct dart_yaml *yaml, const yaml_node_t *node, const char *group,
			const struct dart_settings_of *places);

/* Is any member of a row that has a key set? */
bool dart_settings__has_any(const struct dart_settings *table, const void *object);
/*
 * Moves members that are set in @from and not in @into.  A joint row stays if any joint row of the
 * same mapping is set in @into.
 */
void dart_settings__merge(const struct dart_settings *table, void *into, void *from);
/* Are all members equal; or, with @is_for_start, the members that a reload does not apply? */
bool dart_settings__equal(const struct dart_settings *table, const void *one, const void *other,
			  bool is_for_start);
/*
 * Prints the keys at the root that a reload does not apply, or in whose mapping there is such a
 * key, with @separator between them.
 */
void dart_settings__print_for_start(const struct dart_settings *table, const char *separator,
				    char *text, size_t size);
/*
 * @copy is a copy of the bytes of another structure: gives it texts of its own.  Returns 0, or
 * -ENOMEM with the texts that are missing set to NULL.
 */
int dart_settings__own(const struct dart_settings *table, void *copy);
/*
 * Copies members that are set into a JSON object, by their keys; each mapping is an object.
 * Times and sizes are numbers of ns and bytes.  Returns 0 or -ENOMEM.
 */
int dart_settings__to_json(const struct dart_settings *table, const void *object, json_t *json);
/* Frees texts and sets all members to 0. */
void dart_settings__clear(const struct dart_settings *table, void *object);

#endif /* DART_SETTING_H */
