// SPDX-License-Identifier: GPL-2.0-only
/* Brings a running switch into the wanted state, and verifies that, see live.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "live.h"
#include "show.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/table.h"

struct live {
	const struct switch_push *push;
	const struct switch_kind *kind;
	struct thrift *thrift;
	struct switch_program program;
	void *now, *wanted; /* states */
	struct switch_steps steps;
	bool has_begun; /* to change the switch */
	struct dart_error error;
};

/* ---- steps */

/* The entry of the switch in place of which a step writes @wanted; NULL if there is none. */
static const struct switch_entry *entry_now(const void *now, const struct switch_object *object,
					    const struct switch_entry *wanted, uint32_t number)
{
	const struct switch_entry *entries = switch_state__entry(now, object, 0);
	uint32_t i;

	if (!object->table->is_sparse)
		return &entries[number];
	for (i = 0; i < object->table->entries; i++)
		if (entries[i].there && entries[i].key == wanted->key)
			return &entries[i];
	return NULL;
}

static int change_entry(const struct switch_change *change, const struct switch_object *object,
			enum switch_verb verb, uint32_t number)
{
	const struct switch_table *table = object->table;
	const struct switch_entry *wanted, *now;
	struct bmv2_entry entry;

	if (verb == SWITCH_REMOVE)
		return bmv2_table__remove(change->thrift, table->name,
					  switch_state__entry(change->now, object, number)->handle,
					  change->error);
	wanted = switch_state__entry(change->wanted, object, number);
	bmv2_entry__set(&entry, table, table->is_sparse ? wanted->key : number, wanted);
	if (!table->key_bits)
		return bmv2_table__set_default(change->thrift, table->name, table->action, &entry,
					       change->error);
	if (verb == SWITCH_ADD)
		return bmv2_table__add(change->thrift, table->name, table->action, &entry,
				       change->error);
	now = entry_now(change->now, object, wanted, number);
	entry.handle = now ? now->handle : 0;
	return bmv2_table__change(change->thrift, table->name, table->action, &entry,
				  change->error);
}

static int apply_step(const struct switch_change *change, const struct switch_step *step,
		      uint32_t number)
{
	const struct switch_object *object = &change->kind->objects[step->object];

	if (object->place == SWITCH_TABLE && step->verb <= SWITCH_REMOVE)
		return change_entry(change, object, step->verb, number);
	if (object->place == SWITCH_SESSION)
		return bmv2_session__set(
			change->thrift, 1 + number,
			switch_state__entry(change->wanted, object, number)->values[0],
			change->error);
	return change->kind->apply(change, step, number);
}

static int apply(struct live *live)
{
	const struct switch_change change = { live->kind, live->thrift, live->now, live->wanted,
					      &live->error };
	const struct switch_step *step = live->steps.list, *end = step + live->steps.count;
	uint32_t number;
	int ret = 0;

	for (; !ret && step < end; step++)
		for (number = step->first; !ret && number <= step->last; number++)
			ret = apply_step(&change, step, number);
	return ret;
}

/* ---- states */

void *switch_state__new(const struct switch_kind *kind)
{
	return calloc(1, kind->state_size);
}

void switch_state__free(const struct switch_kind *kind, void *state)
{
	if (state && kind->release)
		kind->release(state);
	free(state);
}

int switch_state__read(const struct switch_kind *kind, struct thrift *thrift, const void *wish,
		       void *state, struct dart_error *error)
{
	const struct switch_object *object;
	int ret = 0;

	for (object = kind->objects; !ret && object < kind->objects + kind->object_count; object++)
		if (object->place == SWITCH_TABLE)
			ret = bmv2_table__read_numbers(thrift, object->table,
						       switch_state__entry(state, object, 0),
						       error);
	return ret ?: kind->read(thrift, wish, state, error);
}

/* Reads the state of the switch to a new @state, which the caller frees, also after an error. */
static int read_state(struct live *live, void **state)
{
	const struct switch_kind *kind = live->kind;
	int ret = 0;

	*state = switch_state__new(kind);
	if (!*state)
		return dart_error__no_memory(&live->error);
	if (kind->prepare)
		ret = kind->prepare(*state, &live->program, &live->error);
	return ret ?: switch_state__read(kind, live->thrift, live->push->wish, *state,
					 &live->error);
}

