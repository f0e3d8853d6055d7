/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules that change or drop sets of labels, in the grammar of Prometheus' relabel_config
 * (https://prometheus.io/docs/prometheus/latest/configuration/configuration/#relabel_config), with
 * its defaults and its results.
 *
 * A set consists of labels with different names, none of which is empty; "__name__" is the name of
 * a series.  Names that rules write consist of letters of ASCII, digits and '_', as in
 * Prometheus 2: replace writes no other name.  A name that labelmap makes, or the text that becomes
 * the name of a series, may be invalid: the caller decides what becomes of the set.
 */
#ifndef CONTROLLER_RULES_H
#define CONTROLLER_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/yaml_file.h>

#include "tools/controller/base/arena.h"

/* Immutable, and counted: targets, plans and outputs share them in all threads. */
struct relabel_rules;

/*
 * Reads the list of rules at @node, which may be empty.  The caller is the first holder, also after
 * an error, unless *@rules is NULL.  Returns 0, or -errno with a sentence in the error.
 */
int relabel_rules__read(struct dart_yaml *yaml, const yaml_node_t *node,
			struct relabel_rules **rules);
/* Both accept NULL; the first returns @rules. */
struct relabel_rules *relabel_rules__hold(struct relabel_rules *rules);
void relabel_rules__release(struct relabel_rules *rules);
/* NULL stands for no rules. */
bool relabel_rules__is_empty(const struct relabel_rules *rules);
/* True if both are the same rules in the same order. */
bool relabel_rules__equal(const struct relabel_rules *one, const struct relabel_rules *other);

/*
 * May a rule change or remove a label of this name?  If not, it stays in each set that is not
 * dropped.  Returns true also without memory.
 */
bool relabel_rules__touch(const struct relabel_rules *rules, const char *name);

struct relabel_label {
	const char *name;
	const char *value; /* not "" */
};

/* Labels while rules are applied, in the order of strcmp() of their names. */
struct relabel_set {
	struct relabel_label *labels;
	uint32_t count, room;
	struct arena texts; /* of labels that rules made; the other texts are the caller's */
};

/* Zeroed memory is an empty set.  Frees all memory of the set. */
void relabel_set__free(struct relabel_set *set);
/* Removes all labels, and the texts that rules made. */
void relabel_set__clear(struct relabel_set *set);
/*
 * Sets the label to the texts, which must live as long as the set; removes the label if @value is
 * "".  Returns 0 or -ENOMEM.
 */
int relabel_set__put(struct relabel_set *set, const char *name, const char *value);
/* "" if there is none. */
const char *relabel_set__get(const struct relabel_set *set, const char *name);

/*
 * Applies the rules to @set in order.  Returns 1; 0 if a rule drops the set, whose labels mean
 * nothing then; or -ENOMEM.  Any thread may call it.
 */
int relabel_rules__apply(const struct relabel_rules *rules, struct relabel_set *set);

#endif /* CONTROLLER_RULES_H */
