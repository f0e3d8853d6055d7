/* SPDX-License-Identifier: GPL-2.0-only */
/* One rule, as relabel_rules__read() makes it and relabel_rules__apply() applies it. */
#ifndef CONTROLLER_RULES_PRIVATE_H
#define CONTROLLER_RULES_PRIVATE_H

#include <locale.h>
#include <stdatomic.h>

#include "regex.h"
#include "rules.h"

enum relabel_action {
	RELABEL_REPLACE,
	RELABEL_KEEP,
	RELABEL_DROP,
	RELABEL_KEEPEQUAL,
	RELABEL_DROPEQUAL,
	RELABEL_HASHMOD,
	RELABEL_LABELMAP,
	RELABEL_LABELDROP,
	RELABEL_LABELKEEP,
	RELABEL_LOWERCASE,
	RELABEL_UPPERCASE,
	RELABEL_ACTIONS
};

struct relabel_rule {
	enum relabel_action action;
	char **sources; /* names of labels, whose values are joined */
	size_t source_count;
	/* Never NULL in a complete rule; "" if a rule without a default does not name it. */
	char *separator, *pattern, *target, *replacement;
	uint64_t modulus;
	struct regex *regex;
	unsigned int group_count; /* of the expression, with the whole match */
	locale_t locale; /* with the letters of Unicode; 0: the action needs none */
};

struct relabel_rules {
	atomic_uint holders;
	struct relabel_rule *rules;
	size_t count;
};

/* Does it match [a-zA-Z_][a-zA-Z0-9_]*? */
bool relabel_name__is_valid(const char *name);

#endif /* CONTROLLER_RULES_PRIVATE_H */
