// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the last snapshot of each target, and answers requests for pages of them. */
#include "exposition.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exposition_sd.h"
#include "tools/controller/http/http_accept.h"
#include "tools/controller/base/hourly.h"
#include "tools/controller/base/schedule.h"

/*
 * The bytes that wait for readers are bounded by twice the bytes of all points, at least by this:
 * there is room for about five packed pages of a fleet.
 */
#define READERS_BYTES_MIN ((size_t)8 << 20)

struct exposition {
	struct metric_output output;
	struct output *log;
	struct hourly losses;
	struct page_sources sources;
};

/* The bound of the bytes that wait for all readers together, with @count series. */
static size_t readers_bytes(size_t count)
{
	const size_t bytes = 2 * count * sizeof(struct metric_point);

	return bytes > READERS_BYTES_MIN ? bytes : READERS_BYTES_MIN;
}

/* Replaces the last snapshot of a target.  NULL: out of memory, or the target is gone. */
static void exposition__set(struct exposition *exposition, size_t index, struct snapshot *snapshot)
{
	struct page_sources *sources = &exposition->sources;
	size_t count;

	if (snapshot_table__set(&sources->table, index, snapshot, &count))
		editions__set_limit(sources->editions, readers_bytes(count));
}

/*
 * Logs lost last values once an hour.  Does not log values that no reader asked for, and agents
 * that are lost, which have their own message.
 */
static void tell_losses(struct exposition *exposition)
{
	struct ended_losses *losses = &exposition->sources.losses;
	const uint64_t total = atomic_load(&losses->series[ENDED_TOO_MANY]) +
			       atomic_load(&losses->series[ENDED_NO_MEMORY]);
	uint64_t since;

	if (total && exposition->log &&
	    hourly__take(&exposition->losses, monotonic_ns(), total, &since))
		output__print(
			exposition->log,
			"dart-controller: /metrics does not have the last values of %llu series that"
			" ended: of an agent at most %u wait to be served (ask more often, or leave"
			" out entries that come and go)",
			(unsigned long long)since, ENDED_SERIES_MAX);
}

static void take_scrape(struct metric_output *output, const struct target_settings *target,
			const struct metric_scrape *scrape)
{
	struct exposition *exposition = (struct exposition *)output;
	struct snapshot *last = snapshot_table__last(&exposition->sources.table, target->index);

	exposition__set(exposition, target->index,
			snapshot__of_scrape(target, scrape, last, &exposition->sources.losses));
	snapshot__put(last);
	tell_losses(exposition);
}

/* Counts the last values that wait as lost: pages contain no values of lost targets. */
static void lose_ended(struct exposition *exposition, size_t index)
{
	struct snapshot *last = snapshot_table__last(&exposition->sources.table, index);

	if (last)
		ended__lose(last->ended, &exposition->sources.losses);
	snapshot__put(last);
}

static void take_loss(struct metric_output *output, const struct target_settings *target,
		      const struct metric_plan *plan, int64_t time_ns, const char *reason)
{
	struct exposition *exposition = (struct exposition *)output;

	lose_ended(exposition, target->index);
	exposition__set(exposition, target->index, snapshot__of_loss(target, time_ns, reason));
}

/* Keeps the last values, which may still be fresh.  Without values, keeps the reason. */
static void take_failure(struct metric_output *output, const struct target_settings *target,
			 const char *reason)
{
	struct exposition *exposition = (struct exposition *)output;
	struct snapshot *last = snapshot_table__last(&exposition->sources.table, target->index);
	const bool has_values = last && last->plan;

	snapshot__put(last);
	if (!has_values)
		take_loss(output, target, NULL, 0, reason);
}

static void add_target(struct metric_output *output, const struct target_settings *target)
{
	take_loss(output, target, NULL, 0, NULL);
}

static void remove_target(struct metric_output *output, const struct target_settings *target)
{
	lose_ended((struct exposition *)output, target->index);
	exposition__set((struct exposition *)output, target->index, NULL);
}

