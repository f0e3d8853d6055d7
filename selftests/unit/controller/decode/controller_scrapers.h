/* SPDX-License-Identifier: GPL-2.0-only */
/* Scrapers of tables, for the tests of sharing between hosts. */
#ifndef CONTROLLER_SCRAPERS_H
#define CONTROLLER_SCRAPERS_H

#include "controller_table.h"
#include "tools/controller/decode/budget.h"
#include "tools/controller/decode/scraper.h"

#define COPIES 4

static struct catalogs catalogs;

static inline int open_catalogs(void **state)
{
	return catalogs__open(&catalogs);
}

/* Nothing is left. */
static inline int close_catalogs(void **state)
{
	const size_t left = content_store__count(&catalogs.catalogs) +
			    content_store__count(&catalogs.schemas);

	catalogs__close(&catalogs);
	return left ? -1 : 0;
}

static inline struct scraper *scraper_of_table(struct dart_table *table, const char *entry)
{
	const struct scraper_use use = {
		.catalogs = &catalogs,
		.value_bytes = BUDGET_TEXT_BYTES,
	};
	struct settings settings = { };
	struct scraper *scraper;
	struct dart_error error;

	if (entry)
		assert_int_equal(settings__add_entry(&settings, entry), 0);
	assert_int_equal(scraper__new(table, &settings, &use, &accept_of_agent, &scraper, &error),
			 0);
	settings__clear(&settings);
	return scraper;
}

#define CATALOG_TEST(sentence, function) \
	TEST_FIXTURE(sentence, function, open_catalogs, close_catalogs)

#endif /* CONTROLLER_SCRAPERS_H */
