// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "agent.h"
#include "agent/base/log.h"

static void on_map_gone(void *userdata, uint32_t map_id)
{
	registry__map_is_gone(userdata, map_id);
}

/* Without it (no BTF, no CAP_BPF, lockdown) all the rest still works. */
static void agent__open_map_watch(struct agent *agent, sd_event *loop)
{
	struct why why;

	if (map_watch__open(&agent->map_watch, loop, on_map_gone,
			    &agent->registry, &why))
		log__warning("maps stay until they are unregistered: no eBPF program watches their owners: %s",
			     why.text);
}

int agent__open(struct agent *agent, const struct options *options,
		sd_event *loop, struct why *why)
{
	int ret;

	*agent = (struct agent){ .options = *options };

	ret = region__open(&agent->region, why);
	if (ret)
		return ret;
	ret = device__open(&agent->device, loop, why);
	if (ret)
		goto close_region;
	ret = leases__open(&agent->leases, loop);
	if (ret < 0) {
		why__say(why, -ret, "cannot create a timer: %s",
			 strerror(-ret));
		goto close_device;
	}
	ret = watches__open(&agent->watches, loop, why);
	if (ret)
		goto close_leases;
	exposure__open(&agent->exposure, options->exposure, agent->device.pd,
		       &agent->region, &agent->leases);
	ret = publication__open(&agent->publication, &agent->exposure, why);
	if (ret)
		goto close_exposure;
	agent__open_map_watch(agent, loop);
	slab__open(&agent->slab, &agent->region, &agent->exposure);
	registry__open(&agent->registry, &agent->region, &agent->exposure,
		       &agent->leases, &agent->publication, &agent->watches,
		       &agent->map_watch, &agent->slab);
	follows__open(&agent->follows, &agent->registry, loop);
	ret = region_watch__open(&agent->region_watch, loop, &agent->registry,
				 &agent->follows, why);
	if (ret)
		goto close_follows;
	ret = probes__open(&agent->probes, agent->region.cpus, &agent->registry,
			   why);
	if (ret)
		goto close_region_watch;
	stores__open(&agent->stores, &agent->device);
	ret = socket__open(&agent->socket, loop, options->socket, agent, why);
	if (ret)
		goto close_stores;
	ret = listener__open(&agent->listener, loop, options->port,
			     &agent->device, &agent->publication,
			     &agent->stores, why);
	if (ret)
		goto close_socket;
	return 0;

close_socket:
	socket__close(&agent->socket);
close_stores:
	stores__close(&agent->stores);
	probes__close(&agent->probes);
close_region_watch:
	region_watch__close(&agent->region_watch);
close_follows:
	follows__close(&agent->follows);
	registry__close(&agent->registry);
	map_watch__close(&agent->map_watch);
	publication__close(&agent->publication);
close_exposure:
	exposure__close(&agent->exposure);
	watches__close(&agent->watches);
close_leases:
	leases__close(&agent->leases);
close_device:
	device__close(&agent->device);
close_region:
	region__close(&agent->region);
	return ret;
}

void agent__close(struct agent *agent)
{
	listener__close(&agent->listener);
	socket__close(&agent->socket);
	stores__close(&agent->stores);
	probes__close(&agent->probes);
	region_watch__close(&agent->region_watch);
	follows__close(&agent->follows);
	registry__close(&agent->registry);
	map_watch__close(&agent->map_watch);
	publication__close(&agent->publication);
	exposure__close(&agent->exposure);
	watches__close(&agent->watches);
	leases__close(&agent->leases);
	device__close(&agent->device);
	region__close(&agent->region);
}
