// SPDX-License-Identifier: GPL-2.0-only
/* The instances of applications, from their first to their last value: see applications.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "applications.h"

/* ---- the timer */

static uint64_t now_us(void)
{
	return dart_clock__ns(CLOCK_MONOTONIC) / 1000;
}

static uint64_t ticks_now(void)
{
	return dart_clock__ns(CLOCK_BOOTTIME) / (1000000000 / sysconf(_SC_CLK_TCK));
}

/* Must it look at processes again and again, because no event tells of all of them? */
static bool needs_looks(const struct applications *applications)
{
	const struct application *application;

	if (applications->exec_watch.fd < 0)
		return !TAILQ_EMPTY(&applications->list);
	TAILQ_FOREACH(application, &applications->list, link)
		if (application->program.format != APPLICATION_FORMAT_ANY &&
		    (application->follows || !application->instance_count))
			return true;
	return false;
}

static uint64_t look_delay(const struct applications *applications)
{
	return looks__delay(&applications->looks, needs_looks(applications), now_us());
}

bool applications__have_to_look(const struct applications *applications)
{
	return !look_delay(applications);
}

/* Starts the timer that looks at rows of the module, unless it runs. */
static void applications__arm_rows(struct applications *applications)
{
	int enabled;

	if (applications->instance_count &&
	    sd_event_source_get_enabled(applications->rows, &enabled) >= 0 &&
	    enabled == SD_EVENT_OFF)
		loop_timer__start(applications->rows, LOOK_AT_ROWS_US);
}

void applications__arm(struct applications *applications)
{
	const uint64_t look = look_delay(applications);
	uint64_t delay = candidates__delay(&applications->candidates);

	if (delay > look)
		delay = look;
	if (delay == UINT64_MAX)
		sd_event_source_set_enabled(applications->retry, SD_EVENT_OFF);
	else
		loop_timer__start(applications->retry, delay);
	applications__arm_rows(applications);
}

void applications__look_again(struct applications *applications)
{
	applications->looks.take_all = true;
	applications__look_for_new(applications);
}

void applications__look_for_new(struct applications *applications)
{
	looks__ask_at_once(&applications->looks);
	applications__arm(applications);
}

void applications__look_soon(struct applications *applications)
{
	looks__ask_soon(&applications->looks, now_us());
	applications__arm(applications);
}

uint64_t applications__begin_look(struct applications *applications)
{
	const bool takes_all = applications->looks.take_all || needs_looks(applications);
	const uint64_t from = takes_all ? 0 : applications->looked_ticks;

	applications->looked_ticks = ticks_now();
	looks__begin(&applications->looks, now_us());
	return from;
}

void applications__end_look(struct applications *applications)
{
	looks__end(&applications->looks, now_us());
}

/* ---- ends */

static void application__drop(struct application *application, struct instance *instance)
{
	TAILQ_REMOVE(&application->instances, instance, link);
	LIST_REMOVE(instance, in_bucket);
	application->instance_count--;
	application->applications->instance_count--;
	snprintf(application->program.last_executable, sizeof(application->program.last_executable),
		 "%s", instance->executable);
	examinations__disown(&application->applications->examinations, instance);
	instance__free(instance);
}

void application__free(struct application *application)
{
	struct applications *applications = application->applications;
	struct instance *instance;

	while ((instance = TAILQ_FIRST(&application->instances)))
		application__drop(application, instance);
	inventory__remove_group(&applications->rooms.registry->inventory, &application->group);
	TAILQ_REMOVE(&applications->list, application, link);
	if (TAILQ_EMPTY(&applications->list))
		exec_watch__close(&applications->exec_watch);
	program__clear(&application->program);
	free(application);
}

struct application *application__of_group(const struct entry_group *group)
{
	return (struct application *)((char *)group - offsetof(struct application, group));
}

/* An instance has ended.  A process that was chosen by its number does not come back. */
static void application__await(struct application *application)
{
	struct applications *applications = application->applications;

	if (application->program.selection.kind != SELECTION_PID) {
		/* A server in the background is a child of the process that was started. */
		if (TAILQ_EMPTY(&application->instances))
			applications__look_again(applications);
		else
			applications__look_for_new(applications);
		return;
	}
	changes__announce(applications->changes, "ended", "application", application->group.name);
	application__free(application);
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
	application__await(application);
}

static int on_end(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct instance *instance = userdata;

	applications__end(application__of_group(instance->group), instance, "has ended");
	return 0;
}

static unsigned int bucket_of(pid_t pid)
{
	return (unsigned int)pid % INSTANCE_BUCKETS;
}

static struct instance *find_instance(const struct applications *applications,
				      const struct application *application, pid_t pid)
{
	struct instance *instance;

	LIST_FOREACH(instance, &applications->buckets[bucket_of(pid)], in_bucket)
		if (instance->process.pid == pid &&
		    (!application || instance->group == &application->group))
			return instance;
	return NULL;
}

const struct instance *applications__instance(const struct applications *applications,
					      const struct application *application, pid_t pid)
{
	return find_instance(applications, application, pid);
}

void applications__end_process(struct applications *applications, pid_t pid)
{
	struct application *application, *next;
	struct instance *instance;

	for (application = TAILQ_FIRST(&applications->list); application; application = next) {
		next = TAILQ_NEXT(application, link);
		instance = find_instance(applications, application, pid);
		if (instance)
			applications__end(application, instance, "executes another program");
	}
}

const struct application *applications__owner(const struct applications *applications,
					      const struct program *program, pid_t pid)
{
	const struct application *application;

	TAILQ_FOREACH(application, &applications->list, link)
		if (!strcmp(application->program.name, program->name) &&
		    find_instance(applications, application, pid))
			return application;
	return NULL;
}

