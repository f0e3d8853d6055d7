/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets and groups of targets that a source named, but that cannot be scraped, and targets that
 * its rules drop.  Each is left out of the list and reported; the rest of the list is used.
 */
#ifndef CONTROLLER_TARGET_FAULTS_H
#define CONTROLLER_TARGET_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>

/* Only the first faults are reported by name. */
#define TARGET_FAULTS_NAMED 8
#define TARGET_DROPPED_NAMED 8
#define TARGET_DROPPED_MAX 264 /* bytes of a host with its port, and the NUL */

/* Zeroed memory: no faults. */
struct target_faults {
	size_t count; /* targets and groups that were left out */
	struct dart_error first[TARGET_FAULTS_NAMED];
	size_t dropped; /* targets that rules dropped, which is no fault */
	char dropped_first[TARGET_DROPPED_NAMED][TARGET_DROPPED_MAX]; /* cut off if longer */
};

/* Adds @fault, a sentence that names the target or the group, and the reason. */
static inline void target_faults__add(struct target_faults *faults, const struct dart_error *fault)
{
	if (faults->count < TARGET_FAULTS_NAMED)
		faults->first[faults->count] = *fault;
	faults->count++;
}

/* A rule dropped the target at @address, a text of the source. */
static inline void target_faults__drop(struct target_faults *faults, const char *address)
{
	char *to;

	if (faults->dropped < TARGET_DROPPED_NAMED) {
		to = faults->dropped_first[faults->dropped];
		*to = '\0';
		strncat(to, address, TARGET_DROPPED_MAX - 1);
	}
	faults->dropped++;
}

#define TARGET_DROPPED_TEXT 64

/* Completes a sentence with the number of targets that rules dropped, if any.  Returns @text. */
static inline const char *target_faults__count_dropped(const struct target_faults *faults,
						       char text[static TARGET_DROPPED_TEXT])
{
	*text = '\0';
	if (faults->dropped)
		snprintf(text, TARGET_DROPPED_TEXT, ", and relabel_configs drop %zu",
			 faults->dropped);
	return text;
}

static inline size_t target_faults__named(const struct target_faults *faults)
{
	return faults->count < TARGET_FAULTS_NAMED ? faults->count : TARGET_FAULTS_NAMED;
}

/* The same faults?  Dropped targets do not count. */
static inline bool target_faults__equal(const struct target_faults *one,
					const struct target_faults *other)
{
	size_t i;

	if (one->count != other->count)
		return false;
	for (i = 0; i < target_faults__named(one); i++) {
		if (strcmp(one->first[i].text, other->first[i].text))
			return false;
	}
	return true;
}

#endif /* CONTROLLER_TARGET_FAULTS_H */
