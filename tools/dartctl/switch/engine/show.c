// SPDX-License-Identifier: GPL-2.0-only
/* Prints steps as lines or as JSON, see show.h. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "show.h"

static const char *const verbs[] = {
	[SWITCH_ADD] = "add",	[SWITCH_CHANGE] = "change", [SWITCH_REMOVE] = "remove",
	[SWITCH_STOP] = "stop", [SWITCH_START] = "start",
};

/* The entry that a step writes; NULL if it writes none. */
static const struct switch_entry *entry_of(const struct switch_object *object,
					   const struct switch_step *step, const void *wanted)
{
	if (!object->table || (step->verb != SWITCH_ADD && step->verb != SWITCH_CHANGE))
		return NULL;
	return switch_state__entry(wanted, object, step->first);
}

static uint32_t number_of(const struct switch_object *object, uint32_t number)
{
	return object->label == SWITCH_FROM_ONE ? number + 1 : number;
}

static const char *name_of(const struct switch_object *object, uint32_t number)
{
	return object->name_of(number) ?: "unknown";
}

/* The key of an entry that is an address, or begins with one; an entry that leaves exists only in @now. */
static const char *address_of(const struct switch_object *object, const struct switch_step *step,
			      const void *now, const void *wanted, char text[INET_ADDRSTRLEN])
{
	const void *state = step->verb == SWITCH_REMOVE ? now : wanted;
	const uint64_t key = switch_state__entry(state, object, step->first)->key;
	struct in_addr address = { htonl(key >> (object->table->key_bits - 32)) };

	return inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

/* ---- lines */

void switch_show__name(const struct switch_kind *kind, const struct switch_step *step,
		       char name[SWITCH_STEP_NAME])
{
	const struct switch_object *object = &kind->objects[step->object];
	int length = snprintf(name, SWITCH_STEP_NAME, "%s %s", verbs[step->verb], object->name);
	char *rest = name + length;

	if (object->label == SWITCH_NAMED) {
		snprintf(rest, SWITCH_STEP_NAME - length, " %s", name_of(object, step->first));
	} else if (object->label == SWITCH_FROM_ONE ||
		   (object->label == SWITCH_NUMBERED && object->table->key_bits)) {
		length = snprintf(rest, SWITCH_STEP_NAME - length, " %u",
				  number_of(object, step->first));
		if (step->last != step->first)
			snprintf(rest + length, SWITCH_STEP_NAME - (rest - name) - length, "-%u",
				 number_of(object, step->last));
	}
}

static void print_step(const struct switch_kind *kind, const struct switch_step *step,
		       const void *now, const void *wanted)
{
	const struct switch_object *object = &kind->objects[step->object];
	const struct switch_entry *entry = entry_of(object, step, wanted);
	const uint32_t count = step->last - step->first + 1;
	char name[SWITCH_STEP_NAME], address[INET_ADDRSTRLEN];

	switch_show__name(kind, step, name);
	fputs(name, stdout);
	if (object->label == SWITCH_BY_ADDRESS)
		printf(" of %s", address_of(object, step, now, wanted, address));
	if (object->label == SWITCH_COUNTED)
		printf(": %u %s", count, count == 1 ? "entry" : "entries");
	if (entry && object->place == SWITCH_REGISTER)
		printf(": %" PRIu64, entry->values[0]);
	else if (entry)
		switch_entry__print(object->table, entry);
	putchar('\n');
}

void switch_show__steps(const struct switch_kind *kind, const struct switch_steps *steps,
			const void *now, const void *wanted)
{
	size_t i;

	for (i = 0; i < steps->count; i++)
		print_step(kind, &steps->list[i], now, wanted);
}

/* ---- JSON */

/* Adds the members that tell which objects a step is about. */
static int add_label(json_t *json, const struct switch_object *object,
		     const struct switch_step *step, const void *now, const void *wanted)
{
	char address[INET_ADDRSTRLEN];

	switch (object->label) {
	case SWITCH_NUMBERED:
	case SWITCH_FROM_ONE:
		return json_object_set_new(json, "first",
					   json_integer(number_of(object, step->first))) ?:
		       json_object_set_new(json, "last",
					   json_integer(number_of(object, step->last)));
	case SWITCH_NAMED:
		return json_object_set_new(json, object->member,
					   json_string(name_of(object, step->first)));
	case SWITCH_BY_ADDRESS:
		return json_object_set_new(json, "address",
					   json_string(address_of(object, step, now, wanted,
								  address)));
	case SWITCH_COUNTED:
		return json_object_set_new(json, "entries",
					   json_integer(step->last - step->first + 1));
	case SWITCH_TOGETHER:
		break;
	}
	return 0;
}

static json_t *step_to_json(const struct switch_kind *kind, const struct switch_step *step,
			    const void *now, const void *wanted)
{
	const struct switch_object *object = &kind->objects[step->object];
	const struct switch_entry *entry = entry_of(object, step, wanted);
	json_t *json = json_pack("{s:s, s:s}", "verb", verbs[step->verb], "object", object->name);

	if (json && !add_label(json, object, step, now, wanted) &&
	    (!entry || !switch_entry__add_to(json, object->table, entry)))
		return json;
	json_decref(json);
	return NULL;
}

json_t *switch_show__to_json(const struct switch_kind *kind, const struct switch_steps *steps,
			     const void *now, const void *wanted)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; list && i < steps->count; i++) {
		if (!json_array_append_new(list, step_to_json(kind, &steps->list[i], now, wanted)))
			continue;
		json_decref(list);
		list = NULL;
	}
	return list;
}
