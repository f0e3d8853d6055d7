/* SPDX-License-Identifier: GPL-2.0-only */
/* The links that attach the programs of an eBPF object to the kernel. */
#ifndef BPF_LINKS_H
#define BPF_LINKS_H

#include <bpf/libbpf.h>

#include "agent/base/background_close.h"

/* All zeros: without programs. */
struct bpf_links {
	struct bpf_link **links;
	size_t count;
};

/*
 * Attaches all programs of @object, which must be loaded: programs for cgroups to the root cgroup;
 * iterators run once over all objects.  On error, none.
 */
int bpf_links__open(struct bpf_links *bpf_links, struct bpf_object *object);
/* To call before, so that it does not wait for the programs. */
void bpf_links__close_in_background(const struct bpf_links *bpf_links,
				    struct background_close *closing);
void bpf_links__close(struct bpf_links *bpf_links);

#endif /* BPF_LINKS_H */
