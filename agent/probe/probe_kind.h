/* SPDX-License-Identifier: GPL-2.0-only */
/* The kinds of probes: eBPF programs and the array maps that they fill. */
#ifndef PROBE_KIND_H
#define PROBE_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include <libdart/error.h>

#define PROBE_MAPS_MAX 2

/* A map of a probe, and the entry that it becomes. */
struct probe_map {
	const char *name;
	const char *entry;	/* NULL ends the list */
	bool has_row_per_cpu;	/* as many rows as possible CPUs */
};

struct probe_kind {
	const char *name;
	const char *description;	/* one line */
	const void *(*object)(size_t *size);	/* an ELF file */
	struct probe_map maps[PROBE_MAPS_MAX];
	/* NULL, or a file without which the probe cannot run, and why. */
	const char *needs;
	const char *needs_what;
};

extern const struct probe_kind probe_kinds[];
extern const size_t probe_kind_count;

/* NULL, with a sentence in @error, if there is none. */
const struct probe_kind *probe_kind__find(const char *name, struct dart_error *error);

#endif /* PROBE_KIND_H */
