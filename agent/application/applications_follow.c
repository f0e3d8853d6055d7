// SPDX-License-Identifier: GPL-2.0-only
/* Finds processes for applications, as they start and are executed: see applications.h. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "applications.h"
#include "host_process.h"

/* Before a program is looked at that is known by its memory only: 160 ms. */
#define TRIES_UNTIL_MAPPED 3

static const struct examination_handlers handlers;

static bool wants(const struct application *application, pid_t pid)
{
	if (!application->follows && application->instance_count)
		return false;
	return !applications__owner(application->applications, &application->program, pid);
}

/* The memory that an instance of the process is attached to; NULL if it has no instance. */
static const struct application_process *find_former(const struct applications *applications,
						     pid_t pid)
{
	const struct instance *instance = applications__instance(applications, NULL, pid);

	return instance ? &instance->process : NULL;
}

/* What applications want of the process, as struct examination has it. */
static unsigned int find_formats(const struct applications *applications, pid_t pid)
{
	const struct application *application;
	unsigned int formats = 0;

	TAILQ_FOREACH(application, &applications->list, link)
		if (wants(application, pid) &&
		    selection__matches(&application->program.selection, pid))
			formats |= 1u << application->program.format;
	return formats;
}

/* Does an application expect the process to be its program, by more than its contents? */
static bool is_chosen(const struct applications *applications, pid_t pid)
{
	const struct application *application;

	TAILQ_FOREACH(application, &applications->list, link)
		if (application->program.selection.kind != SELECTION_ALL &&
		    wants(application, pid) &&
		    selection__matches(&application->program.selection, pid))
			return true;
	return false;
}

/* A new file may describe programs that were strangers.  @formats: as of find_formats(). */
static bool is_stranger(struct applications *applications, pid_t pid, unsigned int formats)
{
	if (formats != 1u << APPLICATION_FORMAT_ANY)
		return false;
	if (layouts__have_changed(&applications->layouts)) {
		strangers__forget(&applications->strangers);
		return false;
	}
	return strangers__have(&applications->strangers, pid) && !is_chosen(applications, pid) &&
	       !find_former(applications, pid) &&
	       !examinations__find(&applications->examinations, pid, applications);
}

/* Takes the pidfd over, unless it is -1. */
static void examine(struct applications *applications, const struct candidate_process *process,
		    bool is_executed)
{
	struct examination *examination =
		examinations__find(&applications->examinations, process->pid, applications);
	const struct examination_wish wish = {
		.pid = process->pid,
		.pidfd = process->pidfd,
		.tries = process->tries,
		.is_executed = is_executed,
		.formats = find_formats(applications, process->pid),
		.former = is_executed ? find_former(applications, process->pid) : NULL,
		.handlers = &handlers,
		.owner = applications,
	};

	if (examination)
		examination->is_wanted_again |= is_executed;
	if (!examination && (wish.formats || wish.former))
		examinations__add(&applications->examinations, &wish);
	else if (process->pidfd >= 0)
		close(process->pidfd);
}

struct look {
	struct applications *applications;
	uint64_t from; /* start of the oldest process, in ticks; 0: of all */
};

static void consider(void *userdata, pid_t pid)
{
	const struct candidate_process process = { .pid = pid, .pidfd = -1 };
	const struct look *look = userdata;
	struct applications *applications = look->applications;
	uint64_t start;
	pid_t parent;

	if (look->from && host_process__origin(pid, &parent, &start) && start < look->from)
		return;
	if (is_stranger(applications, pid, find_formats(applications, pid)))
		return;
	/* Without a watch nothing has told of programs that were executed. */
	examine(applications, &process, applications->exec_watch.fd < 0);
}

void applications__look(struct applications *applications)
{
	struct look look = {
		.applications = applications,
		.from = applications__begin_look(applications),
	};

	host_processes__each(consider, &look);
	applications__end_look(applications);
}

/* ---- results */

static bool is_selected(const struct application *application,
			const struct examination *examination)
{
	return examination->formats & 1u << application->program.format &&
	       wants(application, examination->pid) &&
	       selection__matches(&application->program.selection, examination->pid);
}

