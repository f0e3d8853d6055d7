// SPDX-License-Identifier: GPL-2.0-only
/* Prints steps, as lines or as JSON. */
#include <stdio.h>

#include "show.h"
#include "tools/dartctl/switch/bmv2/entry_show.h"

static const char *const verbs[] = {
	[SWITCH_ADD] = "add",
	[SWITCH_CHANGE] = "change",
	[SWITCH_REMOVE] = "remove",
};

static const char *const objects[] = {
	[SWITCH_STEP_SHARE] = "share",
	[SWITCH_STEP_COLLECTOR] = "collector",
	[SWITCH_STEP_REPORTER] = "reporter",
	[SWITCH_STEP_SESSION] = "session",
	[SWITCH_STEP_PSN] = "psn",
};

/* The entry that a step writes, and its table; NULL if it writes none. */
static const struct switch_entry *entry_of(const struct switch_step *step,
					   const struct switch_state *wanted,
					   const struct switch_table **table)
{
	if (step->verb == SWITCH_REMOVE || step->object >= SWITCH_TABLES)
		return NULL;
	*table = &switch_tables[step->object];
	return switch_state__entry(wanted, step->object, step->first);
}

/* Sessions are numbered from 1, see struct switch_state. */
static uint32_t number_of(const struct switch_step *step, uint32_t number)
{
	return step->object == SWITCH_STEP_SESSION ? number + 1 : number;
}

/* ---- lines */

void switch_show__name(const struct switch_step *step,
		       char name[SWITCH_STEP_NAME])
{
	int length;

	length = snprintf(name, SWITCH_STEP_NAME, "%s %s", verbs[step->verb],
			  objects[step->object]);
	if (step->object != SWITCH_STEP_REPORTER)
		length += snprintf(name + length, SWITCH_STEP_NAME - length,
				   " %u", number_of(step, step->first));
	if (step->last != step->first)
		snprintf(name + length, SWITCH_STEP_NAME - length, "-%u",
			 number_of(step, step->last));
}

static void print_step(const struct switch_step *step,
		       const struct switch_state *wanted)
{
	const struct switch_table *table;
	const struct switch_entry *entry = entry_of(step, wanted, &table);
	char name[SWITCH_STEP_NAME];

	switch_show__name(step, name);
	fputs(name, stdout);
	if (entry)
		switch_entry__print(table, entry);
	else if (step->object == SWITCH_STEP_SESSION)
		printf(": port %d", wanted->sessions[step->first]);
	else if (step->object == SWITCH_STEP_PSN)
		printf(": %u", wanted->first_psns[step->first]);
	putchar('\n');
}

void switch_show__steps(const struct switch_steps *steps,
			const struct switch_state *wanted)
{
	uint32_t i;

	for (i = 0; i < steps->count; i++)
		print_step(&steps->list[i], wanted);
}

/* ---- JSON */

static json_t *step_to_json(const struct switch_step *step,
			    const struct switch_state *wanted)
{
	const struct switch_table *table;
	const struct switch_entry *entry = entry_of(step, wanted, &table);
	int ret = 0;
	json_t *json = json_pack("{s:s, s:s, s:i, s:i}",
				 "verb", verbs[step->verb],
				 "object", objects[step->object],
				 "first", number_of(step, step->first),
				 "last", number_of(step, step->last));

	if (!json)
		return NULL;
	if (entry)
		ret = switch_entry__add_to(json, table, entry);
	else if (step->object == SWITCH_STEP_SESSION)
		ret = json_object_set_new(json, "port",
				json_integer(wanted->sessions[step->first]));
	else if (step->object == SWITCH_STEP_PSN)
		ret = json_object_set_new(json, "first_psn",
				json_integer(wanted->first_psns[step->first]));
	if (ret) {
		json_decref(json);
		return NULL;
	}
	return json;
}

json_t *switch_show__to_json(const struct switch_steps *steps,
			     const struct switch_state *wanted)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < steps->count; i++) {
		if (!json_array_append_new(list, step_to_json(&steps->list[i],
							      wanted)))
			continue;
		json_decref(list);
		list = NULL;
	}
	return list;
}
