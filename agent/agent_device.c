// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles the removal and the return of the agent's RDMA device.  Without the device, peers cannot
 * use RDMA, but everything else works: registrations stay, TCP callers are served, and stores,
 * tables, journals, ledgers and sketches keep their contents.
 */
#include <errno.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include <libdart/table/value.h>

#include "agent.h"
#include "agent/base/log.h"
#include "agent/base/loop_timer.h"

/*
 * Delay after a present device could not be opened: no event tells when a new attempt can succeed.
 */
#define RETRY_S 10

void agent__announce(const struct agent *agent)
{
	const char *exposure = dart_exposure__name(agent->exposure.mode);
	const char *device = device__name(&agent->device);
	const struct agent_device *state = &agent->device_state;

	if (*state->missing.text)
		sd_notifyf(0, "STATUS=no RDMA device: %s", state->missing.text);
	else
		sd_notifyf(0, "STATUS=%s exposure on %s, port %u", exposure,
			   device, agent->settings.place.port);
}

/* An event of the device, or of its connections: they end after it has been handled. */
static void on_lost(void *subject, bool is_removed, const char *reason)
{
	struct agent_device *state = &((struct agent *)subject)->device_state;

	state->is_removed = state->is_removed || is_removed;
	if (state->is_lost)
		return;
	state->is_lost = true;
	snprintf(state->reason, sizeof(state->reason), "%s", reason);
	sd_event_source_set_enabled(state->change, SD_EVENT_ONESHOT);
}

static void on_changed(void *subject, const char *node)
{
	struct agent *agent = subject;
	struct agent_device *state = &agent->device_state;
	const struct ibv_context *context = agent->device.context;

	/* on_change() ends all users of the device before further events are read. */
	if (node && context && !strcmp(context->device->dev_name, node)) {
		on_lost(agent, true, "it is being removed");
		return;
	}
	if (node)
		dart_cm_contexts__let_go(&agent->cm_contexts, node);
	else if (!context && device__is_wanted(&agent->device))
		sd_event_source_set_enabled(state->change, SD_EVENT_ONESHOT);
}

/* Also undoes an agent__open_device() that failed halfway. */
static void agent__leave_device(struct agent *agent)
{
	struct dart_error error;

	listener__close(&agent->listener);
	remote_objects__detach(&agent->sketches);
	remote_objects__detach(&agent->ledgers.objects);
	remote_objects__detach(&agent->journals);
	remote_objects__detach(&agent->tables.objects);
	remote_objects__detach(&agent->stores.objects);
	/* This can fail only for lack of memory to remember the registered regions. */
	if (registry__change_device(&agent->registry, NULL, &error)) {
		log__error("%s", error.text);
		sd_event_exit(agent->loop, EXIT_FAILURE);
	}
	device__close(&agent->device);
}

static void agent__wait_for_device(struct agent *agent, int ret)
{
	struct agent_device *state = &agent->device_state;

	/* If devices are watched, an event reports the new device. */
	if (ret == -ENODEV && state->watch.events)
		return;
	loop_timer__start(state->retry, RETRY_S * UINT64_C(1000000));
}

int agent__open_listener(struct agent *agent, struct dart_error *error)
{
	return listener__open(&agent->listener, agent->loop, &agent->settings.place, &agent->device,
			      agent->peer_services, &agent->listener_limits, &agent->changes,
			      &agent->self.counts->connections, error);
}

static int agent__open_device(struct agent *agent, struct dart_error *error)
{
	return device__open(&agent->device, agent->loop, error)				  ?:
		       registry__change_device(&agent->registry, agent->device.pd, error) ?:
		       remote_objects__attach(&agent->stores.objects, error)			  ?:
		       remote_objects__attach(&agent->tables.objects, error)		  ?:
		       remote_objects__attach(&agent->journals, error)			  ?:
		       remote_objects__attach(&agent->ledgers.objects, error)		  ?:
		       remote_objects__attach(&agent->sketches, error)			  ?:
		       agent__open_listener(agent, error);
}

