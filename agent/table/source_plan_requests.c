// SPDX-License-Identifier: GPL-2.0-only
/* The request for a source plan: looks at the selected object in both ways, and leaves no trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>

#include "registry.h"
#include "source_plan.h"

/* The shortest interval that a controller can have. */
#define INTERVAL_MS_MIN 1

/*
 * So many rounds are timed, each of several passes because reading the clock takes time, too; the
 * shortest round met neither an interrupt nor a page fault.
 */
#define ROUNDS 5
#define PASSES 8

/* A plan in the making. */
struct planning {
	struct registry *registry;
	struct selector selector;	/* gathered */
	struct source_plan plan;
	struct dart_error why_not_direct;
};

/* ---- the direct way */

/* Adds up the runs of all copies, as a pass of the gathering does. */
static uint64_t add_up(const struct region *region, const struct entry *entry)
{
	const uint8_t *copy = region->memory + entry->extent.data, *run;
	uint64_t sum = 0, word = 0;
	uint32_t i, j, at, length;

	for (i = 0; i < entry->extent.copies; i++, copy += entry->extent.stride) {
		for (j = 0; j < entry->run_count; j++) {
			run = copy + entry->runs[j].offset;
			length = entry->runs[j].length;
			for (at = 0; at + sizeof(word) <= length; at += sizeof(word)) {
				memcpy(&word, run + at, sizeof(word));
				sum += word;
			}
			for (; at < length; at++)
				sum += run[at];
		}
	}
	return sum;
}

/* Nanoseconds of a pass, with the counters in the caches of this CPU. */
static uint64_t time_pass(const struct region *region, const struct entry *entry)
{
	uint64_t shortest = UINT64_MAX;
	uint64_t began, took;
	int round, pass;

	for (round = 0; round < ROUNDS; round++) {
		began = dart_clock__ns(CLOCK_MONOTONIC);
		/* A use of the sum, or the compiler leaves the pass out. */
		for (pass = 0; pass < PASSES; pass++)
			__asm__ volatile("" : : "r"(add_up(region, entry)) : "memory");
		took = dart_clock__ns(CLOCK_MONOTONIC) - began;
		if (took < shortest)
			shortest = took;
	}
	return shortest / PASSES ?: 1;
}

static void planning__describe(struct planning *planning, const struct entry *entry)
{
	const struct exposure *exposure = planning->registry->rooms.exposure;
	const struct dart_zero_extent *extent = &entry->extent;
	struct source_plan *plan = &planning->plan;
	uint32_t i;

	plan->is_by_page = exposure->mode == DART_CONTROL_EXPOSURE_PAGE;
	plan->copies = extent->copies;
	plan->runs = entry->run_count;
	for (i = 0; i < entry->run_count; i++)
		plan->run_bytes += entry->runs[i].length;
	plan->span = (extent->copies - 1) * extent->stride + extent->length;
	plan->pass_ns = time_pass(planning->registry->rooms.region, entry);
}

/* The entry that shows the counters already: in the table, or on lease. */
static int planning__describe_known(struct planning *planning, const struct selector_key *key,
				    struct dart_error *error)
{
	const struct inventory *inventory = &planning->registry->inventory;
	const struct entry *entry = inventory__find_source(inventory, key) ?:
					    inventory__find_leased_source(inventory, key);

	if (!entry)
		return dart_error__set(
			error, EBUSY,
			"an earlier entry of these counters is about to leave the table");
	planning__describe(planning, entry);
	return 0;
}

/* Is it an error of the direct way only? */
static bool forbids_windows(int ret)
{
	return ret == -EACCES || ret == -EPERM || ret == -EFBIG || ret == -EDQUOT || ret == -ENOSPC;
}

/* Opens the window for a moment, and publishes nothing. */
static int planning__look_directly(struct planning *planning, struct dart_error *error)
{
	struct registry *registry = planning->registry;
	struct region *region = registry->rooms.region;
	struct selector direct = planning->selector;
	struct dart_zero_info info;
	struct entry *entry;
	int ret;

	direct.key.gather_ms = 0;
	if (direct.source->fields) {
		dart_error__set(&planning->why_not_direct, EINVAL,
				"the kernel does not keep the values of %s by CPU",
				direct.source->name);
		planning->plan.why_not_direct = planning->why_not_direct.text;
		return 0;
	}
	ret = region__info(region, &info);
	if (ret)
		return dart_error__system(error, -ret, "cannot query region");
	planning->plan.windows_max = info.extents_max;
	ret = entry__new_source(region, &registry->schemas, &direct, &entry, error);
	if (ret == -EEXIST)
		return planning__describe_known(planning, &direct.key, error);
	if (forbids_windows(ret)) {
		planning->why_not_direct = *error;
		planning->plan.why_not_direct = planning->why_not_direct.text;
		return 0;
	}
	if (ret)
		return ret;
	planning__describe(planning, entry);
	entry__free(entry, region);
	return 0;
}

/* ---- both ways */