/* ---- beginnings */

void application__refuse(struct application *application, const struct dart_error *why)
{
	if (strcmp(application->why.text, why->text))
		log__peer_warning("%s: %s", application->group.name, why->text);
	application->why = *why;
}

void application__settle(struct entry_group *group, int end, const struct dart_error *why)
{
	struct application *application = application__of_group(group);
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

/* In a batch of the registry.  Takes over what the parts say if it returns 0. */
static int application__attach(struct application *application, struct instance_parts *parts,
			       struct dart_error *error)
{
	struct applications *applications = application->applications;
	struct instance *instance;
	int ret;

	if (applications->instance_count == INSTANCES_MAX)
		return dart_error__set(error, EDQUOT,
				       "there are %d instances of applications already",
				       INSTANCES_MAX);
	parts->group = &application->group;
	parts->gather_ms = application->gather_ms;
	parts->format = application->program.format;
	ret = instance__new(&applications->rooms, parts, &instance, error);
	if (ret)
		return ret;
	TAILQ_INSERT_TAIL(&application->instances, instance, link);
	LIST_INSERT_HEAD(&applications->buckets[bucket_of(instance->process.pid)], instance,
			 in_bucket);
	application->instance_count++;
	applications->instance_count++;
	ret = sd_event_add_io(applications->loop, &instance->end, instance->pidfd, EPOLLIN, on_end,
			      instance);
	if (ret >= 0)
		return 0;
	dart_error__system(error, -ret, "cannot wait for the end of a process");
	instance__withdraw(&applications->rooms, instance, false);
	instance->pidfd = -1;
	application__drop(application, instance);
	return ret;
}

int application__attach_found(struct application *application, struct finding *finding,
			      const struct dart_application_layout *layout, int *pidfd,
			      const struct dart_application_build_id *build_id,
			      struct dart_error *error)
{
	struct registry *registry = application->applications->rooms.registry;
	struct instance_parts parts = {
		.process = &finding->process,
		.layout = finding->layout ?: layout,
		.described = finding->layout ? &finding->layout : NULL,
		.build_id = *build_id,
	};
	int ret;

	/* A process may be an instance of several applications. */
	parts.pidfd = fcntl(*pidfd, F_DUPFD_CLOEXEC, 0);
	if (parts.pidfd < 0)
		return dart_error__system(error, errno, "cannot duplicate a descriptor");
	registry__begin(registry);
	ret = application__attach(application, &parts, error);
	if (ret)
		close(parts.pidfd);
	return registry__end_with(registry, ret, error);
}

/* ---- news of writers */

/* Puts an instance with another layout in the place of @instance, which is freed. */
static int application__replace(struct application *application, struct instance *instance,
				struct dart_application_layout **layout, struct dart_error *error)
{
	struct applications *applications = application->applications;
	struct application_process process = instance->process;
	char label[sizeof(instance->label)];
	struct instance_parts parts = {
		.process = &process,
		.layout = *layout,
		.described = layout,
		.build_id = instance->build_id,
		.label = label,
	};
	int ret = 0;

	strcpy(label, instance->label);
	process.memory = fcntl(instance->process.memory, F_DUPFD_CLOEXEC, 0);
	parts.pidfd = fcntl(instance->pidfd, F_DUPFD_CLOEXEC, 0);
	if (process.memory < 0 || parts.pidfd < 0)
		ret = dart_error__system(error, errno, "cannot duplicate a descriptor");
	registry__begin(applications->rooms.registry);
	instance__withdraw(&applications->rooms, instance, true);
	application__drop(application, instance);
	ret = ret ?: application__attach(application, &parts, error);
	if (ret && parts.pidfd >= 0)
		close(parts.pidfd);
	if (process.memory >= 0)
		close(process.memory);
	return registry__end_with(applications->rooms.registry, ret, error);
}

static void application__renew(struct application *application, struct instance *instance)
{
	struct dart_application_layout *layout = writer__take_layout(instance->writer);
	const pid_t pid = instance->process.pid;
	struct dart_error why;
	int ret = application__replace(application, instance, &layout, &why);

	dart_application_layout__free(layout);
	if (!ret) {
		log__peer_info("%s: process %d describes other values than before",
			       application->group.name, pid);
		return;
	}
	application__refuse(application, &why);
	if (TAILQ_EMPTY(&application->instances))
		application__await(application);
}

/* Rows are empty since the writer said so. */
static void application__lose(struct application *application, struct instance *instance)
{
	struct dart_error why;

	dart_error__set(&why, ENOENT, "process %d is not '%s': %s", instance->process.pid,
			application->program.name, writer__why(instance->writer)->text);
	application__refuse(application, &why);
	applications__end(application, instance, "does not describe its values any more");
}

/* Handles the news of one writer.  Returns false if no writer has news. */
static bool applications__take_news(struct applications *applications)
{
	struct application *application;
	struct instance *instance;
	enum writer_news news;

	TAILQ_FOREACH(application, &applications->list, link) {
		TAILQ_FOREACH(instance, &application->instances, link) {
			news = instance->writer ? writer__news(instance->writer) : WRITER_GOES_ON;
			if (news == WRITER_GOES_ON)
				continue;
			if (news == WRITER_DESCRIBED_ANEW)
				application__renew(application, instance);
			else if (news == WRITER_LOST)
				application__lose(application, instance);
			else
				applications__end(application, instance,
						  "executes another program or has ended");
			return true;
		}
	}
	return false;
}

int applications__on_news(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	eventfd_t count;

	eventfd_read(fd, &count);
	while (applications__take_news(userdata))
		;
	return 0;
}
