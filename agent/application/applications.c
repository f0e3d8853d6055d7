// SPDX-License-Identifier: GPL-2.0-only
/* Follows processes of applications, as they start and end: see applications.h. */
#include "applications.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "agent/region/selector.h"
#include "host_process.h"
#include "program.h"

/* Without reports of the kernel. */
#define LOOK_US (10 * UINT64_C(1000000))

static void applications__look_again(struct applications *applications);

/* ---- instances */

static void application__drop(struct application *application, struct instance *instance)
{
	TAILQ_REMOVE(&application->instances, instance, link);
	application->instance_count--;
	application->applications->instance_count--;
	snprintf(application->program.last_executable, sizeof(application->program.last_executable),
		 "%s", instance->executable);
	instance__free(instance);
}

static void application__free(struct application *application)
{
	struct applications *applications = application->applications;
	struct instance *instance;

	while ((instance = TAILQ_FIRST(&application->instances)))
		application__drop(application, instance);
	inventory__remove_group(&applications->rooms.registry->inventory, &application->group);
	TAILQ_REMOVE(&applications->list, application, link);
	if (TAILQ_EMPTY(&applications->list))
		exec_watch__close(&applications->exec_watch);
	free(application->program.name);
	free(application);
}

static struct application *of_group(const struct entry_group *group)
{
	return (struct application *)((char *)group - offsetof(struct application, group));
}

static void applications__end(struct application *application, struct instance *instance,
			      const char *why)
{
	struct applications *applications = application->applications;
	struct registry *registry = applications->rooms.registry;

	log__peer_info("%s: %s, process %d, %s", application->group.name, instance->label,
		       instance->process.pid, why);
	registry__begin(registry);
	instance__withdraw(&applications->rooms, instance, true);
	registry__end_or_log(registry);
	application__drop(application, instance);
	if (application->program.selection.kind != SELECTION_PID) {
		/* A server in the background is a child of the process that was started. */
		applications__look_again(applications);
		return;
	}
	changes__announce(applications->changes, "ended", "application", application->group.name);
	application__free(application);
}

static int on_end(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct instance *instance = userdata;

	applications__end(of_group(instance->group), instance, "has ended");
	return 0;
}

/* Ends instances whose programs are gone; returns true if there was one. */
static bool applications__end_gone(struct applications *applications)
{
	struct application *application, *next;
	struct instance *instance;

	for (application = TAILQ_FIRST(&applications->list); application; application = next) {
		next = TAILQ_NEXT(application, link);
		TAILQ_FOREACH(instance, &application->instances, link)
			if (!application_process__lives(&instance->process))
				break;
		if (!instance)
			continue;
		applications__end(application, instance, "executes another program or has ended");
		return true;
	}
	return false;
}

static int on_writers_ended(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	eventfd_t count;

	eventfd_read(fd, &count);
	while (applications__end_gone(userdata))
		;
	return 0;
}

static bool has_process(const struct application *application, pid_t pid)
{
	const struct instance *instance;

	TAILQ_FOREACH(instance, &application->instances, link)
		if (instance->process.pid == pid)
			return true;
	return false;
}

static const struct application *applications__owner(const struct applications *applications,
						     pid_t pid)
{
	const struct application *application;

	TAILQ_FOREACH(application, &applications->list, link)
		if (has_process(application, pid))
			return application;
	return NULL;
}

/* ---- processes */

static int application__recognize(struct application *application, pid_t pid, int pidfd,
				  const struct dart_application_layout **layout,
				  struct dart_error *error)
{
	return program__recognize(&application->program, &application->applications->layouts, pid,
				  pidfd, TAILQ_EMPTY(&application->instances), layout, error);
}

/* In a batch of the registry.  Takes @pidfd over if it returns 0. */
static int application__attach(struct application *application, int pidfd,
			       const struct dart_application_layout *layout,
			       struct dart_error *error)
{
	struct applications *applications = application->applications;
	struct instance *instance;
	int ret;

	if (applications->instance_count == INSTANCES_MAX)
		return dart_error__set(error, EDQUOT,
				       "there are %d instances of applications already",
				       INSTANCES_MAX);
	ret = instance__new(&applications->rooms, pidfd, &application->group, layout,
			    application->gather_ms, &instance, error);
	if (ret)
		return ret;
	TAILQ_INSERT_TAIL(&application->instances, instance, link);
	application->instance_count++;
	applications->instance_count++;
	ret = sd_event_add_io(applications->loop, &instance->end, pidfd, EPOLLIN, on_end, instance);
	if (ret >= 0)
		return 0;
	dart_error__system(error, -ret, "cannot wait for the end of a process");
	instance__withdraw(&applications->rooms, instance, false);
	instance->pidfd = -1;
	application__drop(application, instance);
	return ret;
}