static void exposition__free(struct metric_output *output)
{
	struct exposition *exposition = (struct exposition *)output;

	snapshot_table__clear(&exposition->sources.table);
	editions__free(exposition->sources.editions);
	free(exposition);
}

static const struct metric_output_operations exposition_operations = {
	.scrape = take_scrape,
	.lost = take_loss,
	.failed = take_failure,
	.added = add_target,
	.removed = remove_target,
	.free = exposition__free,
};

struct metric_output *exposition__new(bool is_replay, struct output *log)
{
	struct exposition *exposition = calloc(1, sizeof(*exposition));

	if (!exposition)
		return NULL;
	exposition->output.operations = &exposition_operations;
	exposition->log = log;
	exposition->sources.is_replay = is_replay;
	exposition->sources.editions = editions__new(log);
	if (!exposition->sources.editions) {
		free(exposition);
		return NULL;
	}
	editions__set_limit(exposition->sources.editions, READERS_BYTES_MIN);
	snapshot_table__init(&exposition->sources.table);
	return &exposition->output;
}

/* ---- requests, in threads of the server */

/*
 * Chooses OpenMetrics only if the peer names it, and does not prefer the other text.  Prometheus 3
 * asks for names in any UTF-8 by a parameter of each type; such names need another version of the
 * formats.
 */
static enum metric_text_format choose_format(const struct http_request *request, bool *is_utf8)
{
	static const char parameter[] = "escaping=allow-utf-8";
	const char *accept = http_request__header(request, "Accept");
	const struct http_accepted text = http_accept__find(accept, "text/plain", parameter);
	const struct http_accepted openmetrics =
		http_accept__find(accept, "application/openmetrics-text", parameter);
	const bool is_openmetrics = openmetrics.is_named && openmetrics.weight &&
				    openmetrics.weight >= text.weight;

	*is_utf8 = is_openmetrics ? openmetrics.has_parameter : text.has_parameter;
	return is_openmetrics ? METRIC_TEXT_OPENMETRICS : METRIC_TEXT_PROMETHEUS;
}

/* Takes the holds of @snapshots, and leaves them empty. */
static void send_page(struct exposition *exposition, struct snapshots *snapshots,
		      enum page_kind kind, const struct http_request *request,
		      struct http_answer *answer)
{
	bool is_utf8;
	const enum metric_text_format format = choose_format(request, &is_utf8);
	struct edition_content *page =
		page__new(&exposition->sources, kind, snapshots, format, is_utf8);

	if (!page || editions__answer(exposition->sources.editions, page, request, answer)) {
		answer->status = 503;
		return;
	}
	answer->type = metric_text__type(format, is_utf8);
}

static void print_sentence(struct http_answer *answer, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void print_sentence(struct http_answer *answer, unsigned int status, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&answer->body, format, arguments);
	va_end(arguments);
	answer->status = status;
	answer->type = NULL;
	if (length < 0)
		answer->body = NULL;
	answer->length = length < 0 ? 0 : length;
}

/* If all targets of the requested name are lost, answers so and returns true. */
static bool refuse_lost(const struct snapshots *snapshots, struct http_answer *answer)
{
	const uint64_t at_ns = monotonic_ns();
	size_t i;

	for (i = 0; i < snapshots->count; i++)
		if (snapshot__is_up(snapshots->all[i], at_ns))
			return false;
	print_sentence(answer, 503, "%s is lost: %s\n", snapshots->all[0]->name,
		       snapshot__why_lost(snapshots->all[0]));
	return true;
}

static void fill_metrics(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct exposition *exposition = data;
	const char *name = http_request__argument(request, "target");
	struct snapshots snapshots = {};

	if (name && snapshot_table__take(&exposition->sources.table, name, &snapshots))
		return;
	if (name && !snapshots.count) {
		print_sentence(answer, 404, "there is no such target: see /sd for their names\n");
	} else if (!name || !refuse_lost(&snapshots, answer)) {
		send_page(exposition, &snapshots, name ? PAGE_ONE : PAGE_ALL, request, answer);
	}
	snapshots__put(&snapshots);
}