static int planning__make(struct planning *planning, struct dart_error *error)
{
	struct registry *registry = planning->registry;
	struct source_plan *plan = &planning->plan;
	struct record_size size;
	int ret;

	/* First, because an error of this call makes the direct way impossible, too. */
	ret = records__measure(&registry->records, &registry->schemas, &planning->selector, &size,
			       error) ?:
		      planning__look_directly(planning, error);
	if (ret)
		return ret;
	plan->rows = size.rows;
	plan->row_bytes = size.row_bytes;
	plan->has_more_rows = size.has_more_rows;
	source_plan__choose(plan);
	return 0;
}

/* ---- request and reply */

static json_t *true_or_nothing(bool is_true)
{
	return is_true ? json_true() : NULL;
}

static json_t *describe_direct(const struct source_plan *plan)
{
	if (plan->why_not_direct)
		return NULL;
	return json_pack("{s:i, s:i, s:I, s:o*, s:I, s:f}", "copies", plan->copies, "runs",
			 plan->runs, "reads", (json_int_t)plan->direct_reads, "at_most",
			 true_or_nothing(plan->is_by_page), "bytes", (json_int_t)plan->direct_bytes,
			 "reads_share", plan->reads_share);
}

static json_t *describe_gathered(const struct source_plan *plan)
{
	json_t *described =
		json_pack("{s:i, s:i, s:I, s:o*, s:I}", "rows", plan->rows, "row_bytes",
			  plan->row_bytes, "reads", (json_int_t)plan->gathered_reads, "at_least",
			  true_or_nothing(plan->has_more_rows), "bytes",
			  (json_int_t)plan->gathered_bytes);

	if (plan->pass_ns)
		json_object_update_new(described,
				       json_pack("{s:I, s:f}", "pass_ns", (json_int_t)plan->pass_ns,
						 "cpu_share", plan->cpu_share));
	return described;
}

static json_t *describe_plan(const struct source_plan *plan, const char *source)
{
	json_t *reasons = json_array();
	char gather[SOURCE_PLAN_INTERVAL_MAX];
	uint32_t i;

	source_plan__interval(gather, plan->gather_ms);
	for (i = 0; i < plan->reason_count; i++)
		reply__append(&reasons, json_string(plan->reasons[i]));
	return json_pack("{s:s, s:i, s:i, s:s, s:s*, s:o*, s:o, s:o}", "source", source,
			 "interval_ms", plan->interval_ms, "objects", plan->objects, "way",
			 plan->is_gathered ? "gathered" : "direct", "gather",
			 plan->is_gathered ? gather : NULL, "direct", describe_direct(plan),
			 "gathered", describe_gathered(plan), "reasoning", reasons);
}

static int check_objects(const struct source *source, json_int_t objects, struct dart_error *error)
{
	if (objects < 1 || objects > DART_ZERO_RECORDS_MAX)
		return dart_error__set(error, EINVAL, "'objects' is a number from 1 to %d",
				       DART_ZERO_RECORDS_MAX);
	if (objects > 1 && source->selector == SOURCE_SELECTOR_NONE)
		return dart_error__set(error, EINVAL, "there is one %s of a host", source->name);
	return 0;
}

static int planning__unpack(struct planning *planning, struct request *request)
{
	struct selector_choice choice = { .fd = request->fd, .path = request->path };
	struct source_plan *plan = &planning->plan;
	const char *name, *interval;
	const struct source *source;
	json_int_t objects = 1;
	int ret;

	ret = request__unpack(request, "{s:s, s:s, s?I, s?s, s?s, s?s, s?s, s?s !}", "source",
			      &name, "interval", &interval, "objects", &objects, "netns",
			      &choice.netns, "netdev", &choice.netdev, "disk", &choice.disk,
			      "cgroup", &choice.cgroup, "filesystem", &choice.filesystem) ?:
		      selector__parse_interval_from(INTERVAL_MS_MIN, interval, &plan->interval_ms,
						    &request->error) ?:
		      selector__find_source(name, &source, &request->error) ?:
		      check_objects(source, objects, &request->error);
	if (ret)
		return ret;
	plan->objects = objects;
	choice.gather_ms = plan->interval_ms < DART_ZERO_RECORD_MS_MIN ? DART_ZERO_RECORD_MS_MIN :
									 plan->interval_ms;
	return selector__choose(&planning->selector, source, &choice, &request->error);
}

static int plan_source(struct request *request)
{
	struct planning planning = { .registry = request->subject };
	int ret = planning__unpack(&planning, request);

	if (ret)
		return ret;
	ret = planning__make(&planning, &request->error);
	if (!ret)
		request->result = describe_plan(&planning.plan, planning.selector.source->name);
	selector__close(&planning.selector);
	return ret;
}

const struct request_type source_plan_requests[] = {
	{ "source-plan", "plan", plan_source,
	  .only_root = "plan how a source is exposed", .fd = REQUEST_FD_OPTIONAL },
	{ }
};
