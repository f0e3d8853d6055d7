// SPDX-License-Identifier: GPL-2.0-only
/* Adds and removes applications: see applications.h. */
#include "applications.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "agent/base/loop_timer.h"

static int unregister(struct entry_group *group, struct dart_error *error)
{
	return dart_error__set(error, EBUSY,
			       "'%s' is an application (dartctl application remove %s)",
			       group->name, group->name);
}

static json_t *describe_group(const struct entry_group *group)
{
	return json_pack("{s:s, s:s, s:I, s:i, s:i, s:I}", "name", group->name, "kind",
			 "application", "entries", (json_int_t)group->entry_count, "failures", 0,
			 "owner", 0, "age_s", (json_int_t)clock__age_s(group->registered));
}

static const struct entry_group_operations operations = {
	.describe = describe_group,
	.unregister = unregister,
	.settle = application__settle,
};

static int application__new(struct applications *applications, const struct application_wish *wish,
			    struct application **result, struct dart_error *error)
{
	struct application *application = calloc(1, sizeof(*application));
	int ret;

	if (!application || program__init(&application->program, wish->name, &wish->selection)) {
		free(application);
		return dart_error__no_memory(error);
	}
	application->applications = applications;
	application->gather_ms = wish->gather_ms;
	application->follows = wish->follows;
	application->group.operations = &operations;
	TAILQ_INIT(&application->instances);
	ret = program__print(&application->program, application->follows, application->group.name,
			     sizeof(application->group.name), error) ?:
		      inventory__add_group(&applications->rooms.registry->inventory,
					   &application->group, error);
	if (ret) {
		program__clear(&application->program);
		free(application);
		return ret;
	}
	TAILQ_INSERT_TAIL(&applications->list, application, link);
	*result = application;
	return 0;
}

static void applications__watch(struct applications *applications)
{
	struct dart_error error;

	if (applications->exec_watch.fd >= 0 ||
	    !exec_watch__open(&applications->exec_watch, applications->loop, &error))
		return;
	if (!applications->cannot_watch)
		log__warning("applications are looked for every %llu s: %s",
			     (unsigned long long)(LOOK_US / 1000000), error.text);
	applications->cannot_watch = true;
}

/* @search has found the process of an application that does not follow; else it is NULL. */
static int applications__start(struct applications *applications,
			       const struct application_wish *wish, struct search *search,
			       struct application **result, struct dart_error *error)
{
	struct application *application = NULL;
	int ret = application__new(applications, wish, &application, error);

	if (ret)
		return ret;
	/* First, so that no program starts between a look and the first report. */
	applications__watch(applications);
	if (search) {
		ret = search__attach(search, application, error);
	} else {
		applications->looks.take_all = true;
		applications__look(applications);
	}
	if (ret)
		application__free(application);
	else
		*result = application;
	/* Nothing may be left to watch. */
	applications__arm(applications);
	return ret;
}

int applications__add(struct applications *applications, const struct application_wish *wish,
		      struct application **result, struct dart_error *error)
{
	struct search *search = NULL;
	int ret = selection__check_start(&wish->selection, wish->start, error);

	if (!ret && !wish->follows)
		ret = applications__search(applications, wish, &search, error);
	if (!ret)
		ret = applications__start(applications, wish, search, result, error);
	if (search)
		search__free(search);
	return ret == -ENOEXEC ? -EAGAIN : ret;
}

struct application *applications__find(const struct applications *applications, const char *name)
{
	struct application *application;

	TAILQ_FOREACH(application, &applications->list, link)
		if (!strcmp(application->group.name, name))
			return application;
	return NULL;
}

int application__remove(struct application *application, struct dart_error *error)
{
	struct applications *applications = application->applications;
	struct registry *registry = applications->rooms.registry;
	int ret;

	registry__begin(registry);
	registry__withdraw_group(registry, &application->group, false);
	ret = registry__end(registry, error);
	if (ret)
		return ret;
	changes__announce(applications->changes, "removed", "application", application->group.name);
	application__free(application);
	applications__arm(applications);
	return 0;
}

/* ---- opening */

int applications__open(struct applications *applications, struct registry *registry,
		       const struct changes *changes, sd_event *loop, struct dart_error *error)
{
	int fd, ret;

	*applications = (struct applications){
		.changes = changes,
		.loop = loop,
		.rooms = { .registry = registry },
	};
	looks__init(&applications->looks);
	candidates__open(&applications->candidates);
	TAILQ_INIT(&applications->list);
	TAILQ_INIT(&applications->searches);
	layouts__open(&applications->layouts);
	exec_watch__init(&applications->exec_watch, applications__on_exec, applications__on_lost,
			 applications);
	ret = examinations__open(&applications->examinations, loop, error);
	if (ret)
		goto close_examinations;
	applications->rooms.writers = writers__open(&fd, error);
	if (!applications->rooms.writers) {
		ret = -ENOMEM;
		goto close_examinations;
	}
	ret = sd_event_add_io(loop, &applications->news, fd, EPOLLIN, applications__on_news,
			      applications);
	if (ret >= 0)
		ret = loop_timer__add(loop, &applications->retry, CLOCK_MONOTONIC,
				      applications__on_retry, applications);
	if (ret >= 0)
		ret = loop_timer__add(loop, &applications->rows, CLOCK_MONOTONIC,
				      applications__on_rows, applications);
	if (ret >= 0)
		return 0;
	applications__close(applications);
	return dart_error__system(error, -ret, "cannot create an event source");

close_examinations:
	examinations__close(&applications->examinations);
	return ret;
}

void applications__close(struct applications *applications)
{
	struct application *application;

	while ((application = TAILQ_FIRST(&applications->list)))
		application__free(application);
	applications__drop_searches(applications);
	examinations__close(&applications->examinations);
	candidates__close(&applications->candidates);
	exec_watch__close(&applications->exec_watch);
	sd_event_source_disable_unref(applications->news);
	sd_event_source_disable_unref(applications->retry);
	sd_event_source_disable_unref(applications->rows);
	writers__close(applications->rooms.writers);
	listening__drop(&applications->rooms.listening);
	layouts__close(&applications->layouts);
}
