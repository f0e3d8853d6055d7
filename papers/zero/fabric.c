// SPDX-License-Identifier: GPL-2.0-only
/* Events in virtual time: see fabric.h. */
#include "fabric.h"

#include <err.h>
#include <stdlib.h>

#include "event_heap.h"
#include "tools/controller/flow/credit.h"

enum event_kind {
	EVENT_DUE, /* a scrape of a host */
	EVENT_AT_HOST, /* a request arrives */
	EVENT_AT_SWITCH, /* the answer arrives */
	EVENT_LANDED, /* and here */
	EVENT_LATE, /* no answer: the request is sent again */
	EVENT_DEATH, /* of a host: it answers no more */
	EVENT_LOST, /* the controller gives its queue pair up */
	EVENT_BIRTH,
};

struct host {
	struct credit_flow flow; /* first: fabric__post() casts it */
	uint64_t due_ns;
	uint64_t free_ns; /* its adapter sends earlier answers until then */
	uint32_t epoch; /* counts its lives */
	uint32_t scrapes; /* that became due */
	struct io_thread *thread;
	uint32_t fragments; /* of a scrape */
	uint32_t missing; /* fragments of the scrape in progress */
	bool is_dead, has_none; /* has_none: no credit for this scrape yet */
};

struct fabric {
	const struct fabric_settings *settings;
	struct fabric_result *result;
	struct credit credit;
	struct host *hosts;
	struct io_thread polling, blocking;

	struct event_heap events;

	uint64_t now_ns;
	uint64_t link_free_ns, pause_end_ns;
	uint64_t in_flight;
	uint64_t random;
	uint64_t *latencies, *small_latencies;
	uint64_t first_class_scrapes, small_scrapes;
};

/* ---- random numbers and events */