static void fill_own(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct snapshots none = {};

	send_page(data, &none, PAGE_OWN, request, answer);
}

/* Reads a number from 1 on; false if the argument is there and is none. */
static bool take_number(const struct http_request *request, const char *name, unsigned int *number)
{
	const char *text = http_request__argument(request, name);
	unsigned long value;
	char *end;

	if (!text)
		return true;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !value || value > SHARD_MEMBERS_MAX)
		return false;
	*number = value;
	return true;
}

/* A member and its shard, of which /sd names the targets; without a member all targets. */
struct sd_choice {
	struct membership membership;
	unsigned int member, replication;
};

static int take_choice(const struct exposition *exposition, const struct http_request *request,
		       struct sd_choice *choice, struct dart_error *error)
{
	const struct exposition_own *own = &exposition->sources.own;
	struct shard shard = {};

	*choice = (struct sd_choice){};
	if (!http_request__argument(request, "member"))
		return 0;
	if (!take_number(request, "member", &shard.member) ||
	    !take_number(request, "members", &shard.members) ||
	    !take_number(request, "replication", &shard.replication))
		return dart_error__set(error, EINVAL,
				       "member, members and replication are numbers from 1 to %u",
				       SHARD_MEMBERS_MAX);
	choice->member = shard.member;
	choice->replication = shard.replication;
	if (own->membership && !shard.members)
		own->membership(own->data, &choice->membership);
	if (choice->membership.is_listed)
		return 0;
	shard.members = shard.members ?: choice->membership.shard.members;
	membership__begin(&choice->membership, &shard);
	return shard__check(&shard, error);
}

static void fill_sd(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct exposition *exposition = data;
	const char *host = http_request__host(request);
	char own[HTTP_ADDRESS_TEXT_MAX];
	const enum label_names_form form =
		exposition_sd__form(http_request__header(request, "User-Agent"));
	struct snapshots snapshots;
	struct dart_error error;
	struct sd_choice choice;
	size_t i, printed = 0;
	FILE *file;
	int err = 0;

	if (take_choice(exposition, request, &choice, &error)) {
		print_sentence(answer, 400, "%s\n", error.text);
		return;
	}
	if (snapshot_table__take(&exposition->sources.table, NULL, &snapshots))
		return;
	if (!host || !*host) {
		http_request__own_address(request, own);
		host = own;
	}
	file = open_memstream(&answer->body, &answer->length);
	if (file)
		fputs("[\n", file);
	for (i = 0; file && i < snapshots.count && !err; i++) {
		if (!membership__has(&choice.membership, snapshots.all[i]->name, choice.member,
				     choice.replication))
			continue;
		if (printed++)
			fputs(",\n", file);
		err = exposition_sd__print(file, host, snapshots.all[i]->name,
					   snapshots.all[i]->target_labels, form);
	}
	if (file)
		fputs("\n]\n", file);
	/* With a truncated list, Prometheus would end scrapes of the missing targets. */
	if (file && (fclose(file) || err)) {
		free(answer->body);
		answer->body = NULL;
	}
	answer->type = answer->body ? "application/json" : NULL;
	snapshots__put(&snapshots);
}

void exposition__set_own(struct metric_output *output, const struct exposition_own *own)
{
	((struct exposition *)output)->sources.own = *own;
}

void exposition__pages(struct metric_output *output,
		       struct http_page pages[static EXPOSITION_PAGES])
{
	pages[0] = (struct http_page){ .path = "/metrics", .fill = fill_metrics, .data = output };
	pages[1] = (struct http_page){ .path = "/sd", .fill = fill_sd, .data = output };
	pages[2] = (struct http_page){ .path = "/-/metrics", .fill = fill_own, .data = output };
}
