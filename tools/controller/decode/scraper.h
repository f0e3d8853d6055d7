/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scrapes of one table: plans the READs, checks the bytes that they return, and decodes the
 * values.
 *
 * Every batch ends with a READ of the table's header. The device executes the READs of a batch in
 * order, so an unchanged header proves that all ranges READ before it were in the table at that
 * moment.
 */
#ifndef CONTROLLER_SCRAPER_H
#define CONTROLLER_SCRAPER_H

#include <libdart/error.h>
#include <libdart/rdma/endpoint.h>

#include "catalog.h"
#include "host_clock.h"
#include "sample.h"
#include "tools/controller/settings/settings.h"

/* How the caller will use the values. */
struct scraper_use {
	struct catalogs *catalogs; /* shared by hosts; NULL: keep this host's own */
	uint32_t value_bytes; /* bytes of output for each value */
	bool is_compared; /* samples keep the previous one, and sums of copies */
};

/*
 * Users may read the members up to read_count. Only one thread at a time may decode; the members
 * that it changes are its own, because an I/O thread posts READs meanwhile.
 */
struct scraper {
	/* Header and CPUs belong to this host; the entries are the catalog's; no memory regions. */
	struct dart_table table;
	struct catalog *catalog;
	const char *absent; /* first wanted entry that the table lacks, or NULL */
	/* The plan's READs with this host's addresses, then the header's READ. */
	struct dart_read *reads;
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
 * Takes ownership of @table, also on failure. Returns 0, or with a sentence in @error -ENOMEM, or
 * -EFBIG if a scrape exceeds the budget, which charges shared objects to each host. Skips entries
 * of @settings that @table lacks.
 */
int scraper__new(struct dart_table *table, const struct settings *settings,
		 const struct scraper_use *use, const struct dart_endpoint_accept *accept,
		 struct scraper **scraper, struct dart_error *error);
void scraper__free(struct scraper *scraper);

/* Returns the required size of the landing buffer in bytes. */
size_t scraper__landing_size(const struct scraper *scraper);

/* Returns the last READ of a scrape. */
const struct dart_read *scraper__header_read(const struct scraper *scraper);

/* Lets the READs land @offset bytes after the start of the landing memory. */
void scraper__land_at(struct scraper *scraper, size_t offset);

/* Asks for the beginning of the memory that scraper__decode() will need. */
void scraper__ahead(const struct scraper *scraper, const void *landing);

/* Compares the header at @landing: the result of dart_table__same(). */
int scraper__check(const struct scraper *scraper, const void *landing);

/*
 * Decodes a scrape that landed and passed the check. The sample is valid until the next but one, or
 * the next if samples are not compared. The caller fills in its head and its end.
 */
struct sample *scraper__decode(struct scraper *scraper, const void *landing);

#endif /* CONTROLLER_SCRAPER_H */
