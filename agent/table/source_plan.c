// SPDX-License-Identifier: GPL-2.0-only
/* Counts the READs, bytes and CPU time of both ways, and applies the rules that choose one. */
#include "source_plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <dart/control.h>
#include <linux/dart_zero.h>

#include "records.h"

#define NS_IN_MS 1e6

void source_plan__interval(char text[static SOURCE_PLAN_INTERVAL_MAX], uint32_t ms)
{
	const bool is_seconds = ms % 1000 == 0;

	snprintf(text, SOURCE_PLAN_INTERVAL_MAX, is_seconds ? "%us" : "%ums",
		 is_seconds ? ms / 1000 : ms);
}

__attribute__((format(printf, 2, 3))) static void reason(struct source_plan *plan,
							 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(plan->reasons[plan->reason_count++], sizeof(*plan->reasons), format, arguments);
	va_end(arguments);
}

/* Room for a number of three digits, or more in front of the point. */
#define NUMBER_MAX 32
#define DECIMALS_MAX 6

/* Writes @number, not negative, without an exponent.  Returns @text. */
static const char *number_text(char text[static NUMBER_MAX], double number)
{
	int decimals = 0;
	double scaled = number;

	for (; scaled < 100 && decimals < DECIMALS_MAX; scaled *= 10)
		decimals++;
	snprintf(text, NUMBER_MAX, "%.*f", decimals, number);
	return text;
}

/* ---- the numbers */

static uint64_t reads_of(uint64_t bytes)
{
	return (bytes + SOURCE_PLAN_READ_BYTES - 1) / SOURCE_PLAN_READ_BYTES;
}

static void count_direct(struct source_plan *plan)
{
	const uint64_t copies = (uint64_t)plan->objects * plan->copies;

	if (plan->is_by_page) {
		/* At most: objects whose pages lie side by side are fetched with one READ. */
		plan->direct_reads = plan->objects * reads_of(plan->span);
		plan->direct_bytes = plan->objects * plan->span;
	} else {
		plan->direct_reads = copies * plan->runs;
		plan->direct_bytes = copies * plan->run_bytes;
	}
	plan->reads_share = (double)plan->direct_reads * SOURCE_PLAN_READ_NS /
			    SOURCE_PLAN_READS_AT_A_TIME / (plan->interval_ms * NS_IN_MS);
}

