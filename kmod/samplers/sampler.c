// SPDX-License-Identifier: GPL-2.0-only
/* Samplers: the table of sampled sources, and the functions that open them. */
#include "sampler.h"

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include <linux/dart_zero.h>

/* By source, from DART_ZERO_SOURCE_SAMPLED. */
struct sampled_source {
	/* Either a kind without objects, or a function that opens one of several kinds. */
	const struct dart_sampler_kind *kind;
	struct dart_sampler *(*open)(const struct dart_zero_window *window);
	bool by_fd;
	bool by_netns; /* instead of @by_fd */
	bool by_ifindex;
	/* Instead of all these, for sources that a struct dart_zero_record selects: */
	struct dart_sampler *(*open_selected)(const struct dart_zero_record *selected,
					      const struct file *opener);
};

#define SAMPLED(source) [(source) - DART_ZERO_SOURCE_SAMPLED]

static const struct sampled_source sources[] = {
	SAMPLED(DART_ZERO_SOURCE_MEMORY) = { .kind = &dart_memory_sampler },
	SAMPLED(DART_ZERO_SOURCE_LOAD) = { .kind = &dart_load_sampler },
	SAMPLED(DART_ZERO_SOURCE_PROCESSES) = {
		.kind = &dart_process_sampler,
	},
	SAMPLED(DART_ZERO_SOURCE_CPUS) = { .open = dart_cpu_sampler_open },
	SAMPLED(DART_ZERO_SOURCE_PERF) = { .open = dart_perf_sampler_open },
	SAMPLED(DART_ZERO_SOURCE_RDMA_PORTS) = {
		.open = dart_rdma_sampler_open,
		.by_fd = true,
		.by_ifindex = true,
	},
	SAMPLED(DART_ZERO_SOURCE_NODE_MEMORY) = {
		.open = dart_node_sampler_open,
	},
	SAMPLED(DART_ZERO_SOURCE_NODE_ZONES) = {
		.open = dart_node_sampler_open,
	},
	SAMPLED(DART_ZERO_SOURCE_NETDEV_LINK) = {
		.open = dart_netdev_sampler_open,
		.by_fd = true,
		.by_netns = true,
		.by_ifindex = true,
	},
	SAMPLED(DART_ZERO_SOURCE_SOCKETS) = {
		.open = dart_namespace_sampler_open,
		.by_fd = true,
		.by_netns = true,
	},
	SAMPLED(DART_ZERO_SOURCE_DISK_IO) = {
		.open = dart_disk_sampler_open,
		.by_fd = true,
	},
	SAMPLED(DART_ZERO_SOURCE_FILESYSTEM) = {
		.open_selected = dart_filesystem_sampler_open,
	},
	SAMPLED(DART_ZERO_SOURCE_PROCESS_MEMORY) = {
		.open_selected = dart_process_memory_sampler_open,
	},

	/* Samples by eBPF programs. */
#define FD_OF_NONE	false
#define FD_OF_CGROUP	true
#define BY_MODULE(source, by_fd_)
#define BY_BOTH(source, by_fd_)
#define BY_PROGRAM(source, by_fd_)					\
	SAMPLED(source) = {						\
		.open = dart_program_sampler_open,			\
		.by_fd = by_fd_,					\
	},
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, selector, ...) \
	taker(source, FD_OF_##selector)
#include <linux/dart_zero_samples.def>
};

static const struct sampled_source *source_find(u32 id)
{
	const u32 index = id - DART_ZERO_SOURCE_SAMPLED;
	const struct sampled_source *source;

	if (index >= ARRAY_SIZE(sources))
		return NULL;
	source = &sources[array_index_nospec(index, ARRAY_SIZE(sources))];
	return source->kind || source->open || source->open_selected ? source : NULL;
}

bool dart_sampler_has(u32 source)
{
	return source_find(source);
}

struct dart_sampler *dart_sampler_new(const struct dart_sampler_kind *kind)
{
	struct dart_sampler *sampler;

	sampler = kzalloc(sizeof(*sampler), GFP_KERNEL_ACCOUNT);
	if (!sampler)
		return ERR_PTR(-ENOMEM);
	sampler->kind = kind;
	return sampler;
}

struct dart_sampler *dart_sampler_open(const struct dart_zero_record *selected,
				       const struct file *opener)
{
	const struct dart_zero_window selected_window = {
		.source = selected->source,
		.fd = selected->fd,
		.netns = selected->netns,
		.ifindex = selected->ifindex,
	};
	const struct sampled_source *source = source_find(selected->source);
	const struct dart_zero_window *window = &selected_window;

	if (!source)
		return ERR_PTR(-EINVAL);
	if (source->open_selected)
		return source->open_selected(selected, opener);
	if ((source->by_fd && !window->netns ? window->fd < 0 : window->fd != -1) ||
	    (window->netns && !source->by_netns) || source->by_ifindex != !!window->ifindex)
		return ERR_PTR(-EINVAL);
	return source->kind ? dart_sampler_new(source->kind) : source->open(window);
}

void dart_sampler_free(struct dart_sampler *sampler)
{
	if (sampler->kind->free)
		sampler->kind->free(sampler);
	else
		kfree(sampler);
}
