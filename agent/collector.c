// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "tcp_traffic.skel.h"

#include "collector.h"

static int cannot(const char *what, int error, struct why *why)
{
	return why__say(why, error, "cannot %s eBPF programs: %s", what,
			strerror(error));
}

int collector__open(struct collector *collector, uint32_t cpus,
		    struct registry *registry, struct why *why)
{
	struct tcp_traffic_bpf *tcp;
	struct entry *entry;
	int ret;

	tcp = tcp_traffic_bpf__open();
	if (!tcp)
		return cannot("open", errno, why);

	/* A row for each CPU. */
	ret = bpf_map__set_max_entries(tcp->maps.tcp_traffic, cpus);
	if (!ret)
		ret = tcp_traffic_bpf__load(tcp);
	if (ret) {
		ret = cannot("load", -ret, why);
		goto destroy;
	}
	ret = registry__add_map(registry,
				bpf_map__fd(tcp->maps.tcp_traffic), "tcp",
				&entry, why);
	if (ret)
		goto destroy;
	ret = tcp_traffic_bpf__attach(tcp);
	if (ret) {
		ret = cannot("attach", -ret, why);
		goto unregister;
	}

	collector->tcp = tcp;
	return 0;

unregister:
	registry__remove(registry, "tcp", &entry, &(struct why){ });
destroy:
	tcp_traffic_bpf__destroy(tcp);
	return ret;
}

void collector__close(struct collector *collector)
{
	tcp_traffic_bpf__destroy(collector->tcp);
}
