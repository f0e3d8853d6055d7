// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample_programs FILE ID INTERFACE: loads the programs of
 * selftests/sample/dart_sample.bpf.c, gives them the id of their counters, attaches
 * them (programs for packets to INTERFACE), notifies that it is ready, and waits.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <net/if.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <systemd/sd-daemon.h>

/* libbpf printed the details. */
static int die(const char *what, int ret)
{
	fprintf(stderr, "sample_programs: %s: %s\n", what, strerror(-ret));
	return 1;
}

static int set_id(const struct bpf_object *object, uint32_t id)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, ".bss");
	const uint32_t first = 0;

	if (!map || bpf_map__value_size(map) != sizeof(id))
		return -EINVAL;
	return bpf_map_update_elem(bpf_map__fd(map), &first, &id, BPF_ANY);
}

static int attach_tc(const struct bpf_program *program, int interface)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = interface, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, options, .prog_fd = bpf_program__fd(program));
	int ret = bpf_tc_hook_create(&hook);

	return ret ?: bpf_tc_attach(&hook, &options);
}

static int attach(const struct bpf_program *program, int interface)
{
	switch (bpf_program__type(program)) {
	case BPF_PROG_TYPE_XDP:
		return bpf_program__attach_xdp(program, interface) ? 0 : -errno;
	case BPF_PROG_TYPE_SCHED_CLS:
		return attach_tc(program, interface);
	default:
		return bpf_program__attach(program) ? 0 : -errno;
	}
}

int main(int argc, char *argv[])
{
	struct bpf_program *program;
	struct bpf_object *object;
	int ret, interface;

	if (argc != 4) {
		fprintf(stderr, "usage: sample_programs FILE ID INTERFACE\n");
		return 2;
	}
	interface = if_nametoindex(argv[3]);
	if (!interface)
		return die(argv[3], -errno);
	object = bpf_object__open_file(argv[1], NULL);
	if (!object)
		return die(argv[1], -errno);
	ret = bpf_object__load(object);
	if (ret)
		return die("cannot load the programs", ret);
	ret = set_id(object, strtoul(argv[2], NULL, 0));
	if (ret)
		return die("cannot set the id", ret);
	bpf_object__for_each_program(program, object) {
		ret = attach(program, interface);
		if (ret)
			return die(bpf_program__name(program), ret);
	}
	sd_notify(0, "READY=1");
	for (;;)
		pause();
}