/* Compares the state of the switch with the wish, which makes the steps. */
static int compare(struct live *live)
{
	const struct switch_kind *kind = live->kind;
	int ret;

	ret = switch_program__read(&live->program, &kind->needs, live->thrift, &live->error) ?:
	      kind->check(&live->program, live->push->wish, &live->error) ?:
	      read_state(live, &live->now);
	if (ret)
		return ret;
	live->wanted = switch_state__new(kind);
	if (!live->wanted || kind->want(live->push->wish, live->now, live->wanted) ||
	    kind->compute(live->now, live->wanted, live->push->last, &live->steps))
		return dart_error__no_memory(&live->error);
	return 0;
}

/* Reads the state of the switch again; no step may be left. */
static int verify(struct live *live)
{
	const struct switch_kind *kind = live->kind;
	struct switch_steps rest = { .count = 0 };
	char name[SWITCH_STEP_NAME];
	void *found;
	int ret;

	ret = read_state(live, &found);
	if (!ret && kind->compute(found, live->wanted, NULL, &rest))
		ret = dart_error__no_memory(&live->error);
	if (!ret && rest.count) {
		switch_show__name(kind, &rest.list[0], name);
		ret = dart_error__set(&live->error, EIO,
				      "it does not have what it was told (left to do: %s)", name);
	}
	switch_steps__free(&rest);
	switch_state__free(kind, found);
	return ret;
}

/* ---- the push */

static int change(struct live *live)
{
	live->has_begun = true;
	return switch_program__set_polynomials(&live->program, live->thrift, &live->error) ?:
	       apply(live) ?: verify(live);
}

static int show(const struct live *live)
{
	if (live->push->as_json)
		return print_json(
			switch_show__to_json(live->kind, &live->steps, live->now, live->wanted), 0);
	switch_show__steps(live->kind, &live->steps, live->now, live->wanted);
	if (!live->steps.count)
		puts("nothing to change");
	return EXIT_SUCCESS;
}

int switch_live__push(const struct switch_push *push, struct dart_error *error)
{
	struct live live = { .push = push, .kind = push->kind };
	int ret;

	ret = thrift__connect(push->name, &live.thrift, &live.error) ?: compare(&live);
	if (!ret && !push->is_dry)
		ret = change(&live);
	if (ret)
		dart_error__set(error, -ret, "cannot push to '%s': %s%s", push->name,
				live.error.text,
				live.has_begun ? " (it is partly changed: push again)" : "");
	else if (show(&live))
		ret = dart_error__no_memory(error);
	switch_steps__free(&live.steps);
	switch_state__free(push->kind, live.wanted);
	switch_state__free(push->kind, live.now);
	switch_program__free(&live.program);
	thrift__close(live.thrift);
	return ret;
}

/* ---- the look */

/* Reads one table after the other until one has an entry. */
static bool is_empty(struct thrift *thrift, const struct switch_kind *kind, void *state)
{
	const struct switch_object *object;
	struct switch_entry *entries;
	struct dart_error error;
	uint32_t i;

	for (object = kind->objects; object < kind->objects + kind->object_count; object++) {
		if (object->place != SWITCH_TABLE)
			continue;
		entries = switch_state__entry(state, object, 0);
		if (bmv2_table__read_numbers(thrift, object->table, entries, &error))
			return true;
		for (i = 0; i < (object->table->key_bits ? object->table->entries : 1); i++)
			if (entries[i].there)
				return false;
	}
	return true;
}

bool switch_live__is_lost(const char *name, const struct switch_kind *kind)
{
	struct dart_error error;
	struct thrift *thrift;
	void *state;
	bool is_lost;

	if (thrift__connect(name, &thrift, &error))
		return true;
	state = switch_state__new(kind);
	is_lost = state && is_empty(thrift, kind, state);
	switch_state__free(kind, state);
	thrift__close(thrift);
	return is_lost;
}