static void application__refuse(struct application *application, const struct dart_error *why)
{
	if (strcmp(application->why.text, why->text))
		log__peer_warning("%s: %s", application->group.name, why->text);
	application->why = *why;
}

static bool wants(const struct application *application, pid_t pid)
{
	return application->follows ? !has_process(application, pid) : !application->instance_count;
}

/* Makes the process an instance of an application that wants it.  -ENOEXEC: try again later. */
static int application__try(struct application *application, pid_t pid, int pidfd,
			    struct dart_error *error)
{
	struct registry *registry = application->applications->rooms.registry;
	const struct dart_application_layout *layout;
	int ret, own;

	if (!wants(application, pid) || applications__owner(application->applications, pid))
		return -ENODEV;
	ret = application__recognize(application, pid, pidfd, &layout, error);
	if (ret)
		return ret;
	own = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return dart_error__system(error, errno, "cannot duplicate a descriptor");
	registry__begin(registry);
	ret = application__attach(application, own, layout, error);
	if (ret)
		close(own);
	return registry__end_with(registry, ret, error);
}

/* ---- candidates */

static void applications__arm(struct applications *applications)
{
	uint64_t delay = candidates__delay(&applications->candidates);

	if (applications->looks_again)
		delay = 0;
	else if (!TAILQ_EMPTY(&applications->list) && applications->exec_watch.fd < 0 &&
		 delay > LOOK_US)
		delay = LOOK_US;
	if (delay == UINT64_MAX)
		sd_event_source_set_enabled(applications->retry, SD_EVENT_OFF);
	else
		loop_timer__start(applications->retry, delay);
}

static void applications__look_again(struct applications *applications)
{
	applications->looks_again = true;
	applications__arm(applications);
}

/* Offers a process to all applications.  True: an application may take it later. */
static bool offer(void *userdata, pid_t pid, int pidfd, bool is_last_try)
{
	struct applications *applications = userdata;
	struct application *application;
	bool is_early = false;
	struct dart_error why;
	int ret;

	TAILQ_FOREACH(application, &applications->list, link) {
		ret = application__try(application, pid, pidfd, &why);
		if (ret == -ENOEXEC && !is_last_try)
			is_early = true;
		else if (ret && ret != -ENODEV && ret != -ESRCH)
			application__refuse(application, &why);
		else if (!ret)
			application->why = (struct dart_error){};
	}
	return is_early;
}

static void consider(void *userdata, pid_t pid)
{
	struct applications *applications = userdata;
	const int pidfd = host_process__open(pid);

	if (pidfd < 0)
		return;
	if (offer(applications, pid, pidfd, false))
		candidates__add(&applications->candidates, pid, pidfd);
	else
		close(pidfd);
}

static void on_exec(void *userdata, pid_t pid)
{
	struct applications *applications = userdata;

	if (applications__owner(applications, pid))
		while (applications__end_gone(applications))
			;
	consider(applications, pid);
	applications__arm(applications);
}

static void on_lost(void *userdata)
{
	applications__look_again(userdata);
}

static int on_retry(sd_event_source *source, uint64_t time, void *userdata)
{
	struct applications *applications = userdata;

	/* A server that went into the background is a child of the candidate. */
	if (candidates__try(&applications->candidates, offer, applications))
		applications->looks_again = true;
	if (applications->looks_again || applications->exec_watch.fd < 0) {
		while (applications__end_gone(applications))
			;
		applications->looks_again = false;
		host_processes__each(consider, applications);
	}
	applications__arm(applications);
	return 0;
}

/* ---- adding and removing */

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

/* Instances whose entries could not be published do not exist. */
static void settle(struct entry_group *group, int end, const struct dart_error *why)
{
	struct application *application = of_group(group);
	struct instance *instance, *next;

	for (instance = TAILQ_FIRST(&application->instances); instance; instance = next) {
		next = TAILQ_NEXT(instance, link);
		if (!instance->is_staged)
			continue;
		instance->is_staged = false;
		if (!end)
			continue;
		application__drop(application, instance);
		application__refuse(application, why);
	}
}

static const struct entry_group_operations operations = {
	.describe = describe_group,
	.unregister = unregister,
	.settle = settle,
};

static int application__new(struct applications *applications, const struct application_wish *wish,
			    struct application **result, struct dart_error *error)
{
	struct application *application = calloc(1, sizeof(*application));
	int ret;

