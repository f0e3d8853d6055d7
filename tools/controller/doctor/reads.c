// SPDX-License-Identifier: GPL-2.0-only
/* READs the table and the values of a connected host, like a controller. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include <libdart/table/value.h>

#include "coverage.h"
#include "reads.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/decode/budget.h"
#include "tools/controller/decode/scraper.h"
#include "tools/controller/fleet/fetch.h"
#include "tools/controller/flow/table_age.h"

/* CPU time grows within this interval, even in a virtual machine. */
#define FRESH_NS 1000000000L

struct reader {
	struct findings *findings;
	const struct connection *connection;
	void *landing;
	uint64_t begin_ns; /* start of the last batch */
	uint64_t latency_ns;
	struct table_age age;
};

/* READs a batch. Returns 0, or -errno with a sentence in @error. */
static int reader__read(struct reader *reader, const struct dart_read *reads, uint32_t count,
			struct dart_error *error)
{
	struct dart_endpoint *endpoint = reader->connection->endpoint;
	struct pollfd events[] = {
		{ dart_endpoint__completion_fd(endpoint), POLLIN, 0 },
		{ dart_endpoint__connection_fd(endpoint), POLLIN, 0 },
	};
	uint64_t end_ns = monotonic_ns() + ANSWER_TIMEOUT_MS * 1000000ULL;
	int ret;

	reader->begin_ns = monotonic_ns();
	ret = dart_endpoint__read(endpoint, reads, count);
	if (ret)
		return dart_error__system(error, -ret, "cannot post a READ");
	for (;;) {
		uint64_t now_ns = monotonic_ns();

		if (now_ns >= end_ns)
			return dart_error__set(error, ETIMEDOUT, "no answer to a READ");
		if (poll(events, 2, (end_ns - now_ns) / 1000000 + 1) < 0 && errno != EINTR)
			return dart_error__system(error, errno, "cannot wait");
		ret = dart_endpoint__on_completion(endpoint, error);
		if (ret) {
			reader->latency_ns = monotonic_ns() - reader->begin_ns;
			return ret < 0 ? ret : 0;
		}
		if (dart_endpoint__on_connection(endpoint, error) != DART_ENDPOINT_NOTHING)
			return -ECONNRESET;
	}
}

static bool reader__reserve(struct reader *reader, size_t size)
{
	int ret = dart_endpoint__reserve(reader->connection->endpoint, size, &reader->landing);

	if (!ret)
		return true;
	findings__fail(reader->findings, "read", "cannot register %zu bytes to READ into: %s", size,
		       strerror(-ret));
	findings__command(reader->findings, "ulimit -l unlimited");
	return false;
}

static void blame_read(struct reader *reader, int ret, const struct dart_error *error)
{
	const struct connection *connection = reader->connection;

	findings__fail(reader->findings, "read", "%s", error->text);
	if (ret == -ETIMEDOUT)
		findings__advise(
			reader->findings,
			"packets of %u bytes and their headers do not arrive: compare the MTU of both machines",
			connection->path.mtu);
	findings__command(reader->findings, "ssh %s dartctl doctor", connection->target->host);
}

static void wait_us(uint64_t delay_us)
{
	const struct timespec delay = {
		.tv_sec = delay_us / 1000000,
		.tv_nsec = delay_us % 1000000 * 1000,
	};

	nanosleep(&delay, NULL);
}

/*
 * Fetches the table, like a target before its first scrape. Returns NULL after reporting a finding.
 */
static struct dart_table *fetch_table(struct reader *reader, bool is_quiet)
{
	const struct dart_endpoint_accept *accept =
		dart_endpoint__accept(reader->connection->endpoint);
	struct dart_table *table = NULL;
	struct dart_error error;
	enum fetch_result result;
	struct fetch fetch;
	int ret;

	fetch__begin(&fetch, accept);
	do {
		if (!reader__reserve(reader, fetch.read.length))
			return NULL;
		ret = reader__read(reader, &fetch.read, 1, &error);
		if (ret) {
			blame_read(reader, ret, &error);
			return NULL;
		}
		result = fetch__take(&fetch, reader->landing, &table, &error);
		if (result == FETCH_LATER)
			wait_us(fetch__delay_us(&fetch));
	} while (result == FETCH_AGAIN || result == FETCH_LATER);

	if (result == FETCH_REFUSED) {
		findings__fail(reader->findings, "table", "%s", error.text);
		findings__advise(
			reader->findings,
			"upgrade the older of dartd and dart-controller; if both are of one release, restart dartd");
		return NULL;
	}
	reader->age.lease_ns = table->lease_ms * 1000000ULL;
	table_age__renew(&reader->age, reader->begin_ns);
	if (!is_quiet) {
		findings__ok(reader->findings, "read", "%u bytes of the control region in %.1f us",
			     fetch.read.length, reader->latency_ns / 1e3);
		findings__ok(reader->findings, "table", "valid, %u entries in %u memory regions",
			     table->entry_count, table->memory_region_count);
	}
	return table;
}

