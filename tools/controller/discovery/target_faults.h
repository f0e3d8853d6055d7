/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets and groups of targets that a source named, but that cannot be scraped.  Each is left out
 * of the list and reported; the rest of the list is used.
 */
#ifndef CONTROLLER_TARGET_FAULTS_H
#define CONTROLLER_TARGET_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <libdart/error.h>

/* Only the first faults are reported by name. */
#define TARGET_FAULTS_NAMED 8

/* Zeroed memory: no faults. */
struct target_faults {
	size_t count; /* targets and groups that were left out */
	struct dart_error first[TARGET_FAULTS_NAMED];
};

/* Adds @fault, a sentence that names the target or the group, and the reason. */
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
