// SPDX-License-Identifier: GPL-2.0-only
/* Brings a running switch with lookup tables into the wanted state, and verifies that. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bmv2.h"
#include "live.h"
#include "show.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/bmv2/table.h"
#include "tools/dartctl/switch/reports/bmv2.h"

struct live {
	const struct lookup_wish *wish;
	struct thrift *thrift;
	struct switch_program program;
	struct lookup_sizes sizes;
	struct lookup_state *now, *wanted;
	struct lookup_steps steps;
	bool has_begun; /* to change the switch */
	struct dart_error error;
};

static int read_program(struct live *live)
{
	return switch_bmv2__read_program(live->thrift, &lookup_program, &live->program, &live->error) ?:
		       lookup_program__check(&live->program, &live->wish->tables, &live->error) ?:
		       lookup_program__sizes(&live->program, &live->sizes,
					     &live->error);
}

/* Compares the state of the switch with the wish, which makes the steps. */
static int compare(struct live *live)
{
	int ret;

	live->now = lookup_state__new();
	if (!live->now)
		return dart_error__no_memory(&live->error);
	ret = lookup_bmv2__read(live->thrift, live->wish, &live->sizes,
				live->now, &live->error);
	if (ret)
		return ret;
	live->wanted = lookup_state__want(live->wish, live->now);
	if (!live->wanted ||
	    lookup_steps__compute(live->now, live->wanted,
				  live->wish->last, &live->steps))
		return dart_error__no_memory(&live->error);
	return 0;
}

/* Reads the state of the switch again; no step may be left. */
static int verify(struct live *live)
{
	struct lookup_state *found = lookup_state__new();
	struct lookup_steps rest = { .list = NULL };
	char name[LOOKUP_STEP_NAME];
	int ret;

	if (!found)
		return dart_error__no_memory(&live->error);
	ret = lookup_bmv2__read(live->thrift, live->wish, &live->sizes, found,
				&live->error);
	if (!ret && lookup_steps__compute(found, live->wanted, NULL, &rest))
		ret = dart_error__no_memory(&live->error);
	if (!ret && rest.count) {
		lookup_show__name(&rest.list[0], name);
		ret = dart_error__set(
			&live->error, EIO,
			"it does not have what it was told (left to do: %s)",
			name);
	}
	lookup_steps__free(&rest);
	lookup_state__free(found);
	return ret;
}

static int change(struct live *live)
{
	live->has_begun = true;
	return switch_bmv2__set_polynomials(live->thrift, &live->program, &live->error) ?:
		       lookup_bmv2__apply(live->thrift, &live->steps, &live->sizes, live->now, live->wanted, &live->error) ?:
		       verify(live);
}

static int show(const struct live *live, bool as_json)
{
	if (as_json)
		return print_json(lookup_show__to_json(&live->steps, live->now,
						       live->wanted),
				  0);
	lookup_show__steps(&live->steps, live->now, live->wanted);
	if (!live->steps.count)
		puts("nothing to change");
	return EXIT_SUCCESS;
}

int lookup_live__push(const char *name, const struct lookup_wish *wish,
		      bool is_dry, bool as_json, struct dart_error *error)
{
	struct live live = { .wish = wish };
	int ret;

	ret = thrift__connect(name, &live.thrift, &live.error) ?:
		      read_program(&live) ?:
								 compare(&live);
	if (!ret && !is_dry)
		ret = change(&live);
	if (ret)
		dart_error__set(error, -ret, "cannot push to '%s': %s%s", name,
				live.error.text,
				live.has_begun ?
					" (it is partly changed: push again)" :
					"");
	else if (show(&live, as_json))
		ret = dart_error__no_memory(error);
	lookup_steps__free(&live.steps);
	lookup_state__free(live.wanted);
	lookup_state__free(live.now);
	switch_program__free(&live.program);
	thrift__close(live.thrift);
	return ret;
}

int lookup_live__is_set_up(struct thrift *thrift, bool *is_set_up,
			   struct dart_error *error)
{
	struct switch_entry self = { .there = false };
	int ret;

	ret = bmv2_table__read_numbers(thrift, &lookup_tables[LOOKUP_SELF],
				       &self, error);
	*is_set_up = self.there;
	return ret;
}