/* In [0, 1) (splitmix64). */
static double fabric__random(struct fabric *fabric)
{
	uint64_t x = fabric->random += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return ((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static void fabric__at(struct fabric *fabric, uint64_t time_ns, enum event_kind kind, uint32_t host)
{
	event_heap__add(&fabric->events,
			&(struct event){
				.time_ns = time_ns,
				.kind = kind,
				.host = host,
				.epoch = fabric->hosts[host].epoch,
			});
}

/* ---- the controller */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The thread of @host may need to wake up first. */
static void fabric__wake(struct fabric *fabric, struct host *host)
{
	const uint64_t wake_ns = fabric->settings->wake_ns;

	if (wake_ns)
		io_thread__wake(host->thread, fabric->now_ns,
				wake_ns / 2 + fabric__random(fabric) * wake_ns,
				fabric->settings->wake_cpu_ns);
}

/* Posts all that there are credits for. */
static void fabric__post(struct fabric *fabric)
{
	const struct fabric_settings *settings = fabric->settings;
	struct fabric_result *result = fabric->result;
	struct credit_flow *flow;
	uint32_t fragments, i;
	struct host *host;

	while ((flow = credit__grant(&fabric->credit, &fragments))) {
		host = (struct host *)flow;
		if (host->has_none)
			result->wait_max_ns =
				later(result->wait_max_ns, fabric->now_ns - host->due_ns);
		host->has_none = false;
		io_thread__post(host->thread, fabric->now_ns, fragments);
		for (i = 0; i < fragments; i++) {
			io_thread__work(host->thread, fabric->now_ns, settings->post_ns);
			fabric__at(fabric, host->thread->free_ns + settings->round_trip_ns / 2,
				   EVENT_AT_HOST, host - fabric->hosts);
		}
		fabric->in_flight += (uint64_t)fragments * CREDIT_FRAGMENT;
		result->fragments += fragments;
		result->in_flight_max = later(result->in_flight_max, fabric->in_flight);
	}
}

static void fabric__scrape(struct fabric *fabric, struct host *host)
{
	const struct fabric_settings *settings = fabric->settings;
	uint32_t index = host - fabric->hosts;

	if (++host->scrapes < settings->scrapes)
		fabric__at(fabric, fabric->now_ns + settings->interval_ns, EVENT_DUE, index);
	if (host->is_dead) {
		fabric->result->failed++;
		return;
	}
	if (host->missing) {
		fabric->result->missed++;
		return;
	}
	host->due_ns = fabric->now_ns;
	host->missing = host->fragments;
	host->has_none = true;
	credit__ask(&fabric->credit, &host->flow, index >= settings->first_class, host->fragments);
	fabric__wake(fabric, host);
	if (fabric__random(fabric) < settings->mortality)
		fabric__at(fabric, fabric->now_ns + fabric__random(fabric) * settings->interval_ns,
			   EVENT_DEATH, index);
	fabric__post(fabric);
}

static void fabric__finish_scrape(struct fabric *fabric, struct host *host)
{
	struct fabric_result *result = fabric->result;
	uint64_t end_ns = host->thread->free_ns;
	uint64_t latency_ns = end_ns - host->due_ns;

	fabric->latencies[result->scrapes++] = latency_ns;
	result->latency_mean_ns += latency_ns;
	result->elapsed_ns = later(result->elapsed_ns, end_ns);
	if (host - fabric->hosts < fabric->settings->small_hosts) {
		fabric->small_latencies[fabric->small_scrapes++] = latency_ns;
		result->small_mean_ns += latency_ns;
	}
	if (host - fabric->hosts < fabric->settings->first_class) {
		fabric->first_class_scrapes++;
		result->first_class_ns += latency_ns;
	}
}

static void fabric__land(struct fabric *fabric, struct host *host)
{
	fabric__wake(fabric, host);
	io_thread__work(host->thread, fabric->now_ns, fabric->settings->poll_ns);
	io_thread__complete(host->thread, 1);
	fabric->in_flight -= CREDIT_FRAGMENT;
	fabric->result->bytes += CREDIT_FRAGMENT;
	credit__give_back(&fabric->credit, &host->flow, 1);
	if (!--host->missing)
		fabric__finish_scrape(fabric, host);
	fabric__post(fabric);
}

/*
 * The adapter gives up after its retries.  Nothing of the host is under way by then: if
 * its credits were returned earlier, more than all credits could meet in the switch.
 */
static void fabric__die(struct fabric *fabric, struct host *host)
{
	const struct fabric_settings *settings = fabric->settings;

	host->is_dead = true;
	fabric__at(fabric,
		   fabric->now_ns + settings->retry_ns + settings->round_trip_ns +
			   settings->buffer / settings->link_bytes_ns,
		   EVENT_LOST, host - fabric->hosts);
}

/* The queue pair is destroyed: events of it hit nothing, by their epoch. */
static void fabric__lose(struct fabric *fabric, struct host *host)
{
	if (host->missing)
		fabric->result->failed++;
	fabric->in_flight -= (uint64_t)host->flow.held * CREDIT_FRAGMENT;
	io_thread__complete(host->thread, host->flow.held);
	credit__end(&fabric->credit, &host->flow);
	host->missing = 0;
	host->epoch++;
	fabric__at(fabric,
		   fabric->now_ns + 3 * fabric->settings->interval_ns * fabric__random(fabric),
		   EVENT_BIRTH, host - fabric->hosts);
	fabric__post(fabric);
}

/* ---- below it */

static void fabric__answer(struct fabric *fabric, struct host *host)
{
	const struct fabric_settings *settings = fabric->settings;

	host->free_ns = later(host->free_ns, fabric->now_ns) +
			CREDIT_FRAGMENT / settings->host_bytes_ns;
	fabric__at(fabric, host->free_ns + settings->round_trip_ns / 4,
		   EVENT_AT_SWITCH, host - fabric->hosts);
}

static void fabric__forward(struct fabric *fabric, struct host *host)
{
	const struct fabric_settings *settings = fabric->settings;
	uint32_t index = host - fabric->hosts;
	uint64_t queue = 0;

	if (fabric->now_ns < fabric->pause_end_ns) {
		fabric__at(fabric, fabric->pause_end_ns, EVENT_AT_SWITCH, index);
		return;
	}
	if (fabric->link_free_ns > fabric->now_ns)
		queue = (fabric->link_free_ns - fabric->now_ns) * settings->link_bytes_ns;
	queue += CREDIT_FRAGMENT;
	if (settings->pause_above && queue > settings->pause_above) {
		fabric->pause_end_ns =
			fabric->now_ns + (queue - settings->pause_until) / settings->link_bytes_ns;
		fabric->result->paused_ns += fabric->pause_end_ns - fabric->now_ns;
	} else if (!settings->pause_above && queue > settings->buffer) {
		fabric->result->dropped++;
		fabric__at(fabric, fabric->now_ns + settings->retry_ns, EVENT_LATE, index);
		return;
	}
	fabric->result->marked += settings->mark_above && queue > settings->mark_above;
	fabric->result->queue_max = later(fabric->result->queue_max, queue);
	fabric->link_free_ns = later(fabric->link_free_ns, fabric->now_ns) +
			       CREDIT_FRAGMENT / settings->link_bytes_ns;
	if (fabric__random(fabric) < settings->loss) {
		fabric->result->lost++;
		fabric__at(fabric, fabric->now_ns + settings->retry_ns, EVENT_LATE, index);
		return;
	}
	fabric__at(fabric, fabric->link_free_ns + settings->round_trip_ns / 4, EVENT_LANDED, index);
}

static void fabric__handle(struct fabric *fabric, const struct event *event)
{
	struct host *host = &fabric->hosts[event->host];

	fabric->now_ns = event->time_ns;
	if (event->kind == EVENT_DUE) {
		fabric__scrape(fabric, host);
		return;
	}
	if (event->kind == EVENT_BIRTH) {
		host->is_dead = false;
		return;
	}
	if (event->epoch != host->epoch)
		return;
	switch (event->kind) {
	case EVENT_AT_HOST:
		if (!host->is_dead)
			fabric__answer(fabric, host);
		break;
	case EVENT_AT_SWITCH:
		fabric__forward(fabric, host);
		break;
	case EVENT_LANDED:
		fabric__land(fabric, host);
		break;
	case EVENT_LATE:
		fabric__at(fabric, event->time_ns + fabric->settings->round_trip_ns / 2,
			   EVENT_AT_HOST, event->host);
		break;
	case EVENT_DEATH:
		fabric__die(fabric, host);
		break;
	case EVENT_LOST:
		fabric__lose(fabric, host);
		break;
	default:
		break;
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorts the latencies. */
static uint64_t percentile_99(uint64_t *latencies, uint64_t count)
{
	qsort(latencies, count, sizeof(*latencies), compare);
	return latencies[(count * 99 + 99) / 100 - 1];
}

static void fabric__summarize(struct fabric *fabric)
{
	struct fabric_result *result = fabric->result;

	result->busy_ns = fabric->polling.busy_ns + fabric->blocking.busy_ns;
	if (!result->scrapes)
		return;
	result->latency_mean_ns /= result->scrapes;
	result->latency_p99_ns = percentile_99(fabric->latencies, result->scrapes);
	result->latency_max_ns = fabric->latencies[result->scrapes - 1];
	if (fabric->first_class_scrapes)
		result->first_class_ns /= fabric->first_class_scrapes;
	if (fabric->small_scrapes) {
		result->small_mean_ns /= fabric->small_scrapes;
		result->small_p99_ns = percentile_99(fabric->small_latencies,
						     fabric->small_scrapes);
	}
}

static void fabric__make_host(struct fabric *fabric, uint32_t index)
{
	const struct fabric_settings *settings = fabric->settings;
	struct host *host = &fabric->hosts[index];
	uint32_t bytes = index < settings->small_hosts ? settings->small_bytes : settings->bytes;

	host->fragments = (bytes + CREDIT_FRAGMENT - 1) / CREDIT_FRAGMENT;
	host->thread = settings->io == IO_EVENT || (settings->io == IO_HYBRID &&
						    host->fragments >= IO_POLLED_FRAGMENTS) ?
			       &fabric->blocking :
			       &fabric->polling;
	fabric__at(fabric, settings->spread ? fabric__random(fabric) * settings->interval_ns : 0,
		   EVENT_DUE, index);
}

void fabric__run(const struct fabric_settings *settings, struct fabric_result *result)
{
	struct fabric fabric = {
		.settings = settings,
		.result = result,
		.polling.polls = true,
		.random = settings->seed,
	};
	struct event event;
	uint32_t i;

	*result = (struct fabric_result){};
	fabric.hosts = calloc(settings->hosts, sizeof(*fabric.hosts));
	fabric.latencies =
		calloc((size_t)settings->hosts * settings->scrapes, sizeof(*fabric.latencies));
	fabric.small_latencies = calloc((size_t)settings->small_hosts * settings->scrapes + 1,
					sizeof(*fabric.small_latencies));
	if (!fabric.hosts || !fabric.latencies || !fabric.small_latencies)
		err(1, "simulation");
	credit__init(&fabric.credit, settings->credit, settings->flow_credit);
	for (i = 0; i < settings->hosts; i++)
		fabric__make_host(&fabric, i);
	while (event_heap__take(&fabric.events, &event))
		fabric__handle(&fabric, &event);
	fabric__summarize(&fabric);
	free(fabric.small_latencies);
	free(fabric.latencies);
	event_heap__free(&fabric.events);
	free(fabric.hosts);
}
