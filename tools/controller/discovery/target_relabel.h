/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules for targets, relabel_configs, in the grammar of Prometheus.  They see what a source says
 * about a target, and decide whether it is scraped, at which address, with which labels:
 *
 *   __address__		HOST, HOST:PORT or [V6]:PORT, as the source names it
 *   __meta_...			what the kind of source adds, and what a list in JSON says itself
 *   __scrape_interval__, __class__, __transport__	as in the labels of a list in JSON
 *   all other labels		of the source, its list and the target
 *
 * After the rules a label whose name begins with two underscores is no label of the target.  A
 * target without an address, or with labels that a target cannot have, is a fault.
 */
#ifndef CONTROLLER_TARGET_RELABEL_H
#define CONTROLLER_TARGET_RELABEL_H

#include <jansson.h>

#include <libdart/error.h>

#include "target_faults.h"
#include "target_list.h"

/* Labels of one target before its rules; later ones replace earlier ones of the same name. */
#define TARGET_RELABEL_OBJECTS 3

struct unlabelled_target {
	const char *address;
	const json_t *labels[TARGET_RELABEL_OBJECTS]; /* objects of texts, or NULL */
};

/*
 * Adds the target that @rules make of @target to @builder, with the defaults of @builder except
 * their labels; or adds it to @faults, as a fault or as dropped.  @rules are not empty.  Returns
 * 0; -EINVAL with a sentence in @error, if there are too many targets; or -ENOMEM.
 */
int target_relabel__add(struct target_list_builder *builder, const struct relabel_rules *rules,
			const struct unlabelled_target *target, struct target_faults *faults,
			struct dart_error *error);

/*
 * Replaces @list, the targets of a configuration or the command line, by the targets that @rules
 * make of them; their names are their addresses.  @rules may be NULL or empty: then nothing
 * changes.  Returns 0 or -ENOMEM, after which the caller clears @list, too.
 */
int target_relabel__list(struct target_list *list, const struct relabel_rules *rules,
			 struct target_faults *faults);

/* A label of a target that sets a setting; NULL if @label is none. */
const char *target_relabel__key(const char *label);

#endif /* CONTROLLER_TARGET_RELABEL_H */
