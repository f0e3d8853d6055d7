// SPDX-License-Identifier: GPL-2.0-only
/* Follows processes of applications, as they start and end: see applications.h. */
#include "applications.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

/* A program needs some time from its start until its memory shows that the layout fits. */
#define TRY_FIRST_US 20000
#define TRIES_MAX 10 /* the last one after 20 s */
#define CANDIDATES_MAX 256
/* Without reports of the kernel. */
#define LOOK_US (10 * UINT64_C(1000000))

/* A process that may become an instance. */
struct candidate {
	TAILQ_ENTRY(candidate) link;
	pid_t pid;
	int pidfd; /* so that its number stays its own */
	unsigned int tries;
	uint64_t due; /* us, CLOCK_MONOTONIC */
};

static void applications__look_again(struct applications *applications);

/* ---- instances */

static void application__drop(struct application *application, struct instance *instance)
{
	TAILQ_REMOVE(&application->instances, instance, link);
	application->instance_count--;
	application->applications->instance_count--;
	snprintf(application->last_executable, sizeof(application->last_executable), "%s",
		 instance->executable);
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
	free(application->name);
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
	if (application->selection.kind != SELECTION_PID) {
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
 * Should the process be of the application?  A unit or cgroup has other programs as well, and the
 * selection of all processes has all of the host.
 */
static bool is_expected(const struct application *application, pid_t pid)
{
	const enum selection_kind kind = application->selection.kind;
	char path[PATH_MAX];

	if (kind == SELECTION_PID || kind == SELECTION_EXE)
		return true;
	if (!*application->last_executable)
		return kind != SELECTION_ALL && TAILQ_EMPTY(&application->instances);
	return host_process__executable(pid, path) && !strcmp(path, application->last_executable);
}

/*
 * Finds the layout of a process that an application selects.  Returns 0; -ENODEV if the process is
 * not of the application; or why it should be, but cannot.
 */
static int application__recognize(struct application *application, pid_t pid, int pidfd,
				  const struct dart_application_layout **layout,
				  struct dart_error *error)
{
	struct applications *applications = application->applications;
	struct dart_application_build_id id;
	struct dart_error reason;
	int ret;

	if (!selection__matches(&application->selection, pid))
		return -ENODEV;
	ret = application_process__build_id(pidfd, &id, &reason) ?:
		      layouts__find(&applications->layouts, &id, layout, &reason);
	if (!ret && !layout__is_of(*layout, application->name)) {
		ret = -EINVAL;
		dart_error__set(&reason, EINVAL, "it runs the application '%s'",
				(*layout)->entries[0].schema->name);
	}
	if (!ret)
		return is_copy_of_parent(pid, &id) ? -ENODEV : 0;
	if (ret == -ESRCH || !is_expected(application, pid))
		return -ENODEV;
	return dart_error__set(error, -ret, "process %d is not '%s': %s", pid, application->name,
			       reason.text);
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

static uint64_t now_us(void)
{
	return dart_clock__ns(CLOCK_MONOTONIC) / 1000;
}

static void applications__arm(struct applications *applications)
{
	const struct candidate *candidate;
	uint64_t now = now_us(), due = UINT64_MAX;

	if (applications->looks_again)
		due = now;
	else if (!TAILQ_EMPTY(&applications->list) && applications->exec_watch.fd < 0)
		due = now + LOOK_US;
	TAILQ_FOREACH(candidate, &applications->candidates, link)
		if (candidate->due < due)
			due = candidate->due;
	if (due == UINT64_MAX)
		sd_event_source_set_enabled(applications->retry, SD_EVENT_OFF);
	else
		loop_timer__start(applications->retry, due > now ? due - now : 0);
}

static void applications__look_again(struct applications *applications)
{
	applications->looks_again = true;
	applications__arm(applications);
}

static void applications__forget(struct applications *applications, struct candidate *candidate)
{
	TAILQ_REMOVE(&applications->candidates, candidate, link);
	applications->candidate_count--;
	close(candidate->pidfd);
	free(candidate);
}

/* Offers a process to all applications.  True: an application may take it later. */
static bool applications__offer(struct applications *applications, pid_t pid, int pidfd,
				bool is_last_try)
{
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

static void candidate__schedule(struct candidate *candidate)
{
	candidate->due = now_us() + ((uint64_t)TRY_FIRST_US << candidate->tries++);
}

static void applications__offer_again(struct applications *applications, pid_t pid, int pidfd)
{
	struct candidate *candidate;

	TAILQ_FOREACH(candidate, &applications->candidates, link)
		if (candidate->pid == pid)
			break;
	if (candidate || applications->candidate_count == CANDIDATES_MAX) {
		close(pidfd);
		return;
	}
	candidate = calloc(1, sizeof(*candidate));
	if (!candidate) {
		close(pidfd);
		return;
	}
	candidate->pid = pid;
	candidate->pidfd = pidfd;
	candidate__schedule(candidate);
	TAILQ_INSERT_TAIL(&applications->candidates, candidate, link);
	applications->candidate_count++;
}

static void consider(void *userdata, pid_t pid)
{
	struct applications *applications = userdata;
	const int pidfd = host_process__open(pid);

	if (pidfd < 0)
		return;
	if (applications__offer(applications, pid, pidfd, false))
		applications__offer_again(applications, pid, pidfd);
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

static bool has_ended(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

static void applications__try_due(struct applications *applications)
{
	struct candidate *candidate, *next;
	const uint64_t now = now_us();

	for (candidate = TAILQ_FIRST(&applications->candidates); candidate; candidate = next) {
		next = TAILQ_NEXT(candidate, link);
		if (candidate->due > now)
			continue;
		if (applications__offer(applications, candidate->pid, candidate->pidfd,
					candidate->tries == TRIES_MAX)) {
			candidate__schedule(candidate);
			continue;
		}
		/* A server that went into the background is a child of the candidate. */
		if (has_ended(candidate->pidfd))
			applications->looks_again = true;
		applications__forget(applications, candidate);
	}
}

static int on_retry(sd_event_source *source, uint64_t time, void *userdata)
{
	struct applications *applications = userdata;

	applications__try_due(applications);
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

/* NAME@SELECTION, and a star if all are followed. */
static int application__set_name(struct application *application, struct dart_error *error)
{
	char text[SELECTION_TEXT_MAX];
	int length;

	selection__print(&application->selection, text);
	length = snprintf(application->group.name, sizeof(application->group.name), "%s%s%s%s%s%s",
			  application->name, *text || application->follows ? "@" : "",
			  selection__kind(&application->selection) ?: "", *text ? ":" : "", text,
			  application->follows ? "*" : "");
	if (length < (int)sizeof(application->group.name))
		return 0;
	return dart_error__set(error, ENAMETOOLONG, "the name of the application is too long");
}

static int application__new(struct applications *applications, const struct application_wish *wish,
			    struct application **result, struct dart_error *error)
{
	struct application *application = calloc(1, sizeof(*application));
	int ret;

	if (application)
		application->name = strdup(wish->name);
	if (!application || !application->name) {
		free(application);
		return dart_error__no_memory(error);
	}
	application->applications = applications;
	application->selection = wish->selection;
	application->gather_ms = wish->gather_ms;
	application->follows = wish->follows;
	application->group.operations = &operations;
	TAILQ_INIT(&application->instances);
	ret = application__set_name(application, error) ?:
		      inventory__add_group(&applications->rooms.registry->inventory,
					   &application->group, error);
	if (ret) {
		free(application->name);
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
	const pid_t pid = application->selection.pid;
	int ret, pidfd;

	if (application->selection.kind == SELECTION_PID)
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

/* The number of a process that has ended may be another one's by now. */
static int check_start(const struct application_wish *wish, struct dart_error *error)
{
	uint64_t start;
	pid_t parent;

	if (wish->selection.kind != SELECTION_PID)
		return 0;
	if (host_process__origin(wish->selection.pid, &parent, &start) &&
	    (!wish->start || start == wish->start))
		return 0;
	return dart_error__set(error, ESRCH, "process %d has ended", wish->selection.pid);
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
	struct application *application;
	int ret;

	ret = check_start(wish, error) ?: application__new(applications, wish, &application, error);
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
	TAILQ_INIT(&applications->candidates);
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
	struct candidate *candidate;

	while ((application = TAILQ_FIRST(&applications->list)))
		application__free(application);
	while ((candidate = TAILQ_FIRST(&applications->candidates)))
		applications__forget(applications, candidate);
	exec_watch__close(&applications->exec_watch);
	sd_event_source_disable_unref(applications->ended);
	sd_event_source_disable_unref(applications->retry);
	writers__close(applications->rooms.writers);
	layouts__close(&applications->layouts);
}
