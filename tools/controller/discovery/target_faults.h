/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets and groups of targets that a source named and that cannot be scraped: each is left out
 * of the list and named, and the rest of the list counts.
 */
#ifndef CONTROLLER_TARGET_FAULTS_H
#define CONTROLLER_TARGET_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <libdart/error.h>

/* Of any number of faults the first ones are named. */
#define TARGET_FAULTS_NAMED 8

/* All zeros: none. */
struct target_faults {
	size_t count; /* of targets and groups that were left out */
	struct dart_error first[TARGET_FAULTS_NAMED];
};

/* @fault is a sentence that names the target or the group, and says why it is left out. */
static inline void target_faults__add(struct target_faults *faults, const struct dart_error *fault)
{
	if (faults->count < TARGET_FAULTS_NAMED)
		faults->first[faults->count] = *fault;
	faults->count++;
}

static inline size_t target_faults__named(const struct target_faults *faults)
{
	return faults->count < TARGET_FAULTS_NAMED ? faults->count : TARGET_FAULTS_NAMED;
}

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
