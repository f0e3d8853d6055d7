// SPDX-License-Identifier: GPL-2.0-only
/* Chooses a name for each label that no other label of a series uses: see label_collisions.h. */
#include "label_collisions.h"

#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

static int compare_given(const void *one, const void *other)
{
	return strcmp(((const struct named_label *)one)->given,
		      ((const struct named_label *)other)->given);
}

static int compare_name(const void *name, const void *other)
{
	return strcmp(name, *(const char *const *)other);
}

static bool plan_has(const struct metric_plan *plan, const char *name)
{
	return plan && plan->label_name_count &&
	       bsearch(name, plan->label_names, plan->label_name_count, sizeof(*plan->label_names),
		       compare_name);
}

/*
 * True if @name is in use or reserved: names that start with two underscores are, such as __name__.
 */
static bool is_taken(const struct metric_plan *plan, const struct named_label *labels, size_t count,
		     const char *name)
{
	size_t i;

	if (!strncmp(name, "__", 2) || plan_has(plan, name))
		return true;
	for (i = 0; i < count; i++) {
		if (!strcmp(labels[i].own, name))
			return true;
	}
	return false;
}

static bool is_plain(char c, bool is_first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= '0' && c <= '9' && !is_first);
}

/* Writes one underscore for each character, not for each byte. */
static void make_plain(const char *name, char plain[static LABEL_NAMES_MAX])
{
	size_t left = strlen(name), at = 0, taken;
	const char *c;

	for (c = name; *c && at < LABEL_NAMES_MAX - 1; c += taken, left -= taken) {
		taken = dart_escape__character(c, left) ?: 1;
		plain[at] = is_plain(*c, c == name) ? *c : '_';
		at++;
	}
	plain[at] = '\0';
}

/* Returns false if the prefix does not fit: then the label loses its name. */
static bool add_prefix(char name[static LABEL_NAMES_MAX])
{
	const size_t prefix = sizeof(LABEL_NAMES_PREFIX) - 1, length = strlen(name);

	if (length + prefix >= LABEL_NAMES_MAX) {
		*name = '\0';
		return false;
	}
	memmove(name + prefix, name, length + 1);
	memcpy(name, LABEL_NAMES_PREFIX, prefix);
	return true;
}

/*
 * Applies rule 3. Returns whether it took more than one prefix, or a prefix because another label
 * uses the name.
 */
static bool rename_label(const struct metric_plan *plan, enum label_names_form form,
			 struct named_label *labels, size_t count, struct named_label *label)
{
	char name[LABEL_NAMES_MAX];
	bool has_collided = false;

	if (form == LABEL_NAMES_PLAIN)
		make_plain(label->given, name);
	else
		strcpy(name, label->given);
	if (plan_has(plan, name) && !add_prefix(name))
		return true;
	while (is_taken(plan, labels, count, name)) {
		has_collided = true;
		if (!add_prefix(name))
			break;
	}
	strcpy(label->own, name);
	return has_collided;
}

size_t label_names__choose(const struct metric_plan *plan, enum label_names_form form,
			   struct named_label *labels, size_t count)
{
	size_t i, collided = 0;

	if (count)
		qsort(labels, count, sizeof(*labels), compare_given);
	for (i = 0; i < count; i++)
		*labels[i].own = '\0';
	for (i = 0; i < count; i++) {
		if (strlen(labels[i].given) < LABEL_NAMES_MAX && !plan_has(plan, labels[i].given) &&
		    (form == LABEL_NAMES_UTF8 || labels__is_plain_name(labels[i].given)))
			strcpy(labels[i].own, labels[i].given);
	}
	for (i = 0; i < count; i++) {
		if (!*labels[i].own && strlen(labels[i].given) < LABEL_NAMES_MAX)
			collided += rename_label(plan, form, labels, count, &labels[i]);
	}
	return collided;
}
