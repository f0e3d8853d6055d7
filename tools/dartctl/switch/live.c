// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/error.h>

#include "bmv2.h"
#include "live.h"
#include "show.h"
#include "tools/dartctl/command.h"

struct live {
	const struct switch_wish *wish;
	struct thrift *thrift;
	struct switch_program program;
	struct switch_state *now, *wanted;
	struct switch_plan plan;
	bool has_begun;		/* to change the switch */
	struct dart_error error;
};

static int out_of_memory(struct live *live)
{
	return dart_error__set(&live->error, ENOMEM, "memory is short");
}

/* Compares what the switch has with what is wished. */
static int make_plan(struct live *live)
{
	int ret;

	ret = switch_bmv2__read_program(live->thrift, &live->program,
					&live->error);
	if (!ret)
		ret = switch_program__check(&live->program, live->wish,
					    &live->error);
	if (ret)
		return ret;
	live->now = switch_state__new();
	if (!live->now)
		return out_of_memory(live);
	ret = switch_bmv2__read(live->thrift, live->wish, live->now,
				&live->error);
	if (ret)
		return ret;
	live->wanted = switch_state__want(live->wish, live->now);
	if (!live->wanted)
		return out_of_memory(live);
	switch_plan__make(live->now, live->wanted, &live->plan);
	return 0;
}

/* Reads all of it again: then nothing may be left to do. */
static int verify(struct live *live)
{
	struct switch_state *found = switch_state__new();
	struct switch_plan *rest = malloc(sizeof(*rest));
	char name[SWITCH_STEP_NAME];
	int ret;

	if (!found || !rest)
		ret = out_of_memory(live);
	else
		ret = switch_bmv2__read(live->thrift, live->wish, found,
					&live->error);
	if (!ret) {
		switch_plan__make(found, live->wanted, rest);
		if (rest->count) {
			switch_show__name(&rest->steps[0], name);
			dart_error__set(
				&live->error, 0,
				"it does not have what it was told (left to do: %s)",
				name);
			ret = -EIO;
		}
	}
	free(rest);
	free(found);
	return ret;
}

static int change(struct live *live)
{
	int ret;

	live->has_begun = true;
	ret = switch_bmv2__set_polynomials(live->thrift, &live->program,
					   &live->error);
	if (!ret)
		ret = switch_bmv2__follow(live->thrift, &live->plan, live->now,
					  live->wanted, &live->error);
	return ret ?: verify(live);
}

static int show(const struct live *live, bool as_json)
{
	json_t *steps;
	int ret;

	if (!as_json) {
		switch_show__plan(&live->plan, live->wanted);
		if (!live->plan.count)
			puts("nothing to change");
		return 0;
	}
	steps = json_pack("{s:o}", "changes",
			  switch_show__to_json(&live->plan, live->wanted));
	ret = steps ? json_dumpf(steps, stdout, JSON_INDENT(2)) : -1;
	json_decref(steps);
	if (!ret)
		putchar('\n');
	return ret;
}

int switch_live__push(const char *name, const struct switch_wish *wish,
		      bool is_dry, bool as_json)
{
	struct live *live = calloc(1, sizeof(*live));
	int ret;

	if (!live)
		return fail("memory is short");
	live->wish = wish;
	ret = thrift__connect(name, &live->thrift, &live->error);
	if (!ret)
		ret = make_plan(live);
	if (!ret && !is_dry)
		ret = change(live);
	if (ret)
		fail("cannot push to %s: %s%s", name, live->error.text,
		     live->has_begun ? " (some has changed: push again)" : "");
	else if (show(live, as_json))
		ret = fail("memory is short");
	free(live->wanted);
	free(live->now);
	switch_program__free(&live->program);
	thrift__close(live->thrift);
	free(live);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
