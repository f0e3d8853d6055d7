// SPDX-License-Identifier: GPL-2.0-only
/*
 * Searches for the process of an application that has one at a time.  The client that adds the
 * application asks again until all selected processes were examined; what a client no longer asks
 * for is dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "applications.h"
#include "host_process.h"

/* A client asks more often. */
#define UNASKED_NS (10 * INT64_C(1000000000))

struct search {
	TAILQ_ENTRY(search) link;
	struct applications *applications;
	struct program program;
	char name[DART_CONTROL_ENTRY_NAME_MAX]; /* that of the application */
	int64_t asked; /* ns, CLOCK_MONOTONIC: the last time */
	uint32_t pending; /* examinations */
	uint32_t found; /* processes */
	bool is_early; /* a process may become the program */
	int ret; /* why not; 0: no process is selected */
	struct dart_error why;
	/* Of the first process. */
	pid_t pid;
	int pidfd;
	struct finding finding;
	const struct dart_application_layout *layout; /* by the build-id, or NULL */
	struct dart_application_build_id build_id;
};

/* ---- results */

static struct applications *of_examination(const struct examination *examination)
{
	return (struct applications *)((char *)examination->examinations -
				       offsetof(struct applications, examinations));
}

static const struct dart_application_layout *choose(struct examination *examination)
{
	struct search *search = examination->owner;
	const struct dart_application_layout *layout;
	struct dart_error why;
	int ret = program__find_layout(&search->program, &search->applications->layouts,
				       examination, true, &layout, &why);

	if (ret && ret != -ENODEV) {
		search->ret = ret;
		search->why = why;
	}
	return ret ? NULL : layout;
}

/* Takes the process out of the examination if it is the first one. */
static void search__take(struct search *search, struct examination *examination)
{
	if (search->found++)
		return;
	search->pid = examination->pid;
	search->pidfd = examination->pidfd;
	examination->pidfd = -1;
	search->finding = finding__take(&examination->findings[search->program.format]);
	search->build_id = examination->build_id;
	search->layout = examination->layout;
	examination->layout = NULL;
}

static void search__judge(struct search *search, struct examination *examination)
{
	const struct application *owner;
	struct dart_error why;
	bool is_early;
	int ret = program__judge(&search->program, examination, true, &is_early, &why);

	owner = ret ? NULL :
		      applications__owner(search->applications, &search->program, examination->pid);
	if (owner)
		ret = dart_error__set(&why, EEXIST, "process %d belongs to '%s' already",
				      examination->pid, owner->group.name);
	if (!ret) {
		search__take(search, examination);
	} else if (ret != -ENODEV) {
		search->ret = ret;
		search->why = why;
		search->is_early |= is_early;
	}
}

static void finish(struct examination *examination)
{
	struct search *search = examination->owner;

	if (search) {
		search->pending--;
		search__judge(search, examination);
	}
	if (examination->layout)
		layouts__put(&of_examination(examination)->layouts, examination->layout);
}

static void hold(struct examination *examination)
{
	struct search *search = examination->owner;

	if (!search)
		return;
	search->ret = examination__explain_hold(examination, &search->why);
	search->pending--;
	examination->owner = NULL;
}

static const struct examination_handlers handlers = {
	.choose = choose,
	.finish = finish,
	.hold = hold,
};

/* ---- searches */

static void examine(void *userdata, pid_t pid)
{
	struct search *search = userdata;
	const struct examination_wish wish = {
		.pid = pid,
		.pidfd = -1,
		.formats = 1u << search->program.format,
		.handlers = &handlers,
		.owner = search,
	};

	if (selection__matches(&search->program.selection, pid) &&
	    !examinations__add(&search->applications->examinations, &wish))
		search->pending++;
}

void search__free(struct search *search)
{
	struct applications *applications = search->applications;

	TAILQ_REMOVE(&applications->searches, search, link);
	examinations__disown(&applications->examinations, search);
	finding__clear(&search->finding);
	if (search->layout)
		layouts__put(&applications->layouts, search->layout);
	if (search->pidfd >= 0)
		close(search->pidfd);
	program__clear(&search->program);
	free(search);
}

static int search__new(struct applications *applications, const struct application_wish *wish,
		       struct search **result, struct dart_error *error)
{
	struct search *search = calloc(1, sizeof(*search));
	int ret;

	if (!search || program__init(&search->program, wish->name, &wish->selection)) {
		free(search);
		return dart_error__no_memory(error);
	}
	search->applications = applications;
	search->pidfd = -1;
	search->finding = (struct finding){ .ret = -ENOENT, .process.memory = -1 };
	TAILQ_INSERT_TAIL(&applications->searches, search, link);
	ret = program__print(&search->program, false, search->name, sizeof(search->name), error);
	if (ret) {
		search__free(search);
		return ret;
	}
	if (wish->selection.kind == SELECTION_PID)
		examine(search, wish->selection.pid);
	else
		host_processes__each(examine, search);
	*result = search;
	return 0;
}

/* Finds the search for the same wish, and frees searches whose client has stopped asking. */
static struct search *find(struct applications *applications, const struct application_wish *wish)
{
	const int64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	struct search *search, *next, *found = NULL;

	for (search = TAILQ_FIRST(&applications->searches); search; search = next) {
		next = TAILQ_NEXT(search, link);
		if (!strcmp(search->program.name, wish->name) &&
		    selection__equals(&search->program.selection, &wish->selection))
			found = search;
		else if (now - search->asked > UNASKED_NS)
			search__free(search);
	}
	return found;
}

static int search__conclude(struct search *search, struct dart_error *error)
{
	if (search->found > 1)
		return dart_error__set(
			error, EINVAL,
			"%u processes are '%s': choose one with --pid, or add all with dartctl application follow",
			search->found, search->name);
	if (search->found)
		return 0;
	if (search->ret) {
		*error = search->why;
		return search->is_early ? -ENOEXEC : search->ret;
	}
	return dart_error__set(
		error, ENOENT,
		"no process is '%s' now (dartctl application follow waits for processes)",
		search->name);
}

int applications__search(struct applications *applications, const struct application_wish *wish,
			 struct search **result, struct dart_error *error)
{
	struct search *search = find(applications, wish);
	int ret = search ? 0 : search__new(applications, wish, &search, error);

	if (ret)
		return ret;
	search->asked = dart_clock__ns(CLOCK_MONOTONIC);
	if (search->pending)
		return dart_error__set(error, EINPROGRESS, "%u processes are examined for '%s' now",
				       search->pending, search->name);
	ret = search__conclude(search, error);
	if (ret)
		search__free(search);
	else
		*result = search;
	return ret;
}

int search__attach(struct search *search, struct application *application, struct dart_error *error)
{
	return application__attach_found(application, &search->finding, search->layout,
					 &search->pidfd, &search->build_id, error);
}

void applications__drop_searches(struct applications *applications)
{
	struct search *search;

	while ((search = TAILQ_FIRST(&applications->searches)))
		search__free(search);
}