/* Records lie side by side on pages, of which each lot has a memory region: see records.h. */
static void count_gathered(struct source_plan *plan)
{
	uint64_t left = (uint64_t)plan->objects * plan->rows * plan->row_bytes, lots = 0, lot;

	plan->gathered_bytes = left;
	plan->gathered_reads = 0;
	while (left) {
		lot = records__next_bytes(lots);
		lots += lot;
		if (lot > left)
			lot = left;
		plan->gathered_reads += reads_of(lot);
		left -= lot;
	}
	plan->cpu_share = (double)plan->objects * (double)plan->pass_ns /
			  (plan->interval_ms * NS_IN_MS);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void reason_direct(struct source_plan *plan)
{
	reason(plan,
	       "Direct: %u object%s, %u cop%s of each with %u run%s of counters: %s%" PRIu64
	       " READ%s, %" PRIu64 " bytes.",
	       plan->objects, plural(plan->objects), plan->copies, plan->copies == 1 ? "y" : "ies",
	       plan->runs, plural(plan->runs), plan->is_by_page ? "at most " : "",
	       plan->direct_reads, plural(plan->direct_reads), plan->direct_bytes);
}

static void reason_gathered(struct source_plan *plan)
{
	reason(plan,
	       "Gathered: %u object%s, %s%u row%s of %u bytes for each: %" PRIu64
	       " READ%s, %" PRIu64 " bytes.",
	       plan->objects, plural(plan->objects), plan->has_more_rows ? "at least " : "",
	       plan->rows, plural(plan->rows), plan->row_bytes, plan->gathered_reads,
	       plural(plan->gathered_reads), plan->gathered_bytes);
}

/* ---- the rules */

static void choose_gathered(struct source_plan *plan, uint32_t ms)
{
	plan->is_gathered = true;
	plan->gather_ms = ms;
}

/* True if no controller could be served directly. */
static bool is_direct_impossible(struct source_plan *plan)
{
	if (plan->why_not_direct) {
		reason(plan, "Direct exposure is impossible: %s.", plan->why_not_direct);
		return true;
	}
	reason_direct(plan);
	if (plan->objects > plan->windows_max)
		reason(plan, "Direct exposure is impossible: the region shows at most %u objects.",
		       plan->windows_max);
	else if (plan->direct_bytes > DART_CONTROL_DATA_MAX)
		reason(plan,
		       "Direct exposure is impossible: a controller takes at most %d bytes.",
		       DART_CONTROL_DATA_MAX);
	else
		return false;
	return true;
}

/* The next whole millisecond or, from 10 s on, second. */
static uint32_t rounded_up(double ms)
{
	const uint32_t whole = (uint32_t)ms + 1;

	return whole < 10000 ? whole : (whole + 999) / 1000 * 1000;
}

/* What gathering costs, and the interval at which it costs what the host can well spare. */
static void reason_cost(struct source_plan *plan, const char *interval)
{
	const double spared_ms = (double)plan->objects * (double)plan->pass_ns /
				 SOURCE_PLAN_CPU_SHARE / NS_IN_MS;
	char spared[SOURCE_PLAN_INTERVAL_MAX], percent[NUMBER_MAX], us[NUMBER_MAX];

	reason(plan,
	       "Gathering costs the host about %s %% of a CPU: %u object%s of %s us every %s.",
	       number_text(percent, plan->cpu_share * 100), plan->objects, plural(plan->objects),
	       number_text(us, (double)plan->pass_ns / 1000), interval);
	if (plan->cpu_share <= SOURCE_PLAN_CPU_SHARE || spared_ms >= DART_ZERO_RECORD_MS_MAX)
		return;
	source_plan__interval(spared, rounded_up(spared_ms));
	reason(plan, "It costs %g %% or less at intervals from %s on.",
	       SOURCE_PLAN_CPU_SHARE * 100, spared);
}

/* The direct way needs more READs than the gathered way. */
static void weigh(struct source_plan *plan, const char *interval)
{
	char ms[NUMBER_MAX];

	number_text(ms, plan->reads_share * plan->interval_ms);
	if (plan->reads_share > SOURCE_PLAN_READS_SHARE) {
		reason(plan,
		       "The direct READs take %s ms, more than a tenth of %s: adapters answer %d of a controller at a time, here assumed to take %d us.",
		       ms, interval, SOURCE_PLAN_READS_AT_A_TIME, SOURCE_PLAN_READ_NS / 1000);
		reason_cost(plan, interval);
		choose_gathered(plan, plan->interval_ms);
		return;
	}
	reason_cost(plan, interval);
	if (plan->cpu_share > SOURCE_PLAN_CPU_SHARE) {
		reason(plan,
		       "The direct READs take %s ms, at most a tenth of %s, and cost the host nothing.",
		       ms, interval);
		return;
	}
	reason(plan, "Gathering saves a controller %" PRIu64 " of %" PRIu64 " READs.",
	       plan->direct_reads - plan->gathered_reads, plan->direct_reads);
	choose_gathered(plan, plan->interval_ms);
}

void source_plan__choose(struct source_plan *plan)
{
	const bool is_short = plan->interval_ms < DART_ZERO_RECORD_MS_MIN;
	char interval[SOURCE_PLAN_INTERVAL_MAX];
	bool is_impossible;

	source_plan__interval(interval, plan->interval_ms);
	plan->is_gathered = false;
	plan->gather_ms = 0;
	plan->reason_count = 0;
	count_direct(plan);
	count_gathered(plan);
	is_impossible = is_direct_impossible(plan);
	reason_gathered(plan);
	if (is_short)
		reason(plan, "The shortest interval of gathering is %d ms, longer than %s.",
		       DART_ZERO_RECORD_MS_MIN, interval);
	if (is_impossible) {
		choose_gathered(plan, is_short ? DART_ZERO_RECORD_MS_MIN : plan->interval_ms);
	} else if (!is_short && plan->direct_reads <= plan->gathered_reads) {
		reason(plan,
		       "Gathering saves a controller no READ, and direct exposure costs the host nothing.");
	} else if (!is_short) {
		weigh(plan, interval);
	}
}