static const struct dart_application_layout *choose(struct examination *examination)
{
	struct applications *applications = examination->owner;
	const struct dart_application_layout *layout;
	struct application *application;
	struct dart_error why;
	bool is_refused = false;
	int ret;

	TAILQ_FOREACH(application, &applications->list, link) {
		if (application->program.format != APPLICATION_FORMAT_ANY ||
		    !is_selected(application, examination))
			continue;
		ret = program__find_layout(&application->program, &applications->layouts,
					   examination, TAILQ_EMPTY(&application->instances),
					   &layout, &why);
		if (!ret)
			return layout;
		if (ret != -ENODEV)
			application__refuse(application, &why);
		is_refused |= ret != -ENODEV;
	}
	/* Each process that should be an application, but is not, is told of. */
	if (!is_refused && layouts__lack(&applications->layouts, &examination->build_id))
		strangers__add(&applications->strangers, &examination->file);
	return NULL;
}

static void look_at_all_soon(struct applications *applications)
{
	applications->looks.take_all = true;
	applications__look_soon(applications);
}

/* Makes the process an instance if it is the program.  True: it may become the program. */
static bool offer(struct application *application, struct examination *examination)
{
	struct finding *finding = &examination->findings[application->program.format];
	struct dart_error why;
	bool is_early;
	int ret = program__judge(&application->program, examination,
				 TAILQ_EMPTY(&application->instances), &is_early, &why);

	if (!ret) {
		ret = application__attach_found(application, finding, examination->layout,
						&examination->pidfd, &examination->build_id, &why);
		is_early = ret == -ENOEXEC;
		/* There may be room later. */
		application->applications->looks.take_all |= ret && !is_early;
		if (examination__is_shortage(ret))
			look_at_all_soon(application->applications);
	}
	if (!ret)
		application->why = (struct dart_error){};
	if (is_early && !candidate__has_last_try(examination->tries))
		return true;
	if (ret && ret != -ENODEV)
		application__refuse(application, &why);
	return false;
}

static bool has_ended(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return pidfd < 0 || poll(&end, 1, 0) > 0;
}

/* Its child is not executed, so no event tells of it. */
static bool is_manager_of_varnish(const struct examination *examination)
{
	return examination->findings[APPLICATION_FORMAT_VARNISH].ret == -ENODEV;
}

/* Is the program of the process known, but not ready? */
static bool is_likely(const struct examination *examination)
{
	enum application_format format;

	for (format = APPLICATION_FORMAT_ANY + 1; format < APPLICATION_FORMATS; format++)
		if (examination->findings[format].ret == -EAGAIN)
			return true;
	return examination->layout || is_manager_of_varnish(examination);
}

/* An examination has not made the process an instance. */
static void go_on(struct applications *applications, struct examination *examination, bool is_early)
{
	const struct candidate_process process = {
		.pid = examination->pid,
		.pidfd = examination->pidfd,
		.tries = examination->tries,
		.is_likely = is_likely(examination),
	};

	if (is_early && process.pidfd >= 0) {
		/* Many programs start together: a look finds the programs beyond the list of candidates. */
		if (!candidates__add(&applications->candidates, &process))
			look_at_all_soon(applications);
		examination->pidfd = -1;
	} else if (is_manager_of_varnish(examination)) {
		if (examination->tries)
			applications__look_for_new(applications);
	} else if (process.is_likely && has_ended(process.pidfd)) {
		/* A server that went into the background is a child of the process. */
		applications__look_for_new(applications);
	} else if (examination->is_executed && examination->build_ret && has_ended(process.pidfd)) {
		/* It may have been one, too: nothing is known of its program. */
		applications__look_soon(applications);
	}
}

/*
 * Could the process be an instance later, though it executes no other program?  A copy can when its
 * parent ends.
 */
static bool may_be_refused_now_only(const struct examination *examination)
{
	return examination->is_copy_of_parent || examination->build_ret == -EUSERS;
}

/* No event tells of the end of a shortage. */
static void look_after_shortage(struct applications *applications,
				const struct examination *examination)
{
	const struct dart_error *shortage = examination__shortage(examination);

	if (!shortage)
		return;
	log__peer_warning(
		"%s (dartd looks again; raise its limits of open files and memory if this goes on)",
		shortage->text);
	look_at_all_soon(applications);
}

