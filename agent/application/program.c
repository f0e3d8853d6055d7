// SPDX-License-Identifier: GPL-2.0-only
/* Recognizes processes by the build-id in their memory: see program.h. */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host_process.h"
#include "process.h"

/* Is the process a copy of its parent, as a server's child that writes a snapshot? */
static bool is_copy_of_parent(pid_t pid, const struct dart_application_build_id *id)
{
	struct dart_application_build_id of_parent;
	struct dart_error ignored;
	uint64_t start;
	bool is_copy;
	pid_t parent;
	int pidfd;

	if (!host_process__origin(pid, &parent, &start) || parent <= 1)
		return false;
	pidfd = host_process__open(parent);
	if (pidfd < 0)
		return false;
	is_copy = !application_process__build_id(pidfd, &of_parent, &ignored) &&
		  dart_application_build_id__equals(&of_parent, id);
	close(pidfd);
	return is_copy;
}

/*
 * Should the process be the program?  A unit or cgroup has other programs as well, and the
 * selection of all processes has all of the host.
 */
static bool is_expected(const struct program *program, pid_t pid, bool is_missing)
{
	const enum selection_kind kind = program->selection.kind;
	char path[PATH_MAX];

	if (kind == SELECTION_PID || kind == SELECTION_EXE)
		return true;
	if (!*program->last_executable)
		return kind != SELECTION_ALL && is_missing;
	return host_process__executable(pid, path) && !strcmp(path, program->last_executable);
}

int program__recognize(const struct program *program, struct layouts *layouts, pid_t pid, int pidfd,
		       bool is_missing, const struct dart_application_layout **layout,
		       struct dart_error *error)
{
	struct dart_application_build_id id;
	struct dart_error reason;
	int ret;

	if (!selection__matches(&program->selection, pid))
		return -ENODEV;
	ret = application_process__build_id(pidfd, &id, &reason) ?:
		      layouts__find(layouts, &id, layout, &reason);
	if (!ret && !layout__is_of(*layout, program->name)) {
		ret = -EINVAL;
		dart_error__set(&reason, EINVAL, "it runs the application '%s'",
				(*layout)->entries[0].schema->name);
	}
	if (!ret)
		return is_copy_of_parent(pid, &id) ? -ENODEV : 0;
	if (ret == -ESRCH || !is_expected(program, pid, is_missing))
		return -ENODEV;
	return dart_error__set(error, -ret, "process %d is not '%s': %s", pid, program->name,
			       reason.text);
}

int program__print(const struct program *program, bool follows, char *text, size_t room,
		   struct dart_error *error)
{
	const char *kind = selection__kind(&program->selection);
	char selected[SELECTION_TEXT_MAX];
	int length;

	selection__print(&program->selection, selected);
	length = snprintf(text, room, "%s%s%s%s%s%s", program->name, kind || follows ? "@" : "",
			  kind ?: "", kind ? ":" : "", selected, follows ? "*" : "");
	if (length < (int)room)
		return 0;
	return dart_error__set(error, ENAMETOOLONG, "the name of the application is too long");
}
