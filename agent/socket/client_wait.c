// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets clients wait: their users make too many requests, or a request comes before the object that
 * it needs.
 */
#include <libdart/clock.h>

#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "client.h"
#include "passed.h"

/* ---- too many requests */

/* Clients of a user who makes too many requests wait this long, or a multiple. */
#define WAIT_US 100000

bool clients__allow(const struct clients *clients, uid_t uid, int64_t now)
{
	return request_rates__allow(&clients->rates, uid, now) && !passed__are_many(uid);
}

static int on_resume(sd_event_source *source, uint64_t time, void *userdata)
{
	int64_t now = dart_clock__ns(CLOCK_BOOTTIME);
	struct clients *clients = userdata;
	struct client *client;
	bool has_waiting = false;

	TAILQ_FOREACH(client, &clients->list, link) {
		if (!client->is_waiting)
			continue;
		client->is_waiting = !clients__allow(clients, client->uid, now);
		if (client->is_waiting)
			has_waiting = true;
		else
			sd_event_source_set_enabled(client->events, SD_EVENT_ON);
	}
	if (has_waiting)
		loop_timer__start(clients->resume, WAIT_US);
	return 0;
}

int client__wait(struct client *client)
{
	struct clients *clients = client->clients;
	bool is_new = !clients->resume;
	int enabled, ret = 0;

	log__peer_warning(
		"clients of user %u wait: %s", client->uid,
		passed__are_many(client->uid) ?
			"it passed descriptors whose close waits for something" :
			"it makes more requests than the configuration allows (raise 'requests_per_second_per_user' in its limits)");
	if (is_new)
		ret = sd_event_add_time(sd_event_source_get_event(client->events), &clients->resume,
					CLOCK_BOOTTIME, UINT64_MAX, 0, on_resume, clients);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(client->events, SD_EVENT_OFF);
	if (ret < 0)
		return ret;
	client->is_waiting = true;
	if (is_new || (sd_event_source_get_enabled(clients->resume, &enabled) >= 0 &&
		       enabled == SD_EVENT_OFF))
		loop_timer__start(clients->resume, WAIT_US);
	return 0;
}

/* ---- requests that come too early */

/* Interval between attempts to handle an early request, and the times until it fails. */
#define AGAIN_US	10000
#define ARRIVAL_NS	INT64_C(3500000000)
#define WORK_NS		(10 * INT64_C(1000000000))

bool client__may_wait_for(struct client *client, bool is_under_way)
{
	int64_t now = dart_clock__ns(CLOCK_BOOTTIME);

	if (!client->arrived)
		client->arrived = now;
	return now - client->arrived < (is_under_way ? WORK_NS : ARRIVAL_NS);
}

int client__wait_for(struct client *client, sd_event_time_handler_t again)
{
	int ret = 0;

	if (!client->again)
		ret = sd_event_add_time(sd_event_source_get_event(client->events), &client->again,
					CLOCK_MONOTONIC, 0, 1, again, client);
	if (ret >= 0)
		ret = loop_timer__start(client->again, AGAIN_US);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(client->events, SD_EVENT_OFF);
	return ret;
}
