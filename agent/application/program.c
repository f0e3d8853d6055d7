// SPDX-License-Identifier: GPL-2.0-only
/* Recognizes processes by the contents of their memory: see program.h. */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_process.h"

int program__init(struct program *program, const char *name, const struct selection *selection)
{
	*program = (struct program){
		.name = strdup(name),
		.format = application_format__find(name),
		.selection = *selection,
	};
	return program->name ? 0 : -ENOMEM;
}

void program__clear(struct program *program)
{
	free(program->name);
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

static int program__refuse(const struct program *program, pid_t pid, int ret,
			   const struct dart_error *reason, struct dart_error *error)
{
	return dart_error__set(error, -ret, "process %d is not '%s': %s", pid, program->name,
			       reason->text);
}

int program__find_layout(const struct program *program, struct layouts *layouts,
			 const struct examination *examination, bool is_missing,
			 const struct dart_application_layout **layout, struct dart_error *error)
{
	struct dart_error reason;
	int ret = layouts__find(layouts, &examination->build_id, layout, &reason);

	if (!ret && !layout__is_of(*layout, program->name)) {
		ret = -EINVAL;
		dart_error__set(&reason, EINVAL, "it runs the application '%s'",
				(*layout)->entries[0].schema->name);
		layouts__put(layouts, *layout);
	}
	if (!ret || !is_expected(program, examination->pid, is_missing))
		return ret ? -ENODEV : 0;
	return program__refuse(program, examination->pid, ret, &reason, error);
}

/* A process without a build-id, or one whose memory could not be read. */
static int judge_unknown(const struct program *program, const struct examination *examination,
			 bool is_missing, bool *is_early, struct dart_error *error)
{
	const int ret = examination->build_ret;

	if (ret == -ESRCH || !is_expected(program, examination->pid, is_missing))
		return -ENODEV;
	*is_early = ret == -ENOEXEC;
	return program__refuse(program, examination->pid, ret, &examination->build_why, error);
}

/* Of a program that is known by its build-id: does its layout fit the process? */
static int judge_build(const struct program *program, const struct examination *examination,
		       bool is_missing, bool *is_early, struct dart_error *error)
{
	const struct finding *finding = &examination->findings[APPLICATION_FORMAT_ANY];

	if (examination->build_ret)
		return judge_unknown(program, examination, is_missing, is_early, error);
	if (!examination->layout || !layout__is_of(examination->layout, program->name) ||
	    finding->ret == -ESRCH || examination->is_copy_of_parent)
		return -ENODEV;
	*is_early = finding->ret == -ENOEXEC;
	if (finding->ret)
		*error = finding->why;
	return finding->ret;
}

/*
 * Of a program that is known by its memory.  It may map its file, or complete it, at any time.  A
 * file that lies is told of each process.
 */
static int judge_described(const struct program *program, const struct examination *examination,
			   bool is_missing, bool *is_early, struct dart_error *error)
{
	const struct finding *finding = &examination->findings[program->format];
	bool is_told;

	/* All processes of varnishd have the same build; mapped.h tells them apart. */
	if (!finding->ret)
		return examination->is_copy_of_parent &&
				       program->format != APPLICATION_FORMAT_VARNISH ?
			       -ENODEV :
			       0;
	*is_early = finding->ret == -ENOENT || finding->ret == -EAGAIN;
	if (finding->ret == -ENODEV)
		is_told = program->selection.kind == SELECTION_PID;
	else if (finding->ret == -ENOENT || finding->ret == -EACCES || finding->ret == -EUSERS)
		is_told = is_expected(program, examination->pid, is_missing);
	else
		is_told = finding->ret != -ESRCH;
	if (!is_told)
		return -ENODEV;
	/* -ENODEV has no sentence. */
	return program__refuse(program, examination->pid,
			       finding->ret == -ENODEV ? -EINVAL : finding->ret, &finding->why,
			       error);
}

int program__judge(const struct program *program, const struct examination *examination,
		   bool is_missing, bool *is_early, struct dart_error *error)
{
	*is_early = false;
	if (program->format == APPLICATION_FORMAT_ANY)
		return judge_build(program, examination, is_missing, is_early, error);
	return judge_described(program, examination, is_missing, is_early, error);
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
