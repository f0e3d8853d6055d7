/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All registrations: records requests that succeed, writes the state file before their replies are
 * sent, and carries the requests out again after a restart.  Registrations of the configuration
 * come first; a reload applies the differences only.
 *
 * A registration whose object ends is forgotten if a command made it, and missing if the
 * configuration wants it.
 */
#ifndef REGISTRATIONS_H
#define REGISTRATIONS_H

#include <libdart/configuration/configuration.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/base/changes.h"
#include "agent/base/request.h"
#include "agent/table/registry.h"
#include "registration.h"
#include "state_file.h"

TAILQ_HEAD(registration_list, registration);

/* Private to registrations*.c. */
struct registrations {
	struct request_recorder recorder;	/* for dispatch() */
	struct change_subscriber subscriber;
	struct changes *changes;
	const struct request_table *tables;
	struct registry *registry;
	struct coverage_watch *coverage;	/* NULL until agent/coverage/ sets it */
	struct state_file file;
	struct registration_list list;
	sd_event_source *saving;	/* on while changes wait to be saved */
	sd_event_source *retry;	/* on while something is missing */
	uint64_t retry_us;	/* the delay of the next one */
	bool lacks_device;	/* registrations that need the RDMA device are not tried */
	bool is_dirty;		/* the file differs from the list */
	bool has_failed;	/* the file could not be written at the last attempt */
	bool is_replaying;	/* the changes are ours */
};

/*
 * Locks the directory of the state, and reads the file.  Without a directory, or
 * if it cannot be used, dartd works all the same, and says so in the log; the
 * only failures are -EBUSY, another dartd uses it, and a lack of memory or descriptors.
 */
int registrations__open(struct registrations *registrations, sd_event *loop, const char *directory,
			const struct request_table *tables, struct changes *changes,
			struct registry *registry, struct dart_error *error);
/* Call this before the registered objects are closed: their ends are not recorded. */
void registrations__close(struct registrations *registrations);

/*
 * Adds an object that dartd registers when it runs for the first time: later it is there only if it
 * was not ended.  Takes the reference of @request; -ENOMEM.
 */
int registrations__add_first(struct registrations *registrations,
			     json_t *request, struct dart_error *error);

/*
 * Registers the objects of the configuration and missing objects, ends objects that it no longer
 * has, and publishes all of that together.  Each failure is logged once.
 */
void registrations__configure(struct registrations *registrations,
			      const struct dart_configuration *configuration);

/* Carries out missing registrations: at the start, everything in the file. */
void registrations__restore(struct registrations *registrations);
/*
 * The RDMA device was removed, or was absent at the start: its reporters and requesters are
 * missing, and registrations that need it are not tried until it is back.
 */
void registrations__lose_device(struct registrations *registrations);
void registrations__regain_device(struct registrations *registrations);
/* How many there are, and how many of these are missing. */
size_t registrations__count(const struct registrations *registrations, size_t *missing);

/* Calls @take for each registration that is missing. */
void registrations__each_missing(const struct registrations *registrations,
				 void (*take)(void *userdata,
					      const struct registration *registration),
				 void *userdata);

/* Requests about registrations; the subject is struct registrations. */
extern const struct request_type registrations_requests[];

/* Between registrations*.c; each file calls only files before it. */

/* registrations_list.c: */

/* Finds a registration by name; NULL: there is none. */
struct registration *registrations__find(const struct registrations *registrations,
					 const char *name);
void registrations__drop(struct registrations *registrations, struct registration *registration);
/* Writes the file; tries it again later if that fails. */
int registrations__save(struct registrations *registrations, struct dart_error *error);
/* Writes the file if there is one and the list has changed. */
void registrations__save_or_log(struct registrations *registrations);
/* Writes it after @us; a time that runs already is not extended. */
void registrations__save_within(struct registrations *registrations, uint64_t us);

/* registrations_replay.c: */

/*
 * Tries missing registrations again, soon and then ever later: a network may come up, or
 * a container start, after dartd.  No single event reports all of these.
 */
void registrations__retry_soon(struct registrations *registrations);
/* The handler of the timer of retries. */
int registrations__on_retry(sd_event_source *source, uint64_t usec, void *registrations);

#endif /* REGISTRATIONS_H */