/*
 * READs the values and then the header, in the order that the scraper planned. Returns -ESTALE if
 * the values may be invalid, because the table changed longer than a lease ago.
 */
static int scrape(struct reader *reader, struct scraper *scraper, struct dart_error *error)
{
	int ret = reader__read(reader, scraper->reads, scraper->read_count, error);

	if (ret)
		return ret;
	ret = scraper__check(scraper, reader->landing);
	if (!ret) {
		table_age__renew(&reader->age, reader->begin_ns);
		return 0;
	}
	if (ret != -ESTALE)
		return dart_error__set(error, ECONNRESET, "dartd has restarted");
	reader->age.changed = true;
	if (table_age__covers(&reader->age, reader->begin_ns + reader->latency_ns))
		return 0;
	return dart_error__set(error, ESTALE, "the table has changed");
}

static uint32_t count_changed(const struct sample *sample)
{
	uint32_t i, changed = 0;

	for (i = 0; i < sample->entry_count; i++)
		changed += !!memcmp(sample->entries[i].copies, sample->previous->entries[i].copies,
				    dart_entry__size(sample->entries[i].entry));
	return changed;
}

static void judge_freshness(struct reader *reader, const struct sample *sample)
{
	uint32_t changed = count_changed(sample);

	if (changed) {
		findings__ok(reader->findings, "fresh",
			     "values of %u of %u entries changed within a second", changed,
			     sample->entry_count);
		return;
	}
	findings__warn(reader->findings, "fresh", "no value of %u entries changed within a second",
		       sample->entry_count);
	findings__advise(reader->findings,
			 "that is right if nothing happens there; CPU time always changes");
	findings__command(reader->findings, "ssh %s dartctl register source cpustat",
			  reader->connection->target->host);
}

/* Scrapes twice. Returns -ESTALE, without a finding, if the table changed meanwhile. */
static int examine_values(struct reader *reader, struct scraper *scraper)
{
	const struct sample *sample;
	struct dart_error error;
	double first_us;
	int ret;

	if (!reader__reserve(reader, scraper__landing_size(scraper)))
		return 0;
	ret = scrape(reader, scraper, &error);
	if (ret)
		goto blame;
	first_us = reader->latency_ns / 1e3;
	scraper__decode(scraper, reader->landing);
	wait_us(FRESH_NS / 1000);
	ret = scrape(reader, scraper, &error);
	if (ret)
		goto blame;
	sample = scraper__decode(scraper, reader->landing);
	findings__ok(reader->findings, "generation", "%llu, and %s a second later",
		     (unsigned long long)scraper->table.generation,
		     reader->age.changed ? "another" : "the same");
	findings__ok(reader->findings, "scrape", "%u entries: %u READs, %llu bytes, %.1f us",
		     sample->entry_count, scraper->read_count, (unsigned long long)scraper->bytes,
		     reader->latency_ns / 1e3 < first_us ? reader->latency_ns / 1e3 : first_us);
	judge_freshness(reader, sample);
	check_coverage(reader->findings, reader->connection->target->host, sample);
	return 0;

blame:
	if (ret != -ESTALE)
		blame_read(reader, ret, &error);
	return ret;
}

static void report_absence(struct reader *reader, const struct scraper *scraper)
{
	const char *host = reader->connection->target->host;

	if (scraper->absent) {
		findings__fail(reader->findings, "entries", "the host has no entry '%s'",
			       scraper->absent);
		findings__command(reader->findings, "ssh %s dartctl list", host);
	} else if (!scraper->table.entry_count) {
		findings__warn(reader->findings, "entries", "nothing is registered on the host");
		findings__command(reader->findings, "ssh %s dartctl register source cpustat", host);
	}
}

void check_reads(struct findings *findings, const struct connection *connection,
		 const struct settings *settings)
{
	struct reader reader = {
		.findings = findings,
		.connection = connection,
	};
	const struct scraper_use use = {
		.value_bytes = BUDGET_TEXT_BYTES,
		.is_compared = true,
	};
	const unsigned int tries = 5;
	struct dart_table *table;
	struct scraper *scraper;
	struct dart_error error;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < tries; i++) {
		table = fetch_table(&reader, i);
		if (!table)
			return;
		if (scraper__new(table, settings, &use, dart_endpoint__accept(connection->endpoint),
				 &scraper, &error)) {
			findings__fail(findings, "scrape", "%s", error.text);
			return;
		}
		if (!i)
			report_absence(&reader, scraper);
		ret = scraper->catalog->wanted_count ? examine_values(&reader, scraper) : 0;
		scraper__free(scraper);
		if (ret != -ESTALE)
			return;
	}
	findings__warn(findings, "generation",
		       "the table changes all the time, and a scrape takes longer than its lease");
	findings__command(findings, "ssh %s timeout 10 dartctl monitor", connection->target->host);
}
