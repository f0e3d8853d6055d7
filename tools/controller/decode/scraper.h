/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scrapes of one table: which READs to post, whether the returned bytes are
 * valid, and the values in them.
 *
 * Every batch ends with a READ of the table's header.  The READs of a batch are
 * executed in order, so an unchanged header proves that all ranges READ before
 * it were in the table when they were READ.
 */
#ifndef CONTROLLER_SCRAPER_H
#define CONTROLLER_SCRAPER_H

#include <libdart/error.h>
#include <libdart/rdma/endpoint.h>

#include "catalog.h"
#include "host_clock.h"
#include "sample.h"
#include "tools/controller/settings/settings.h"

/* What becomes of the values. */
struct scraper_use {
	struct catalogs *catalogs; /* that hosts share; NULL: none */
	uint32_t value_bytes; /* of output for each value */
	bool is_compared; /* with the sample before, and added up */
};

/*
 * Users may read the members up to read_count.  Only one thread at a time may decode; what
 * it changes nobody else reads: an I/O thread posts READs meanwhile.
 */
struct scraper {
	/* The header and CPUs are of this host; entries are the catalog's, without regions. */
	struct dart_table table;
	struct catalog *catalog;
	const char *absent; /* a wanted entry, or NULL */
	struct dart_read *reads; /* those of this host, then the header */
	uint32_t read_count;
	uint64_t bytes;
	struct clock_source clock_source;
	uint64_t *cpu_sets;
	bool is_compared;
	struct sample samples[2]; /* filled alternately; one if not compared */
	unsigned int turn;
	bool has_previous;
};

/*
 * Takes ownership of @table, also on failure.  Returns 0, or with a sentence in @error
 * -ENOMEM, or -EFBIG if a scrape exceeds the budget, which counts for each host what they
 * share.  Entries of @settings that @table does not have are left out.
 */
int scraper__new(struct dart_table *table, const struct settings *settings,
		 const struct scraper_use *use, const struct dart_endpoint_accept *accept,
		 struct scraper **scraper, struct dart_error *error);
void scraper__free(struct scraper *scraper);

/* Required size of the landing buffer in bytes. */
size_t scraper__landing_size(const struct scraper *scraper);

/* The last READ of a scrape. */
const struct dart_read *scraper__header_read(const struct scraper *scraper);

/* The READs land @offset bytes behind the start of the memory that they land in. */
void scraper__land_at(struct scraper *scraper, size_t offset);

/* Compares the header at @landing: the result of dart_table__same(). */
int scraper__check(const struct scraper *scraper, const void *landing);

/*
 * Decodes what has landed and passed the check.  The sample is valid until the
 * next but one, or the next if samples are not compared.  The caller fills in its head and
 * its end.
 */
struct sample *scraper__decode(struct scraper *scraper, const void *landing);

#endif /* CONTROLLER_SCRAPER_H */