	if (application)
		application->program.name = strdup(wish->name);
	if (!application || !application->program.name) {
		free(application);
		return dart_error__no_memory(error);
	}
	application->applications = applications;
	application->program.selection = wish->selection;
	application->gather_ms = wish->gather_ms;
	application->follows = wish->follows;
	application->group.operations = &operations;
	TAILQ_INIT(&application->instances);
	ret = program__print(&application->program, application->follows, application->group.name,
			     sizeof(application->group.name), error) ?:
		      inventory__add_group(&applications->rooms.registry->inventory,
					   &application->group, error);
	if (ret) {
		free(application->program.name);
		free(application);
		return ret;
	}
	TAILQ_INSERT_TAIL(&applications->list, application, link);
	*result = application;
	return 0;
}

/* Looks for the process of an application that has one. */
struct search {
	struct application *application;
	pid_t pid; /* of the first one */
	uint32_t found;
	int ret; /* why not; 0: no process is selected */
	struct dart_error why;
};

static void search(void *userdata, pid_t pid)
{
	struct search *search = userdata;
	const struct dart_application_layout *layout;
	const struct application *owner;
	const int pidfd = host_process__open(pid);
	struct dart_error why;
	int ret;

	if (pidfd < 0)
		return;
	ret = application__recognize(search->application, pid, pidfd, &layout, &why);
	close(pidfd);
	owner = ret ? NULL : applications__owner(search->application->applications, pid);
	if (owner)
		ret = dart_error__set(&why, EEXIST, "process %d belongs to '%s' already", pid,
				      owner->group.name);
	if (ret && ret != -ENODEV) {
		search->ret = ret;
		search->why = why;
	}
	if (!ret && !search->found++)
		search->pid = pid;
}

/* Attaches the only process that is selected. */
static int application__attach_only(struct application *application, struct dart_error *error)
{
	struct search found = { .application = application };
	const pid_t pid = application->program.selection.pid;
	int ret, pidfd;

	if (application->program.selection.kind == SELECTION_PID)
		search(&found, pid);
	else
		host_processes__each(search, &found);
	if (found.found > 1)
		return dart_error__set(
			error, EINVAL,
			"%u processes are '%s': choose one with --pid, or add all with dartctl application follow",
			found.found, application->group.name);
	if (!found.found && found.ret) {
		*error = found.why;
		return found.ret;
	}
	pidfd = found.found ? host_process__open(found.pid) : -ESRCH;
	if (pidfd < 0)
		return dart_error__set(
			error, ENOENT,
			"no process is '%s' now (dartctl application follow waits for processes)",
			application->group.name);
	ret = application__try(application, found.pid, pidfd, error);
	close(pidfd);
	return ret == -ENODEV || ret == -ESRCH ?
		       dart_error__set(error, ENOENT, "process %d has ended", found.pid) :
		       ret;
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

int applications__add(struct applications *applications, const struct application_wish *wish,
		      struct application **result, struct dart_error *error)
{
	struct application *application = NULL;
	int ret;

	ret = selection__check_start(&wish->selection, wish->start, error) ?:
		      application__new(applications, wish, &application, error);
	if (ret)
		return ret;
	/* First, so that no program starts between a look and the first report. */
	applications__watch(applications);
	if (application->follows)
		host_processes__each(consider, applications);
	else
		ret = application__attach_only(application, error);
	applications__arm(applications);
	if (!ret) {
		*result = application;
		return 0;
	}
	application__free(application);
	/* Nothing may be left to watch. */
	applications__arm(applications);
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
	candidates__open(&applications->candidates);
	TAILQ_INIT(&applications->list);
	layouts__open(&applications->layouts);
	exec_watch__init(&applications->exec_watch, on_exec, on_lost, applications);
	applications->rooms.writers = writers__open(&fd, error);
	if (!applications->rooms.writers)
		return -ENOMEM;
	ret = sd_event_add_io(loop, &applications->ended, fd, EPOLLIN, on_writers_ended,
			      applications);
	if (ret >= 0)
		ret = loop_timer__add(loop, &applications->retry, CLOCK_MONOTONIC, on_retry,
				      applications);
	if (ret >= 0)
		return 0;
	applications__close(applications);
	return dart_error__system(error, -ret, "cannot create an event source");
}

void applications__close(struct applications *applications)
{
	struct application *application;

	while ((application = TAILQ_FIRST(&applications->list)))
		application__free(application);
	candidates__close(&applications->candidates);
	exec_watch__close(&applications->exec_watch);
	sd_event_source_disable_unref(applications->ended);
	sd_event_source_disable_unref(applications->retry);
	writers__close(applications->rooms.writers);
	layouts__close(&applications->layouts);
}
