// SPDX-License-Identifier: GPL-2.0-only
/* The controller, its hosts and their events in virtual time: see fabric.h. */
#include "fabric_internal.h"

#include <err.h>
#include <stdlib.h>

/* ---- the controller */

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
	struct credit_member *member;
	uint32_t fragments, i;
	struct host *host;

	while ((member = credit_groups__grant(&fabric->credits, &fragments))) {
		host = (struct host *)member;
		if (host->has_none)
			result->wait_max_ns =
				later(result->wait_max_ns, fabric->now_ns - host->due_ns);
		host->has_none = false;
		io_thread__post(host->thread, fabric->now_ns, fragments);
		for (i = 0; i < fragments; i++) {
			io_thread__work(host->thread, fabric->now_ns, settings->post_ns);
			fabric__at(fabric, host->thread->free_ns, EVENT_POSTED,
				   host - fabric->hosts);
		}
		fabric->in_flight += (uint64_t)fragments * CREDIT_FRAGMENT;
		result->fragments += fragments;
		result->in_flight_max = later(result->in_flight_max, fabric->in_flight);
	}
}

static void fabric__ask(struct fabric *fabric, struct host *host)
{
	const struct fabric_settings *settings = fabric->settings;
	const uint32_t index = host - fabric->hosts;
	const uint8_t class = index >= settings->first_class;

	if (settings->group)
		credit_groups__ask(&fabric->credits,
				   &fabric->groups[index / settings->group * 2 + class],
				   &host->member, class, host->fragments);
	else
		credit__ask(&fabric->credits.credit, &host->member.flow, class, host->fragments);
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
	fabric__ask(fabric, host);
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
	credit_groups__give_back(&fabric->credits, &host->member, 1);
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
	fabric->in_flight -= (uint64_t)host->member.flow.held * CREDIT_FRAGMENT;
	io_thread__complete(host->thread, host->member.flow.held);
	credit_groups__cancel(&fabric->credits, &host->member);
	credit__end(&fabric->credits.credit, &host->member.flow);
	host->missing = 0;
	host->epoch++;
	fabric__at(fabric,
		   fabric->now_ns + 3 * fabric->settings->interval_ns * fabric__random(fabric),
		   EVENT_BIRTH, host - fabric->hosts);
	fabric__post(fabric);
}

/* ---- events */

/* Handles an event of a machine; returns false for others. */
static bool fabric__handle_machine(struct fabric *fabric, const struct event *event)
{
	switch (event->kind) {
	case EVENT_SEND:
		fabric__send(fabric, &fabric->machines[event->host]);
		return true;
	case EVENT_SERVICE:
		fabric__serve(fabric, &fabric->machines[event->host]);
		return true;
	default:
		return false;
	}
}

static void fabric__handle(struct fabric *fabric, const struct event *event)
{
	const uint64_t half_ns = fabric->settings->round_trip_ns / 2;
	struct host *host = &fabric->hosts[event->host];

	fabric->now_ns = event->time_ns;
	if (fabric__handle_machine(fabric, event))
		return;
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
	case EVENT_POSTED:
		fabric__at(fabric,
			   adapter__use(&fabric->adapter, event->host, event->time_ns) + half_ns,
			   EVENT_AT_HOST, event->host);
		break;
	case EVENT_AT_HOST:
		if (!host->is_dead)
			fabric__at(fabric, fabric__request(fabric, event->host), EVENT_ANSWERED,
				   event->host);
		break;
	case EVENT_ANSWERED:
		fabric__answer(fabric, host);
		break;
	case EVENT_AT_SWITCH:
		fabric__forward(fabric, host);
		break;
	case EVENT_ARRIVED:
		fabric__at(fabric, adapter__use(&fabric->adapter, event->host, event->time_ns),
			   EVENT_LANDED, event->host);
		break;
	case EVENT_LANDED:
		fabric__land(fabric, host);
		break;
	case EVENT_LATE:
		fabric__at(fabric, event->time_ns + half_ns, EVENT_AT_HOST, event->host);
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
	result->fetches = fabric->adapter.fetches;
	for (uint32_t i = 0; i < fabric->machine_count; i++)
		result->fetches += fabric->machines[i].adapter.fetches;
	if (result->service_packets)
		result->service_mean_ns /= result->service_packets;
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

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		err(1, "simulation");
	return memory;
}

static void fabric__make_machines(struct fabric *fabric)
{
	const struct fabric_settings *settings = fabric->settings;
	const uint32_t hosts = settings->hosts;
	uint32_t count = settings->machines ? settings->machines : hosts;

	fabric->machine_count = count;
	fabric->machines = allocate(count, sizeof(*fabric->machines));
	for (uint32_t i = 0; i < count; i++) {
		adapter__init(&fabric->machines[i].adapter, (hosts + count - 1) / count,
			      settings->cached_pairs, settings->fetch_ns);
		if (settings->service_ns)
			fabric__at_machine(fabric, i * settings->service_ns / count, EVENT_SERVICE,
					   i);
	}
}

static void fabric__make_groups(struct fabric *fabric)
{
	const struct fabric_settings *settings = fabric->settings;
	uint32_t count;

	if (!settings->group)
		return;
	count = (settings->hosts + settings->group - 1) / settings->group * 2;
	fabric->groups = allocate(count, sizeof(*fabric->groups));
	for (uint32_t i = 0; i < count; i++)
		credit_group__init(&fabric->groups[i]);
}

static void fabric__make(struct fabric *fabric)
{
	const struct fabric_settings *settings = fabric->settings;
	const size_t scrapes = settings->scrapes;

	fabric->hosts = allocate(settings->hosts, sizeof(*fabric->hosts));
	fabric->latencies = allocate(settings->hosts * scrapes, sizeof(*fabric->latencies));
	fabric->small_latencies = allocate(settings->small_hosts * scrapes + 1,
					   sizeof(*fabric->small_latencies));
	adapter__init(&fabric->adapter, settings->hosts, settings->cached_pairs,
		      settings->fetch_ns);
	credit_groups__init(&fabric->credits, settings->credit, settings->flow_credit);
	fabric__make_groups(fabric);
	fabric__make_machines(fabric);
	for (uint32_t i = 0; i < settings->hosts; i++)
		fabric__make_host(fabric, i);
}

static void fabric__free(struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->machine_count; i++)
		machine__free(&fabric->machines[i]);
	free(fabric->machines);
	free(fabric->groups);
	adapter__free(&fabric->adapter);
	free(fabric->small_latencies);
	free(fabric->latencies);
	event_heap__free(&fabric->events);
	free(fabric->hosts);
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

	*result = (struct fabric_result){};
	fabric__make(&fabric);
	while (event_heap__take(&fabric.events, &event))
		fabric__handle(&fabric, &event);
	fabric__summarize(&fabric);
	fabric__free(&fabric);
}
