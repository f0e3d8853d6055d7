// SPDX-License-Identifier: GPL-2.0-only
/*
 * map_owner NAME: makes an array map that can be mapped and that ends with this
 * process, notifies that it is ready, and waits.
 */
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <systemd/sd-daemon.h>

int main(int argc, char *argv[])
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	if (argc != 2) {
		fprintf(stderr, "usage: map_owner NAME\n");
		return 2;
	}
	if (bpf_map_create(BPF_MAP_TYPE_ARRAY, argv[1], 4, 8, 4, &options) < 0) {
		fprintf(stderr, "map_owner: %s\n", strerror(errno));
		return 1;
	}
	sd_notify(0, "READY=1");
	for (;;)
		pause();
}
