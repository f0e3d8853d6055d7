// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for uevents of CPUs.  A filter in the kernel drops the uevents of other devices, so that
 * they do not wake dartd.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/kernel_messages.h"
#include "cpu_watch.h"

/* Passes "online@/devices/..." and "offline@...".  Memory blocks send them too, but rarely. */
static struct sock_filter program[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x6f6e6c69 /* "onli" */, 1, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x6f66666c /* "offl" */, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	BPF_STMT(BPF_RET | BPF_K, 0),
};

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct cpu_watch *watch = userdata;
	char byte;

	/* Nobody parses the messages, because /sys lists the online CPUs. */
	while (recv(fd, &byte, sizeof(byte), MSG_TRUNC) >= 0 || errno == ENOBUFS || errno == EINTR)
		;
	watch->on_change(watch->userdata);
	return 0;
}

int cpu_watch__open(struct cpu_watch *watch, sd_event *loop, void (*on_change)(void *userdata),
		    void *userdata, struct dart_error *error)
{
	const struct sock_fprog filter = {
		.len = sizeof(program) / sizeof(*program), .filter = program,
	};
	int ret;

	*watch = (struct cpu_watch){
		.on_change = on_change, .userdata = userdata,
	};
	ret = kernel_messages__open(NETLINK_KOBJECT_UEVENT,
				    KERNEL_MESSAGES_UEVENTS, &filter, error);
	if (ret < 0)
		return ret;
	watch->fd = ret;
	ret = sd_event_add_io(loop, &watch->events, watch->fd, EPOLLIN, on_event, watch);
	if (ret >= 0)
		return 0;
	close(watch->fd);
	return dart_error__system(error, -ret, "cannot wait for CPUs");
}

void cpu_watch__close(struct cpu_watch *watch)
{
	if (!watch->events)
		return;
	sd_event_source_disable_unref(watch->events);
	watch->events = NULL;
	close(watch->fd);
}
