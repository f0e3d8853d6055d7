// SPDX-License-Identifier: GPL-2.0-only
/* Adds the tallies of all rooms up, and writes the sums to the entry "dartd". */
#include <stdio.h>
#include <string.h>

#include "agent/follow/whole_host.h"
#include "report.h"

/* Missing objects of one reason; the texts are borrowed from the tallies. */
struct missing {
	uint64_t count;
	const char *example;
	const char *why;
};

struct line {
	uint64_t present;
	uint64_t served;
	struct missing missing[COVERAGE_REASONS];
};

static uint64_t larger(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

static void line__miss(struct line *line, enum coverage_reason reason,
		       uint64_t count, const char *example, const char *why)
{
	struct missing *missing = &line->missing[reason];

	if (!missing->count) {
		missing->example = example;
		missing->why = why;
	}
	missing->count += count;
}

static uint64_t line__missing(const struct line *line)
{
	uint64_t count = 0;
	int reason;

	for (reason = 0; reason < COVERAGE_REASONS; reason++)
		count += line->missing[reason].count;
	return count;
}

/* If followers miss different objects for different reasons, an object can be counted twice. */
static void line__bound(struct line *line)
{
	uint64_t more = line__missing(line);
	struct missing *missing;
	uint64_t cut;
	int reason;

	more = more > line->present ? more - line->present : 0;
	for (reason = COVERAGE_REASONS; more && reason--;) {
		missing = &line->missing[reason];
		cut = missing->count < more ? missing->count : more;
		missing->count -= cut;
		more -= cut;
	}
}

/* ---- the kinds that are followed */

static void line__add_tally(struct line *line, const struct coverage_tally *tally)
{
	struct missing *missing;
	int reason;

	line->present = larger(line->present, tally->present);
	line->served = larger(line->served, tally->served);
	for (reason = 0; reason < COVERAGE_REASONS; reason++) {
		missing = &line->missing[reason];
		if (tally->missing[reason].count <= missing->count)
			continue;
		missing->count = tally->missing[reason].count;
		missing->example = coverage_tally__example(tally, reason);
		missing->why = tally->missing[reason].why.text;
	}
}

/*
 * An entry can end before its follower learns of it, or although its object remains: then the table
 * lists fewer entries of the source than the follower registered.
 */
static void line__add_lost(struct line *line, const struct registry *registry,
			   const struct follower *follower)
{
	uint64_t entries = inventory__of_source(&registry->inventory, follower->source->id).entries;
	struct missing *missing = &line->missing[COVERAGE_OTHER];
	uint64_t count = follower->tally.missing[COVERAGE_OTHER].count;

	if (entries >= follower->tally.served)
		return;
	count += follower->tally.served - entries;
	if (count <= missing->count)
		return;
	missing->count = count;
	missing->example = follower->group.name;
	missing->why = "their entries have ended, and they have not";
}

/* Objects that were registered one by one, for the source with the most of them. */
static uint64_t count_singles(const struct registry *registry, enum coverage_kind kind)
{
	const struct source *source;
	uint64_t most = 0;

	for (source = sources; source->name; source++)
		if (census__kind_of(source) == kind)
			most = larger(most,
				      inventory__of_source(&registry->inventory, source->id)
					      .singles);
	return most;
}

/* Why the whole host lacks sources of this kind; NULL if it is not registered, or has all. */
static const struct whole_host_missing *find_left_out(const struct followers *followers,
						      enum coverage_kind kind)
{
	const struct whole_host_missing *missing;
	const struct source *source;

	for (source = sources; source->name; source++) {
		missing = whole_host__missing(followers, source);
		if (missing && census__kind_of(source) == kind)
			return missing;
	}
	return NULL;
}

static void add_visible(const struct coverage_report *report,
			enum coverage_kind kind, struct line *line)
{
	const struct followers *followers = report->followers;
	const struct census_line *census = &report->census.kinds[kind];
	const struct whole_host_missing *left_out;
	const struct follower *follower;
	uint64_t missing, rest;
	bool is_whole = false;

	TAILQ_FOREACH(follower, &followers->list, link) {
		if (census__kind_of(follower->source) != kind)
			continue;
		line__add_tally(line, &follower->tally);
		line__add_lost(line, followers->registry, follower);
		is_whole |= follower->is_whole;
	}
	if (!is_whole)
		line->present = larger(line->present, census->present);
	line__bound(line);
	missing = line__missing(line);
	rest = line->present - missing;
	if (is_whole) {
		line->served = rest;
		return;
	}
	line->served = larger(line->served, count_singles(followers->registry, kind));
	if (line->served > rest)
		line->served = rest;
	left_out = find_left_out(followers, kind);
	line__miss(line, left_out ? left_out->reason : COVERAGE_UNREGISTERED, rest - line->served,
		   census->example, left_out ? left_out->why.text : "");
}

static void add_followed(const struct coverage_report *report,
			 enum coverage_kind kind, struct line *line)
{
	const struct census_line *invisible = &report->census.invisible[kind];

	add_visible(report, kind, line);
	line->present += invisible->present;
	line__miss(line, COVERAGE_INVISIBLE, invisible->present,
		   invisible->example, "PID 1 has other namespaces than dartd");
}

/* ---- sources */

static enum coverage_reason largest(const struct coverage_tally *tally)
{
	enum coverage_reason reason, found = COVERAGE_OTHER;
	uint64_t most = 0;

	for (reason = 0; reason < COVERAGE_REASONS; reason++) {
		if (tally->missing[reason].count <= most)
			continue;
		most = tally->missing[reason].count;
		found = reason;
	}
	return found;
}

/* The follower of @source with the most entries; NULL if @source has no follower. */
static const struct follower *find_follower(const struct followers *followers,
					    const struct source *source)
{
	const struct follower *follower, *found = NULL;

	TAILQ_FOREACH(follower, &followers->list, link)
		if (follower->source == source &&
		    (!found || follower->tally.served > found->tally.served))
			found = follower;
	return found;
}

static void add_source(const struct coverage_report *report,
		       const struct source *source, struct line *line)
{
	const struct followers *followers = report->followers;
	const struct follower *follower = find_follower(followers, source);
	const struct whole_host_missing *missing = whole_host__missing(followers, source);
	const struct census *census = &report->census;
	const struct census_source *failed = &census->sources[source - sources];
	const char *version_1 = census__version_1(census, source);
	enum coverage_reason reason;

	line->present++;
	if (version_1) {
		line__miss(line, COVERAGE_UNSUPPORTED, 1, source->name, version_1);
	} else if (inventory__of_source(&followers->registry->inventory, source->id).entries ||
		   (follower && !coverage_tally__missing(&follower->tally))) {
		line->served++;
	} else if (follower) {
		reason = largest(&follower->tally);
		line__miss(line, reason, 1, source->name, follower->tally.missing[reason].why.text);
	} else if (missing) {
		line__miss(line, missing->reason, 1, source->name, missing->why.text);
	} else if (failed->has_failed) {
		line__miss(line, failed->reason, 1, source->name, failed->why.text);
	} else if (*census->host_failure.text) {
		line__miss(line, census->host_reason, 1, source->name, census->host_failure.text);
	} else {
		line__miss(line, COVERAGE_UNREGISTERED, 1, source->name, "");
	}
}

static void add_sources(const struct coverage_report *report, struct line *line)
{
	const struct source *source;

	for (source = sources; source->name; source++)
		if (source->in_host != SOURCE_IN_HOST_ELSEWHERE)
			add_source(report, source, line);
}

/* ---- probes and maps */

static void add_probes(const struct coverage_report *report, struct line *line)
{
	const struct probe *probe;
	size_t i;

	for (i = 0; i < probe_kind_count; i++) {
		probe = &report->probes->probes[i];
		line->present++;
		if (probe->object)
			line->served++;
		else if (*probe->failure.text)
			line__miss(line, probe->reason, 1, probe->kind->name, probe->failure.text);
		else
			line__miss(line, COVERAGE_UNREGISTERED, 1, probe->kind->name, "");
	}
}

static void add_maps(const struct coverage_report *report, struct line *line)
{
	const struct census *census = &report->census;
	const struct census_line *unregistered = &census->kinds[COVERAGE_MAPS];
	const struct census_failure *failure;
	int reason;

	line->served = report->followers->registry->inventory.maps;
	for (reason = 0; reason < COVERAGE_REASONS; reason++) {
		failure = &census->maps[reason];
		line__miss(line, reason, failure->count, failure->example, failure->why.text);
	}
	line__miss(line, COVERAGE_UNREGISTERED, unregistered->present, unregistered->example, "");
	line->present = line->served + line__missing(line);
}

/* ---- all kinds */

static void compute(const struct coverage_report *report, struct line lines[static COVERAGE_KINDS])
{
	enum coverage_kind kind;

	memset(lines, 0, COVERAGE_KINDS * sizeof(*lines));
	for (kind = 0; kind < COVERAGE_SOURCES; kind++)
		add_followed(report, kind, &lines[kind]);
	add_sources(report, &lines[COVERAGE_SOURCES]);
	add_probes(report, &lines[COVERAGE_PROBES]);
	add_maps(report, &lines[COVERAGE_MAPS]);
}

static void publish(const struct coverage_report *report,
		    const struct line lines[static COVERAGE_KINDS])
{
	struct coverage_counts *counts;
	enum coverage_kind kind;
	int reason;

	for (kind = 0; kind < COVERAGE_KINDS; kind++) {
		counts = &report->counts[kind];
		count__set(&counts->present, lines[kind].present);
		count__set(&counts->served, lines[kind].served);
		for (reason = 0; reason < COVERAGE_REASONS; reason++)
			count__set(&counts->missing[reason], lines[kind].missing[reason].count);
	}
}

static void update(struct coverage_report *report, struct line lines[static COVERAGE_KINDS])
{
	if (report->watch.is_outdated)
		census__take(&report->census, report->followers, report->registrations);
	report->watch.is_outdated = false;
	compute(report, lines);
	publish(report, lines);
}

void coverage_report__update(struct coverage_report *report)
{
	struct line lines[COVERAGE_KINDS];

	report->watch.is_outdated = true;
	update(report, lines);
}

static int on_change(sd_event_source *source, void *userdata)
{
	struct coverage_report *report = userdata;
	struct line lines[COVERAGE_KINDS];

	update(report, lines);
	return 0;
}

/* Users may choose names of any bytes, which are escaped as in names of entries. */
static void escape(char text[static DART_ERROR_MAX], const char *name)
{
	size_t length = 0;

	for (; *name && length + 4 < DART_ERROR_MAX; name++) {
		if (*name < ' ' || *name > '~' || *name == '%')
			length += sprintf(text + length, "%%%02X", (unsigned char)*name);
		else
			text[length++] = *name;
	}
	text[length] = '\0';
}

static json_t *describe_missing(enum coverage_kind kind, enum coverage_reason reason,
				const struct missing *missing)
{
	char example[DART_ERROR_MAX], remedy[DART_ERROR_MAX];
	size_t length;

	escape(example, missing->example ?: "");
	length = coverage__remedy(remedy, kind, reason, example, missing->why);
	return json_pack("{s:s, s:I, s:s, s:s%, s:s}", "reason", coverage__reason_name(reason),
			 "count", (json_int_t)missing->count, "example", example, "why",
			 missing->why, length, "remedy", remedy);
}

static json_t *describe_line(enum coverage_kind kind, const struct line *line)
{
	json_t *list = json_array();
	int reason;

	for (reason = 0; reason < COVERAGE_REASONS; reason++)
		if (line->missing[reason].count)
			reply__append(&list,
				      describe_missing(kind, reason, &line->missing[reason]));
	return json_pack("{s:s, s:I, s:I, s:o}", "kind", coverage__kind_name(kind), "present",
			 (json_int_t)line->present, "served", (json_int_t)line->served, "missing",
			 list);
}

json_t *coverage_report__describe(struct coverage_report *report)
{
	struct line lines[COVERAGE_KINDS];
	enum coverage_kind kind;
	json_t *list = json_array();

	report->watch.is_outdated = true;
	update(report, lines);
	for (kind = 0; kind < COVERAGE_KINDS; kind++)
		reply__append(&list, describe_line(kind, &lines[kind]));
	return list;
}

int coverage_report__open(struct coverage_report *report, sd_event *loop,
			  struct coverage_counts *counts, struct followers *followers,
			  struct probes *probes, struct registrations *registrations,
			  struct dart_error *error)
{
	int ret;

	*report = (struct coverage_report){
		.counts = counts,
		.followers = followers,
		.probes = probes,
		.registrations = registrations,
	};
	if (census__open(&report->census))
		return dart_error__no_memory(error);
	ret = sd_event_add_defer(loop, &report->watch.later, on_change, report);
	if (ret < 0) {
		census__close(&report->census);
		return dart_error__system(error, -ret, "cannot create an event source");
	}
	coverage_watch__recount(&report->watch);
	followers->coverage = &report->watch;
	followers->registry->inventory.coverage = &report->watch;
	probes->coverage = &report->watch;
	registrations->coverage = &report->watch;
	return 0;
}

void coverage_report__close(struct coverage_report *report)
{
	report->followers->coverage = NULL;
	report->followers->registry->inventory.coverage = NULL;
	report->probes->coverage = NULL;
	report->registrations->coverage = NULL;
	sd_event_source_disable_unref(report->watch.later);
	census__close(&report->census);
}

static int coverage(struct request *request)
{
	request->result = coverage_report__describe(request->subject);
	return 0;
}

const struct request_type coverage_requests[] = { { "coverage", "coverage",
						    coverage, .member = "" },
						  {} };
