// SPDX-License-Identifier: GPL-2.0-only
/* Reads the coverage of a host from the entry that describes its agent. */
#include <stdio.h>
#include <string.h>

#include "coverage.h"

#define PREFIX "coverage_"
#define MISSING "_missing_"

static const struct sample_entry *find_agent(const struct sample *sample)
{
	uint32_t i;

	for (i = 0; i < sample->entry_count; i++)
		if (!strcmp(sample->entries[i].entry->name, "dartd"))
			return &sample->entries[i];
	return NULL;
}

/*
 * Prints "cgroups (watches)" for "coverage_cgroups_missing_watches"; returns false for other
 * fields.
 */
static bool name_missing(const struct dart_field *field, char *text, size_t size)
{
	const char *kind = field->name + strlen(PREFIX), *reason;

	if (strncmp(field->name, PREFIX, strlen(PREFIX)))
		return false;
	reason = strstr(kind, MISSING);
	if (!reason)
		return false;
	snprintf(text, size, "%.*s (%s)", (int)(reason - kind), kind, reason + strlen(MISSING));
	return true;
}

/*
 * Users choose which probes and maps they register, and a kernel without a source cannot serve it.
 */
static bool is_meant(const char *name)
{
	return !strcmp(name, "probes (unregistered)") || !strcmp(name, "maps (unregistered)") ||
	       strstr(name, " (unsupported)");
}

void check_coverage(struct findings *findings, const char *host, const struct sample *sample)
{
	const struct sample_entry *agent = find_agent(sample);
	const struct dart_schema *schema;
	uint64_t count, kinds = 0;
	char name[DART_CONTROL_NAME_MAX + 4], first[256] = "";
	uint32_t i, length = 0;

	if (!agent)
		return;
	schema = agent->entry->schema;
	for (i = 0; i < schema->field_count; i++) {
		if (!name_missing(&schema->fields[i], name, sizeof(name)))
			continue;
		kinds++;
		count = dart_field__get(&schema->fields[i], agent->copies, 0);
		if (count && !is_meant(name) && length < sizeof(first) - 1)
			length += snprintf(first + length, sizeof(first) - length, "%s%llu %s",
					   length ? ", " : "", (unsigned long long)count, name);
	}
	/* Agents of earlier releases do not report coverage. */
	if (!kinds)
		return;
	if (!length) {
		findings__ok(findings, "coverage", "the agent serves all that the host has");
		return;
	}
	findings__warn(findings, "coverage", "the host has what its agent does not serve: %s",
		       first);
	findings__command(findings, "ssh %s dartctl doctor", host);
}
