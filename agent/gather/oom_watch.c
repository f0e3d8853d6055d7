// SPDX-License-Identifier: GPL-2.0-only
/* Loads the eBPF program that sees kills for memory, and reads its messages. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>

#include "oom_watch.h"
#include "oom_watch.skel.h"

/* One pass covers many kills, so the messages are only counted. */
static int on_kill(void *context, void *data, size_t size)
{
	return 0;
}

static int attach(struct oom_watch *watch)
{
	int ret = oom_watch_bpf__attach(watch->programs);

	if (ret)
		return ret;
	watch->kills =
		ring_buffer__new(bpf_map__fd(watch->programs->maps.kills), on_kill, NULL, NULL);
	if (!watch->kills)
		return -errno;
	watch->fd = ring_buffer__epoll_fd(watch->kills);
	return 0;
}

int oom_watch__open(struct oom_watch *watch, struct dart_error *error)
{
	int ret;

	*watch = (struct oom_watch){ .fd = -1 };
	watch->programs = oom_watch_bpf__open_and_load();
	ret = watch->programs ? attach(watch) : -errno;
	if (!ret)
		return 0;
	oom_watch__close(watch);
	return dart_error__system(error, -ret, "cannot load or attach the eBPF program oom_watch");
}

void oom_watch__close(struct oom_watch *watch)
{
	ring_buffer__free(watch->kills);
	oom_watch_bpf__destroy(watch->programs);
	*watch = (struct oom_watch){ .fd = -1 };
}

bool oom_watch__take(struct oom_watch *watch)
{
	return watch->kills && ring_buffer__consume(watch->kills) > 0;
}
