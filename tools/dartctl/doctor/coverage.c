// SPDX-License-Identifier: GPL-2.0-only
/* Check "coverage": dartd serves the objects of this host. */
#include <string.h>

#include "checks.h"

/* Probes and maps are registered by choice. */
static bool is_by_choice(const char *kind)
{
	return !strcmp(kind, "probes") || !strcmp(kind, "maps");
}

/* Is the remedy a command that can be run unchanged? */
static bool is_command(const char *remedy)
{
	return (!strncmp(remedy, "sysctl ", 7) || !strncmp(remedy, "dartctl ", 8) ||
		!strncmp(remedy, "journalctl ", 11)) &&
	       !strstr(remedy, ", or ") && !strstr(remedy, "what is not needed");
}

/* All unregistered objects make one finding, regardless of their kinds. */
struct unregistered {
	json_int_t count;
	const char *kind, *example;
};

static void check_missing(struct findings *findings, const char *kind, const json_t *missing,
			  struct unregistered *unregistered, json_int_t *unsupported,
			  bool *is_complete)
{
	const char *reason, *example, *why, *remedy;
	json_int_t count;

	if (json_unpack((json_t *)missing, "{s:s, s:I, s:s, s:s, s:s}", "reason", &reason, "count",
			&count, "example", &example, "why", &why, "remedy", &remedy))
		return;
	if (!strcmp(reason, "unregistered")) {
		if (is_by_choice(kind))
			return;
		if (!unregistered->count) {
			unregistered->kind = kind;
			unregistered->example = example;
		}
		unregistered->count += count;
		return;
	}
	if (!strcmp(reason, "unsupported")) {
		*unsupported += count;
		return;
	}
	*is_complete = false;
	findings__warn(findings, "coverage", "%lld %s are left out (%s), such as %s: %s",
		       (long long)count, kind, reason, example, why);
	if (is_command(remedy))
		findings__command(findings, "%s", remedy);
	else
		findings__advise(findings, "%s", remedy);
}

void check_coverage(struct findings *findings, const struct running_agent *agent)
{
	struct unregistered unregistered = {};
	json_int_t present, unsupported = 0, total = 0;
	json_t *coverage, *line, *missing, *one;
	bool is_complete = true;
	const char *kind;
	size_t i, j;

	coverage = json_object_get(agent->status, "coverage");
	if (!coverage)
		return;
	json_array_foreach(coverage, i, line) {
		if (json_unpack(line, "{s:s, s:I, s:o}", "kind", &kind,
				"present", &present, "missing", &missing))
			continue;
		total += is_by_choice(kind) ? 0 : present;
		json_array_foreach(missing, j, one)
			check_missing(findings, kind, one, &unregistered,
				      &unsupported, &is_complete);
	}
	if (unregistered.count) {
		findings__warn(
			findings, "coverage",
			"%lld of %lld objects of this host are not registered, such as %s (%s)",
			(long long)unregistered.count, (long long)total,
			unregistered.example, unregistered.kind);
		findings__command(findings, "dartctl register host");
	} else if (is_complete) {
		findings__ok(
			findings, "coverage",
			unsupported ?
				"all %lld objects of this host are served, but for %lld that this kernel or device does not support" :
				"all %lld objects of this host are served",
			(long long)total, (long long)unsupported);
	}
}
