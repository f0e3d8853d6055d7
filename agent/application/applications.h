/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applications: programs that run on the host, whose values become entries as long as they run.  An
 * application follows all processes of its selection, or has one at a time; it waits for the next
 * process when one has ended.  Only root adds and removes applications.
 *
 * The kernel reports each program that is executed, and each end of an instance.  Where it cannot
 * report programs, dartd looks every few seconds; also for memory that describes itself, which a
 * program can map at any time.
 */
#ifndef APPLICATIONS_H
#define APPLICATIONS_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/base/changes.h"
#include "agent/base/request.h"
#include "agent/table/registry.h"
#include "candidates.h"
#include "examination.h"
#include "exec_watch.h"
#include "instance.h"
#include "layouts.h"
#include "looks.h"
#include "program.h"

/* Together; a user of the host can start programs. */
#define INSTANCES_MAX 1024
/* Between two looks at the rows that the module writes. */
#define LOOK_AT_ROWS_US UINT64_C(1000000)
#define INSTANCE_BUCKETS 1024

struct search;

struct applications {
	const struct changes *changes;
	sd_event *loop;
	struct instance_rooms rooms;
	struct layouts layouts;
	struct strangers strangers;
	struct examinations examinations;
	struct exec_watch exec_watch;
	sd_event_source *news; /* of writers */
	/* Tries candidates again, and looks at all processes if that is needed. */
	sd_event_source *retry;
	sd_event_source *rows; /* looks at rows that the module writes; off without instances */
	struct candidates candidates;
	struct looks looks;
	uint64_t looked_ticks; /* the last look, as the kernel dates starts of processes */
	bool attaches_singly; /* the next processes, because not all of the last ones had room */
	bool cannot_watch; /* the log says that programs are not reported */
	TAILQ_HEAD(, search) searches;
	TAILQ_HEAD(application_list, application) list;
	uint32_t instance_count;
	LIST_HEAD(, instance) buckets[INSTANCE_BUCKETS]; /* all, by the number of the process */
};

static inline struct applications *
applications__of_examination(const struct examination *examination)
{
	return (struct applications *)((char *)examination->examinations -
				       offsetof(struct applications, examinations));
}

struct application {
	TAILQ_ENTRY(application) link;
	struct applications *applications;
	struct entry_group group;
	struct program program;
	uint32_t gather_ms;
	bool follows; /* all processes of the program */
	TAILQ_HEAD(, instance) instances;
	uint32_t instance_count;
	struct dart_error why; /* the last process that was refused; "" */
};

int applications__open(struct applications *applications, struct registry *registry,
		       const struct changes *changes, sd_event *loop, struct dart_error *error);
/* Before the registry. */
void applications__close(struct applications *applications);

/* The request for a new application. */
struct application_wish {
	const char *name;
	struct selection selection;
	uint32_t gather_ms;
	bool follows;
	uint64_t start; /* of the process with the number of the selection; 0: any */
};

/*
 * Adds an application.  If it follows, its processes become instances soon; otherwise the one that
 * runs now.  Returns 0; -EINPROGRESS: processes are examined, call again; -EAGAIN: a process may
 * have started a moment ago; or another -errno, and nothing has changed.
 */
int applications__add(struct applications *applications, const struct application_wish *wish,
		      struct application **application, struct dart_error *error);
struct application *applications__find(const struct applications *applications, const char *name);
int application__remove(struct application *application, struct dart_error *error);
/* NULL: out of memory. */
json_t *application__describe(const struct application *application);

/* application_requests.c: */

/* Unpacks and checks the members of "application-add"; the texts stay the request's. */
int application_wish__unpack(struct request *request, struct application_wish *wish);
/* The subject is struct applications. */
extern const struct request_type application_requests[];

/* Between applications*.c; each file calls only files before it. */

/* applications_instances.c: */

/* Is a look due now? */
bool applications__have_to_look(const struct applications *applications);
/*
 * Looks at all processes as soon as looks.h allows, and then ever later; a look is in
 * applications_follow.c.  The second function is for looks that need only the processes that started
 * since the last look.
 */
void applications__look_again(struct applications *applications);
void applications__look_for_new(struct applications *applications);
/* Looks at new processes a bit later: the later, the more often this is called. */
void applications__look_soon(struct applications *applications);
/*
 * A look begins.  Returns the start of the oldest process to look at, in ticks of the clock since
 * the boot.
 */
uint64_t applications__begin_look(struct applications *applications);
void applications__end_look(struct applications *applications);
/* The instance of the process, of this application or of any (NULL); NULL: none. */
const struct instance *applications__instance(const struct applications *applications,
					      const struct application *application, pid_t pid);
/* Starts the timers for the next candidate or look, and for rows that the module writes. */
void applications__arm(struct applications *applications);
/* The application whose group of entries this is. */
struct application *application__of_group(const struct entry_group *group);
/* Removes the application, whose entries have left the table, or are about to. */
void application__free(struct application *application);
void application__refuse(struct application *application, const struct dart_error *why);
/* The application with programs of the same name that has the process as an instance, or NULL. */
const struct application *applications__owner(const struct applications *applications,
					      const struct program *program, pid_t pid);
/*
 * Makes an instance of a finding about an examined process, with the @layout of its build if memory
 * does not describe itself.  Takes the finding and the pidfd of the examination on success.
 */
int application__attach_found(struct application *application, struct finding *finding,
			      const struct dart_application_layout *layout, int *pidfd,
			      const struct dart_application_build_id *build_id,
			      struct dart_error *error);
/* Ends all instances of a process, which executes another program. */
void applications__end_process(struct applications *applications, pid_t pid);
/* A handler of the event loop. */
int applications__on_news(sd_event_source *source, int fd, uint32_t revents, void *applications);
/* Instances whose entries could not be published do not exist. */
void application__settle(struct entry_group *group, int end, const struct dart_error *why);

/* applications_follow.c: */

/* Examines processes that run now for all applications. */
void applications__look(struct applications *applications);
/* Handlers of the event loop and of the watch for programs. */
int applications__on_retry(sd_event_source *source, uint64_t time, void *applications);
void applications__on_exec(void *applications, pid_t pid);
void applications__on_lost(void *applications);

/* applications_absent.c: */

/*
 * A handler of the event loop: looks whether rows that the module writes are empty, and then lets
 * the kernel fetch the pages of their values, in the threads of examinations: at most once a second
 * for an instance, and ever later while that has no success.
 */
int applications__on_rows(sd_event_source *source, uint64_t time, void *applications);

/* applications_search.c: */

/*
 * Searches for the only process that is selected, in steps.  Returns 0, and *@search, which the
 * caller frees; -EINPROGRESS: call again; -ENOEXEC: a process may become the program; or another
 * -errno.
 */
int applications__search(struct applications *applications, const struct application_wish *wish,
			 struct search **search, struct dart_error *error);
/* Makes the process that was found the instance of @application. */
int search__attach(struct search *search, struct application *application,
		   struct dart_error *error);
void search__free(struct search *search);
void applications__drop_searches(struct applications *applications);

#endif /* APPLICATIONS_H */
