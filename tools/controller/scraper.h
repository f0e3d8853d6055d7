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

struct scraper;

/*
 * @table becomes the scrape's, also if this fails.  Returns 0, -ENOMEM, or
 * -EFBIG if the values are more than a controller puts up with; with a
 * sentence in @error.  Entries of @settings that @table does not have are left
 * out; scraper__absent() names the first, or is NULL.
 */
int scraper__new(struct dart_table *table, const struct settings *settings,
		 const struct dart_endpoint_accept *accept,
		 struct scraper **scraper, struct dart_error *error);
void scraper__free(struct scraper *scraper);
const struct dart_table *scraper__table(const struct scraper *scraper);
const char *scraper__absent(const struct scraper *scraper);

/* Bytes that the landing buffer must have. */
size_t scraper__landing_size(const struct scraper *scraper);

/* All the READs, or the last of them: just the header. */
const struct dart_read *scraper__reads(const struct scraper *scraper,
				       uint32_t *count);
const struct dart_read *scraper__header_read(const struct scraper *scraper);

/* The header that has landed: what dart_table__same() says of it. */
int scraper__check(const struct scraper *scraper, const void *landing);

/*
 * Makes values of what has landed and passed the check.  The sample is valid
 * until the next but one; its times, sequence and end are the caller's to fill.
 */
struct sample *scraper__decode(struct scraper *scraper, const void *landing);

#endif /* CONTROLLER_SCRAPER_H */
