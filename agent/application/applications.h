/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applications: programs that run on the host, whose values become entries as long as they run.  An
 * application follows all processes of its selection, or has one at a time; it waits for the next
 * process when one has ended.  Only root adds and removes applications.
 *
 * The kernel reports each program that is executed, and each end of an instance.  Where it cannot
 * report programs, dartd looks every few seconds.
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
#include "exec_watch.h"
#include "instance.h"
#include "layouts.h"
#include "program.h"

/* Together; a user of the host can start programs. */
#define INSTANCES_MAX 1024

struct applications {
	const struct changes *changes;
	sd_event *loop;
	struct instance_rooms rooms;
	struct layouts layouts;
	struct exec_watch exec_watch;
	sd_event_source *ended; /* a writer found that its program has ended */
	/* Tries candidates again, and looks at all processes if that is needed. */
	sd_event_source *retry;
	struct candidates candidates;
	bool looks_again; /* at all processes */
	bool cannot_watch; /* the log says that programs are not reported */
	TAILQ_HEAD(application_list, application) list;
	uint32_t instance_count;
};

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
 * Adds an application with the processes that run now: one, or if it follows, any number.  Returns
 * 0; -EAGAIN: a process may have started a moment ago; or another -errno, and nothing has changed.
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

#endif /* APPLICATIONS_H */
