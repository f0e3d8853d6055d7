// SPDX-License-Identifier: GPL-2.0-only
/* Prints steps, as lines or as JSON. */
#include <arpa/inet.h>
#include <stdio.h>

#include "show.h"
#include "tools/dartctl/switch/bmv2/entry_show.h"

static const char *const verbs[] = {
	[LOOKUP_ADD] = "add",	    [LOOKUP_CHANGE] = "change",
	[LOOKUP_REMOVE] = "remove", [LOOKUP_STOP] = "stop",
	[LOOKUP_START] = "start",
};

static const char *const objects[] = {
	[LOOKUP_STEP_SELF] = "switch",
	[LOOKUP_STEP_SHARE] = "share",
	[LOOKUP_STEP_FROM] = "responses",
	[LOOKUP_STEP_SERVER] = "server",
	[LOOKUP_STEP_OTHERWISE] = "otherwise",
	[LOOKUP_STEP_STASH] = "stash",
	[LOOKUP_STEP_CACHE] = "cache",
	[LOOKUP_STEP_SESSION] = "session",
	[LOOKUP_STEP_GROUP] = "group",
	[LOOKUP_STEP_PSN] = "psn",
};

/* The entry that a step writes, and its table; NULL if it writes none. */
static const struct switch_entry *entry_of(const struct lookup_step *step,
					   const struct lookup_state *wanted,
					   const struct switch_table **table)
{
	*table = NULL;
	if ((step->verb != LOOKUP_ADD && step->verb != LOOKUP_CHANGE) ||
	    step->object >= LOOKUP_TABLES)
		return NULL;
	*table = &lookup_tables[step->object];
	return lookup_state__entry(wanted, step->object, step->first);
}

/* Sessions and groups are numbered from 1. */
static uint32_t number_of(const struct lookup_step *step, uint32_t number)
{
	return step->object == LOOKUP_STEP_SESSION ||
			       step->object == LOOKUP_STEP_GROUP ?
		       number + 1 :
		       number;
}

/* The address of a server whose responses a step is about. */
static const char *address_of(const struct lookup_step *step,
			      const struct lookup_state *now,
			      const struct lookup_state *wanted,
			      char text[INET_ADDRSTRLEN])
{
	const struct lookup_state *state = step->verb == LOOKUP_REMOVE ? now :
									 wanted;
	struct in_addr address = { htonl(state->from[step->first].ip) };

	return inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

/* ---- lines */

void lookup_show__name(const struct lookup_step *step,
		       char name[LOOKUP_STEP_NAME])
{
	const char *outcome = lookup_outcome__name(step->first);
	int length;

	length = snprintf(name, LOOKUP_STEP_NAME, "%s %s", verbs[step->verb],
			  objects[step->object]);
	switch (step->object) {
	case LOOKUP_STEP_SELF:
	case LOOKUP_STEP_FROM:
	case LOOKUP_STEP_STASH:
	case LOOKUP_STEP_CACHE:
		return;
	case LOOKUP_STEP_OTHERWISE:
		snprintf(name + length, LOOKUP_STEP_NAME - length, " %s",
			 outcome ?: "unknown");
		return;
	default:
		break;
	}
	length += snprintf(name + length, LOOKUP_STEP_NAME - length, " %u",
			   number_of(step, step->first));
	if (step->last != step->first)
		snprintf(name + length, LOOKUP_STEP_NAME - length, "-%u",
			 number_of(step, step->last));
}

static void print_step(const struct lookup_step *step,
		       const struct lookup_state *now,
		       const struct lookup_state *wanted)
{
	const struct switch_table *table;
	const struct switch_entry *entry = entry_of(step, wanted, &table);
	char name[LOOKUP_STEP_NAME], address[INET_ADDRSTRLEN];

	lookup_show__name(step, name);
	fputs(name, stdout);
	if (step->object == LOOKUP_STEP_FROM)
		printf(" of %s", address_of(step, now, wanted, address));
	if (entry)
		switch_entry__print(table, entry);
	else if (step->object == LOOKUP_STEP_PSN)
		printf(": %u", wanted->first_psns[step->first]);
	else if (step->object == LOOKUP_STEP_STASH)
		printf(": %u %s", step->last - step->first + 1,
		       step->last == step->first ? "entry" : "entries");
	else if (step->object == LOOKUP_STEP_SESSION ||
		 step->object == LOOKUP_STEP_GROUP)
		printf(": port %u", step->first);
	putchar('\n');
}

void lookup_show__steps(const struct lookup_steps *steps,
			const struct lookup_state *now,
			const struct lookup_state *wanted)
{
	size_t i;

	for (i = 0; i < steps->count; i++)
		print_step(&steps->list[i], now, wanted);
}

/* ---- JSON */

/* What the object is, by the number that people know. */
static json_t *pack_name(const struct lookup_step *step,
			 const struct lookup_state *now,
			 const struct lookup_state *wanted)
{
	const char *verb = verbs[step->verb], *object = objects[step->object];
	char address[INET_ADDRSTRLEN];

	switch (step->object) {
	case LOOKUP_STEP_SELF:
	case LOOKUP_STEP_CACHE:
		return json_pack("{s:s, s:s}", "verb", verb, "object", object);
	case LOOKUP_STEP_FROM:
		return json_pack("{s:s, s:s, s:s}", "verb", verb, "object",
				 object, "address",
				 address_of(step, now, wanted, address));
	case LOOKUP_STEP_STASH:
		return json_pack("{s:s, s:s, s:I}", "verb", verb, "object",
				 object, "entries",
				 (json_int_t)step->last - step->first + 1);
	case LOOKUP_STEP_OTHERWISE:
		return json_pack("{s:s, s:s, s:s}", "verb", verb, "object",
				 object, "outcome",
				 lookup_outcome__name(step->first) ?:
								     "unknown");
	default:
		return json_pack("{s:s, s:s, s:I, s:I}", "verb", verb, "object",
				 object, "first",
				 (json_int_t)number_of(step, step->first),
				 "last",
				 (json_int_t)number_of(step, step->last));
	}
}

static json_t *step_to_json(const struct lookup_step *step,
			    const struct lookup_state *now,
			    const struct lookup_state *wanted)
{
	const struct switch_table *table;
	const struct switch_entry *entry = entry_of(step, wanted, &table);
	json_t *json = pack_name(step, now, wanted);
	int ret = 0;

	if (!json)
		return NULL;
	if (entry)
		ret = switch_entry__add_to(json, table, entry);
	else if (step->object == LOOKUP_STEP_PSN)
		ret = json_object_set_new(
			json, "first_psn",
			json_integer(wanted->first_psns[step->first]));
	if (ret) {
		json_decref(json);
		return NULL;
	}
	return json;
}

json_t *lookup_show__to_json(const struct lookup_steps *steps,
			     const struct lookup_state *now,
			     const struct lookup_state *wanted)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; list && i < steps->count; i++) {
		if (!json_array_append_new(list, step_to_json(&steps->list[i],
							      now, wanted)))
			continue;
		json_decref(list);
		list = NULL;
	}
	return list;
}
