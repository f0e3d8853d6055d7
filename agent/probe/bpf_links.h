/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs of an eBPF object where they run in the kernel. */
#ifndef BPF_LINKS_H
#define BPF_LINKS_H

#include <bpf/libbpf.h>

/* Zeroed memory is one without programs. */
struct bpf_links {
	struct bpf_link **links;
	size_t count;
};

/*
 * Attaches all programs of @object, which is loaded: those for cgroups to the
 * root cgroup; iterators run once over what there is.  All, or none and -errno.
 */
int bpf_links__open(struct bpf_links *bpf_links, struct bpf_object *object);
void bpf_links__close(struct bpf_links *bpf_links);

#endif /* BPF_LINKS_H */
