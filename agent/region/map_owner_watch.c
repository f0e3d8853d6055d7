// SPDX-License-Identifier: GPL-2.0-only
/* Loads the eBPF program that watches maps, and reads its reports. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include <libdart/error.h>

#include "agent/base/log.h"
#include "map_owner_watch.h"
#include "map_owner_watch.skel.h"

static int on_map_released(void *context, void *data, size_t size)
{
	struct map_owner_watch *watch = context;
	uint32_t id;

	memcpy(&id, data, sizeof(id));
	watch->gone(watch->userdata, id);
	return 0;
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct map_owner_watch *watch = userdata;

	ring_buffer__consume(watch->let_go);
	return 0;
}

static int map_owner_watch__attach(struct map_owner_watch *watch)
{
	struct map_owner_watch_bpf *programs = watch->programs;
	int ret;

	ret = map_owner_watch_bpf__attach(programs);
	if (ret)
		return ret;
	watch->let_go = ring_buffer__new(bpf_map__fd(programs->maps.let_go),
					 on_map_released, watch, NULL);
	if (!watch->let_go)
		return -errno;
	ret = sd_event_add_io(watch->loop, &watch->events, ring_buffer__epoll_fd(watch->let_go),
			      EPOLLIN, on_event, watch);
	return ret < 0 ? ret : 0;
}

void map_owner_watch__open(struct map_owner_watch *watch, sd_event *loop,
			   void (*gone)(void *userdata, uint32_t map_id), void *userdata)
{
	*watch = (struct map_owner_watch){ .loop = loop, .gone = gone, .userdata = userdata };
}

static void map_owner_watch__unload(struct map_owner_watch *watch)
{
	watch->events = sd_event_source_disable_unref(watch->events);
	ring_buffer__free(watch->let_go);
	watch->let_go = NULL;
	map_owner_watch_bpf__destroy(watch->programs);
	watch->programs = NULL;
}

/* Without it (no BTF, no CAP_BPF, lockdown) all the rest still works. */
static void map_owner_watch__load(struct map_owner_watch *watch)
{
	struct dart_error error;
	int ret;

	watch->has_tried = true;
	watch->programs = map_owner_watch_bpf__open_and_load();
	ret = watch->programs ? map_owner_watch__attach(watch) : -errno;
	if (!ret)
		return;
	map_owner_watch__unload(watch);
	dart_error__system(&error, -ret, "cannot load or attach the program");
	log__warning(
		"maps stay until they are unregistered: no eBPF program watches their owners: %s",
		error.text);
}

void map_owner_watch__close_in_background(const struct map_owner_watch *watch,
					  struct background_close *closing)
{
	const struct bpf_object_skeleton *skeleton;
	int i;

	if (!watch->programs)
		return;
	skeleton = watch->programs->skeleton;
	for (i = 0; i < skeleton->prog_cnt; i++)
		background_close__add(closing, bpf_link__fd(*skeleton->progs[i].link));
}

void map_owner_watch__close(struct map_owner_watch *watch)
{
	map_owner_watch__unload(watch);
	*watch = (struct map_owner_watch){ };
}

void map_owner_watch__add(struct map_owner_watch *watch, uint32_t map_id)
{
	const uint8_t any = 1;
	int ret;

	if (!watch->has_tried)
		map_owner_watch__load(watch);
	if (!watch->programs)
		return;
	ret = bpf_map__update_elem(watch->programs->maps.watched, &map_id,
				   sizeof(map_id), &any, sizeof(any), 0);
	if (ret)
		log__peer_warning("map %u stays registered when its owners end: %s", map_id,
				  strerror(-ret));
}

void map_owner_watch__remove(struct map_owner_watch *watch, uint32_t map_id)
{
	if (watch->programs)
		bpf_map__delete_elem(watch->programs->maps.watched, &map_id, sizeof(map_id), 0);
}