static void agent__take_device(struct agent *agent)
{
	struct agent_device *state = &agent->device_state;
	const struct dart_error before = state->missing;
	int ret = agent__open_device(agent, &state->missing);

	if (ret) {
		if (strcmp(before.text, state->missing.text))
			log__error("no peer can connect over RDMA: %s", state->missing.text);
		agent__leave_device(agent);
		agent__wait_for_device(agent, ret);
	} else {
		state->missing = (struct dart_error){ };
		sd_event_source_set_enabled(state->retry, SD_EVENT_OFF);
		registrations__regain_device(&agent->registrations);
		log__info("RDMA device %s is there: peers can connect",
			  device__name(&agent->device));
	}
	agent__announce(agent);
}

static void agent__lose_device(struct agent *agent)
{
	struct agent_device *state = &agent->device_state;
	char node[IBV_SYSFS_NAME_MAX] = "";

	memccpy(node, agent->device.context->device->dev_name, '\0', sizeof(node) - 1);
	log__error("RDMA device %s: %s (peers cannot connect over RDMA until there is one again)",
		   device__name(&agent->device), state->reason);
	dart_error__set(&state->missing, ENODEV, "%s is gone: %s",
			device__name(&agent->device), state->reason);
	agent__leave_device(agent);
	/* The RDMA CM keeps using a device that has failed but was not removed. */
	if (state->is_removed)
		dart_cm_contexts__let_go(&agent->cm_contexts, node);
	state->is_removed = false;
	registrations__lose_device(&agent->registrations);
	agent__announce(agent);
}

static int on_change(sd_event_source *source, void *userdata)
{
	struct agent *agent = userdata;
	struct agent_device *state = &agent->device_state;

	/* The device may have been closed meanwhile, after a failure to open it. */
	if (state->is_lost && agent->device.context)
		agent__lose_device(agent);
	state->is_lost = false;
	if (!agent->device.context)
		agent__take_device(agent);
	return 0;
}

static int on_retry(sd_event_source *source, uint64_t time, void *userdata)
{
	struct agent *agent = userdata;

	if (!agent->device.context)
		agent__take_device(agent);
	return 0;
}

static int agent_device__open_events(struct agent *agent)
{
	struct agent_device *state = &agent->device_state;
	int ret;

	ret = sd_event_add_defer(agent->loop, &state->change, on_change, agent);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(state->change, SD_EVENT_OFF);
	if (ret >= 0)
		ret = sd_event_source_set_priority(state->change, SD_EVENT_PRIORITY_IMPORTANT);
	if (ret >= 0)
		ret = loop_timer__add(agent->loop, &state->retry, CLOCK_MONOTONIC, on_retry, agent);
	return ret;
}

int agent__open_first_device(struct agent *agent, struct dart_error *error)
{
	struct agent_device *state = &agent->device_state;
	struct dart_error watch;
	int ret;

	device__prepare(&agent->device, agent->settings.device, agent->settings.dscp,
			&agent->cm_contexts, on_lost, agent);
	ret = agent_device__open_events(agent);
	if (ret < 0) {
		dart_error__system(error, -ret, "cannot wait for an RDMA device");
		agent__close_device(agent);
		return ret;
	}
	if (!device__is_wanted(&agent->device))
		return 0;
	if (device_watch__open(&state->watch, agent->loop, on_changed, agent, &watch))
		log__warning("an RDMA device that comes is found within %d s: %s", RETRY_S,
			     watch.text);
	ret = device__open(&agent->device, agent->loop, error);
	if (ret == -ENODEV) {
		state->missing = *error;
		log__warning("no peer can connect over RDMA until there is a device: %s",
			     error->text);
		agent__wait_for_device(agent, ret);
		return 0;
	}
	if (ret)
		agent__close_device(agent);
	return ret;
}

void agent__close_device(struct agent *agent)
{
	struct agent_device *state = &agent->device_state;

	device__close(&agent->device);
	if (state->watch.events)
		device_watch__close(&state->watch);
	sd_event_source_disable_unref(state->retry);
	sd_event_source_disable_unref(state->change);
	dart_cm_contexts__close(&agent->cm_contexts);
}
