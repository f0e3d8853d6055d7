// SPDX-License-Identifier: GPL-2.0-only
/* Selects processes by their unit, number, cgroup or executable. */
#include "selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host_process.h"

static int take_text(struct selection *selection, enum selection_kind kind, const char *text,
		     struct dart_error *error)
{
	const char *at;

	selection->kind = kind;
	/* It becomes a part of a name, which is one word. */
	for (at = text; *at > ' ' && *at <= '~'; at++)
		;
	if (*at || !*text || strlen(text) >= sizeof(selection->text))
		return dart_error__set(
			error, EINVAL,
			"'%s' is empty, too long, or has spaces or other characters than ASCII",
			text);
	if (kind != SELECTION_UNIT && *text != '/' && *text != '*')
		return dart_error__set(error, EINVAL, "'%s' is no path: it begins with '/'%s", text,
				       kind == SELECTION_EXE ? " or '*'" : "");
	snprintf(selection->text, sizeof(selection->text), "%s", text);
	return 0;
}

/* As systemctl(1): a name without a type is that of a service. */
static int take_unit(struct selection *selection, const char *unit, struct dart_error *error)
{
	char full[SELECTION_TEXT_MAX];

	if (strchr(unit, '/'))
		return dart_error__set(error, EINVAL, "'%s' is not the name of a unit", unit);
	if (strrchr(unit, '.') || strlen(unit) + sizeof(".service") > sizeof(full))
		return take_text(selection, SELECTION_UNIT, unit, error);
	snprintf(full, sizeof(full), "%s.service", unit);
	return take_text(selection, SELECTION_UNIT, *unit ? full : "", error);
}

int selection__init(struct selection *selection, const char *unit, const json_t *pid,
		    const char *cgroup, const char *exe, struct dart_error *error)
{
	const json_int_t number = json_integer_value(pid);

	*selection = (struct selection){};
	if (!!unit + !!pid + !!cgroup + !!exe > 1)
		return dart_error__set(error, EINVAL,
				       "choose one of unit, pid, cgroup and exe: more are given");
	if (unit)
		return take_unit(selection, unit, error);
	if (cgroup)
		return take_text(selection, SELECTION_CGROUP, cgroup, error);
	if (exe)
		return take_text(selection, SELECTION_EXE, exe, error);
	if (!pid)
		return 0;
	if (!json_is_integer(pid) || number < 1 || number > INT_MAX)
		return dart_error__set(error, EINVAL, "'pid' is not the number of a process");
	selection->kind = SELECTION_PID;
	selection->pid = number;
	return 0;
}

bool selection__matches(const struct selection *selection, pid_t pid)
{
	char path[PATH_MAX];

	switch (selection->kind) {
	case SELECTION_PID:
		return pid == selection->pid;
	case SELECTION_EXE:
		return host_process__executable(pid, path) && !fnmatch(selection->text, path, 0);
	case SELECTION_UNIT:
		return host_process__cgroup(pid, path) && cgroup__is_in_unit(path, selection->text);
	case SELECTION_CGROUP:
		return host_process__cgroup(pid, path) && cgroup__is_below(path, selection->text);
	default:
		return true;
	}
}

bool selection__equals(const struct selection *one, const struct selection *other)
{
	return one->kind == other->kind && one->pid == other->pid &&
	       !strcmp(one->text, other->text);
}

int selection__check_start(const struct selection *selection, uint64_t wanted,
			   struct dart_error *error)
{
	uint64_t start;
	pid_t parent;

	if (selection->kind != SELECTION_PID)
		return 0;
	if (host_process__origin(selection->pid, &parent, &start) && (!wanted || start == wanted))
		return 0;
	return dart_error__set(error, ESRCH, "process %d has ended", selection->pid);
}

const char *selection__kind(const struct selection *selection)
{
	static const char *const kinds[] = {
		[SELECTION_UNIT] = "unit",
		[SELECTION_PID] = "pid",
		[SELECTION_CGROUP] = "cgroup",
		[SELECTION_EXE] = "exe",
	};

	return kinds[selection->kind];
}

void selection__print(const struct selection *selection, char text[static SELECTION_TEXT_MAX])
{
	if (selection->kind == SELECTION_PID)
		snprintf(text, SELECTION_TEXT_MAX, "%d", selection->pid);
	else
		strcpy(text, selection->text);
}