static void finish(struct examination *examination)
{
	const struct candidate_process again = { .pid = examination->pid, .pidfd = -1 };
	struct applications *applications = applications__of_examination(examination);
	struct application *application;
	bool is_early = false;

	applications->looks.take_all |= may_be_refused_now_only(examination);
	look_after_shortage(applications, examination);
	if (!examination->lives)
		applications__end_process(applications, examination->pid);
	/* A process that executed another program meanwhile is not the one that was examined. */
	TAILQ_FOREACH(application, &applications->list, link)
		if (!examination->is_wanted_again && is_selected(application, examination))
			is_early |= offer(application, examination);
	if (examination->is_wanted_again)
		examine(applications, &again, true);
	else
		go_on(applications, examination, is_early);
	if (examination->layout)
		layouts__put(&applications->layouts, examination->layout);
	applications__arm(applications);
}

static void hold(struct examination *examination)
{
	struct applications *applications = examination->owner;
	struct application *application;
	struct dart_error why;

	examination__explain_hold(examination, &why);
	TAILQ_FOREACH(application, &applications->list, link)
		if (is_selected(application, examination))
			application__refuse(application, &why);
}

/* Controllers are told once of all processes that started together. */
static void begin(void *owner)
{
	struct applications *applications = owner;

	listening__keep(&applications->rooms.listening);
	if (!applications->attaches_singly)
		registry__begin(applications->rooms.registry);
}

static void end(void *owner)
{
	struct applications *applications = owner;
	struct dart_error why;

	listening__drop(&applications->rooms.listening);
	if (applications->attaches_singly) {
		applications->attaches_singly = false;
		return;
	}
	if (!registry__end(applications->rooms.registry, &why))
		return;
	/* There may be room for some of them. */
	applications->attaches_singly = true;
	applications__look_again(applications);
}

static const struct examination_handlers handlers = {
	.choose = choose,
	.finish = finish,
	.hold = hold,
	.begin = begin,
	.end = end,
};

/* ---- events */

/* Has the process ended, or is it about to leave the table of processes? */
static bool is_gone(pid_t pid)
{
	const int pidfd = host_process__open(pid);
	const bool is_gone = has_ended(pidfd);

	if (pidfd >= 0)
		close(pidfd);
	return is_gone;
}

/* Could a process be an instance of which nothing but its end is known? */
static bool searches(const struct applications *applications)
{
	const struct application *application;

	TAILQ_FOREACH(application, &applications->list, link)
		if (application->program.selection.kind != SELECTION_PID &&
		    (application->follows || !application->instance_count))
			return true;
	return false;
}

void applications__on_exec(void *userdata, pid_t pid)
{
	struct candidate_process process = { .pid = pid, .pidfd = -1, .tries = TRIES_UNTIL_MAPPED };
	struct applications *applications = userdata;
	const unsigned int formats = find_formats(applications, pid);

	/* Its program is unknown, and a server that went into the background may be its child. */
	if (!formats && searches(applications) && is_gone(pid))
		applications__look_soon(applications);
	if (is_stranger(applications, pid, formats))
		return;
	if (!formats || formats & 1u << APPLICATION_FORMAT_ANY || find_former(applications, pid)) {
		process.tries = 0;
		examine(applications, &process, true);
		return;
	}
	/* No program maps its file at once, and most processes have ended by then. */
	process.pidfd = host_process__open(pid);
	if (process.pidfd < 0)
		return;
	candidates__add(&applications->candidates, &process);
	applications__arm(applications);
}

void applications__on_lost(void *userdata)
{
	/* Programs start faster than dartd looks at them: more looks would take the time for these. */
	look_at_all_soon(userdata);
}

int applications__on_retry(sd_event_source *source, uint64_t time, void *userdata)
{
	struct applications *applications = userdata;
	struct candidate_process process;

	while (candidates__take(&applications->candidates, &process)) {
		if (!has_ended(process.pidfd)) {
			examine(applications, &process, false);
			continue;
		}
		close(process.pidfd);
		/* A server that went into the background is a child of the candidate. */
		if (process.is_likely)
			looks__ask_at_once(&applications->looks);
	}
	if (applications__have_to_look(applications))
		applications__look(applications);
	applications__arm(applications);
	return 0;
}
