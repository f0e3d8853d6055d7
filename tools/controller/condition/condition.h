/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The controller itself, as others see it over HTTP, in addition to the values of agents:
 *
 *   /-/healthy   200 while the control loop runs, or else 503
 *   /-/ready     200 after the first look at all sources, 503 before
 *   /-/reload    POST, from this host or with the token or password of --listen: reads the
 *                configuration again, as SIGHUP does.  400 with the reason if it cannot be
 *                used: then nothing changes
 *   /-/metrics   metrics of the controller alone, which /metrics shows as well
 *
 * The control loop writes the members, threads of the HTTP server read them.
 */
#ifndef CONTROLLER_CONDITION_H
#define CONTROLLER_CONDITION_H

#include <pthread.h>
#include <stdatomic.h>
#include <systemd/sd-event.h>

#include "tools/controller/base/thread.h"
#include "tools/controller/base/validity.h"
#include "tools/controller/http/http_access.h"
#include "tools/controller/http/http_server.h"
#include "tools/controller/metrics/own_metrics.h"
#include "tools/controller/settings/shard.h"
#include "tools/controller/settings/options.h"

/* Pages for http_server.h, besides /-/metrics. */
#define CONDITION_PAGES 3

struct condition {
	const struct options *options;
	int64_t started_ns; /* CLOCK_REALTIME */
	int reload_fd; /* an eventfd: somebody asked for a reload; -1: reloads are impossible */
	atomic_int_least64_t alive_ns; /* CLOCK_MONOTONIC, when the control loop last ran */
	atomic_bool is_ready;
	/* Of the last reload: of its configuration, and of its certificates. */
	atomic_bool is_configuration_refused, are_certificates_refused, are_outputs_refused;
	atomic_int_least64_t reloaded_ns; /* CLOCK_REALTIME, of the last that was not refused */
	atomic_uint_least64_t reloads, refused;
	/* Tables taken from mirrors, and looks after which one had to be READ. */
	atomic_uint_least64_t told, gaps;
	atomic_size_t equal_labels; /* agents with the same labels as others */
	atomic_size_t dropped; /* agents that relabel_configs drop */
	pthread_mutex_t shard_lock; /* of the next three members */
	struct membership membership;
	struct shard_parts parts;
	bool is_shard_failing; /* the list of members cannot be read */
	const struct validity *validity; /* of the list; set before condition__watch() */
	pthread_mutex_t threads_lock; /* of the next two members */
	struct thread_figures *threads;
	unsigned int thread_count;

	/* Of the control loop. */
	sd_event_source *pulse, *reload;
	bool (*check_ready)(void *data);
	void (*on_reload)(void *data);
	void (*look)(void *data);
	void *data;
};

/*
 * All zeros before.  Options outlive it.  Returns 0 or -errno; condition__close() in both cases.
 */
int condition__open(struct condition *condition, const struct options *options);
/*
 * In the control loop, whose life is watched from now on.  check_ready() is called now and then
 * until it returns true; NULL: it is ready now.  on_reload() reads the configuration again; NULL:
 * nothing can be.  look() is called every other second, to call condition__set_threads(); NULL:
 * nobody looks.  Returns 0 or -errno.
 */
int condition__watch(struct condition *condition, sd_event *event, bool (*check_ready)(void *data),
		     void (*on_reload)(void *data), void (*look)(void *data), void *data);
/* The control loop ended; the server may still ask. */
void condition__end(struct condition *condition);
/* The server ended. */
void condition__close(struct condition *condition);

/* In the control loop: how a reload went. */
void condition__set_configuration(struct condition *condition, bool is_refused);
void condition__set_certificates(struct condition *condition, bool are_refused);
/* Before condition__set_configuration() for the same reload: outputs that it wants cannot begin. */
void condition__set_outputs(struct condition *condition, bool are_refused);
/* In the control loop: so many wanted agents came with the same labels as others. */
void condition__set_equal_labels(struct condition *condition, size_t count);
/* In the control loop: relabel_configs drop so many agents. */
void condition__set_dropped(struct condition *condition, size_t count);
/* In the control loop: see discovery_operations.sharded(). */
void condition__set_shard(struct condition *condition, const struct membership *membership,
			  const struct shard_parts *parts, bool is_failing);
/* In the control loop: @count threads scrape and decode.  Without memory, nothing changes. */
void condition__set_threads(struct condition *condition, const struct thread_figures *figures,
			    unsigned int count);
/* In any thread. */
void condition__membership(struct condition *condition, struct membership *membership);

/*
 * In the control loop: a mirror was looked at, and held the table, or with @is_gap did not.
 * @condition may be NULL.
 */
static inline void condition__count_told(struct condition *condition, bool is_gap)
{
	if (condition)
		atomic_fetch_add(is_gap ? &condition->gaps : &condition->told, 1);
}

/* In any thread.  Adds the families of the process and of its configuration. */
void condition__add(void *condition, struct own_metrics *metrics);
void condition__pages(struct condition *condition, struct http_page pages[static CONDITION_PAGES]);

#endif /* CONTROLLER_CONDITION_H */
