// SPDX-License-Identifier: GPL-2.0-only
/* Brings a running switch into the wanted state, and verifies that. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "live.h"
#include "show.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/reports/bmv2.h"
#include "tools/dartctl/switch/reports/program.h"

struct live {
	const struct switch_wish *wish;
	struct thrift *thrift;
	struct switch_program program;
	struct switch_state *now, *wanted;
	struct switch_steps steps;
	bool has_begun; /* to change the switch */
	struct dart_error error;
};

/* Compares the state of the switch with the wish, which makes the steps. */
static int compare(struct live *live)
{
	int ret;

	ret = switch_bmv2__read_program(live->thrift, &switch_report_program, &live->program, &live->error) ?:
		      switch_report_program__check(&live->program, live->wish,
						   &live->error);
	if (ret)
		return ret;
	live->now = switch_state__new();
	if (!live->now)
		return dart_error__no_memory(&live->error);
	ret = switch_bmv2__read(live->thrift, live->wish, live->now,
				&live->error);
	if (ret)
		return ret;
	live->wanted = switch_state__want(live->wish, live->now);
	if (!live->wanted)
		return dart_error__no_memory(&live->error);
	switch_steps__compute(live->now, live->wanted, &live->steps);
	return 0;
}

/* Reads the state of the switch again; no step may be left. */
static int verify(struct live *live)
{
	struct switch_state *found = switch_state__new();
	struct switch_steps *rest = malloc(sizeof(*rest));
	char name[SWITCH_STEP_NAME];
	int ret;

	if (!found || !rest)
		ret = dart_error__no_memory(&live->error);
	else
		ret = switch_bmv2__read(live->thrift, live->wish, found,
					&live->error);
	if (!ret) {
		switch_steps__compute(found, live->wanted, rest);
		if (rest->count) {
			switch_show__name(&rest->list[0], name);
			ret = dart_error__set(
				&live->error, EIO,
				"it does not have what it was told (left to do: %s)",
				name);
		}
	}
	free(rest);
	free(found);
	return ret;
}

static int change(struct live *live)
{
	live->has_begun = true;
	return switch_bmv2__set_polynomials(live->thrift, &live->program, &live->error) ?:
		       switch_bmv2__apply(live->thrift, &live->steps, live->now, live->wanted, &live->error) ?:
		       verify(live);
}

static int show(const struct live *live, bool as_json)
{
	if (as_json)
		return print_json(
			switch_show__to_json(&live->steps, live->wanted), 0);
	switch_show__steps(&live->steps, live->wanted);
	if (!live->steps.count)
		puts("nothing to change");
	return EXIT_SUCCESS;
}

int switch_live__push(const char *name, const struct switch_wish *wish,
		      bool is_dry, bool as_json, struct dart_error *error)
{
	struct live *live = calloc(1, sizeof(*live));
	int ret;

	if (!live)
		return dart_error__no_memory(error);
	live->wish = wish;
	ret = thrift__connect(name, &live->thrift, &live->error) ?:
								   compare(live);
	if (!ret && !is_dry)
		ret = change(live);
	if (ret)
		dart_error__set(error, -ret, "cannot push to '%s': %s%s", name,
				live->error.text,
				live->has_begun ?
					" (it is partly changed: push again)" :
					"");
	else if (show(live, as_json))
		ret = dart_error__no_memory(error);
	free(live->wanted);
	free(live->now);
	switch_program__free(&live->program);
	thrift__close(live->thrift);
	free(live);
	return ret;
}
