/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gathered records: they lie side by side on pages of the region, which are exposed as a
 * whole, so that records need no memory regions and one READ fetches many.  Pages are
 * added when those that there are have no room; they stay.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <libdart/error.h>
#include <linux/dart_zero.h>

#include "agent/region/region.h"
#include "agent/region/sample_programs.h"
#include "agent/schema/record_layout.h"
#include "exposure.h"

struct records {
	struct region *region;
	struct exposure *exposure;
	struct dart_zero_extent *pages;
	uint32_t count;		/* of @pages */
	uint64_t *online;	/* room for a set of CPUs */
	struct sample_programs programs;
};

int records__open(struct records *records, struct region *region,
		  struct exposure *exposure, struct dart_error *error);
/* After records__remove() of all. */
void records__close(struct records *records);

/* What the rows of a record are. */
enum dart_zero_record_form records__form(const struct source *source);

/* Describes a copy of what @selector selects: @extent->length and @extent->name. */
int records__describe(const struct records *records,
		      const struct selector *selector,
		      struct dart_zero_extent *extent,
		      struct dart_error *error);
/*
 * Gathers what @selector selects; describes the rows in use in @extent, and sets
 * *@cpu_rows to all rows that the record has for CPUs, or 0.
 */
int records__add(struct records *records, const struct selector *selector,
		 const struct record_layout *layout,
		 struct dart_zero_extent *extent, uint32_t *cpu_rows,
		 struct dart_error *error);
/* How many of @rows for CPUs are in use: one for each online CPU. */
uint32_t records__rows_in_use(const struct records *records, uint32_t rows);
/* Its place may be that of the next record: when no controller reads it any more. */
void records__remove(struct records *records, enum dart_zero_source source,
		     uint32_t id);

#endif /* RECORDS_H */
