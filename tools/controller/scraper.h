/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scrapes of one table: which READs to post, whether what has landed is
 * valid, and the values in it.
 *
 * Every batch ends with a READ of the table's header.  The READs of a batch
 * are executed in order, so a header that is still the known one says that all
 * ranges READ before it were in the table when they were READ.
 */
#ifndef CONTROLLER_SCRAPER_H
#define CONTROLLER_SCRAPER_H

#include <libdart/error.h>
#include <libdart/rdma/endpoint.h>

#include "sample.h"
#include "settings.h"

struct scrape;

/*
 * @table becomes the scrape's, also if this fails.  Returns 0, -ENOMEM, or
 * -EFBIG if the values are more than a controller puts up with; with a
 * sentence in @error.  Entries of @settings that @table does not have are left
 * out; scrape__absent() names the first, or is NULL.
 */
int scrape__new(struct dart_table *table, const struct settings *settings,
		const struct dart_endpoint_accept *accept,
		struct scrape **scrape, struct dart_error *error);
void scrape__free(struct scrape *scrape);
const struct dart_table *scrape__table(const struct scrape *scrape);
const char *scrape__absent(const struct scrape *scrape);

/* Bytes that the landing buffer must have. */
size_t scrape__landing_size(const struct scrape *scrape);

/* All the READs, or the last of them: just the header. */
const struct dart_read *scrape__reads(const struct scrape *scrape,
				      uint32_t *count);
const struct dart_read *scrape__header_read(const struct scrape *scrape);

/* The header that has landed: what dart_table__same() says of it. */
int scrape__check(const struct scrape *scrape, const void *landing);

/*
 * Makes values of what has landed and passed the check.  The sample is valid
 * until the next but one; its times, sequence and end are the caller's to fill.
 */
struct sample *scrape__decode(struct scrape *scrape, const void *landing);

#endif /* CONTROLLER_SCRAPER_H */
