// SPDX-License-Identifier: GPL-2.0-only
/* Opens the memory and the queue pair of a switch, in an order that wastes nothing. */
#include <stdlib.h>

#include <dart/tea.h>

#include "agent/base/long_work.h"
#include "requester.h"

#define ACCESS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static const struct answering_qp_kind kind = {
	.one = "a switch",
	.all = "switches",
	.access = ACCESS,
	.outstanding = DART_TEA_OUTSTANDING_MAX,
	.peer_qpn = DART_TEA_SWITCH_QPN,
	/* A row and its packet are one response, of up to 4096 bytes. */
	.path_mtu = IBV_MTU_4096,
};

static int requester__open(struct requester *requester, const struct device *device,
			   const struct local_path *path, struct dart_error *error)
{
	const struct dart_tea_geometry *geometry = dart_tea_table__geometry(requester->entries);
	struct remote_memory *memory = &requester->memory;
	struct long_work work = {};
	const struct dart_tea_progress progress = { long_work__go_on, &work };
	int ret;

	ret = remote_memory__open(memory, "copy for a switch",
				  dart_tea_geometry__view_length(geometry), -1, error);
	if (ret)
		return ret;
	ret = memory_view__open(&requester->view, device, memory->address, memory->length,
				IBV_ACCESS_LOCAL_WRITE | ACCESS, 0, error);
	if (ret)
		goto close_memory;
	if (dart_tea_table__attach(requester->entries, memory->address, &progress)) {
		ret = dart_error__no_memory(error);
		goto close_view;
	}
	ret = answering_qp__open(&requester->answering_qp, &kind, device, requester->view.pd, path,
				 error);
	if (!ret)
		return 0;
	dart_tea_table__detach(requester->entries, memory->address);
close_view:
	memory_view__close(&requester->view);
close_memory:
	remote_memory__close(memory);
	return ret;
}

int requester__new(const struct device *device, struct dart_tea_table *entries,
		   struct in_addr address, struct requester **result, struct dart_error *error)
{
	struct requester *requester;
	struct local_path path;
	int ret;

	ret = answering_qp__find_path(&kind, device, address, &path, error);
	if (ret)
		return ret;
	requester = calloc(1, sizeof(*requester));
	if (!requester)
		return dart_error__no_memory(error);
	requester->entries = entries;
	ret = requester__open(requester, device, &path, error);
	if (ret) {
		free(requester);
		return ret;
	}
	requester->peer.address = address;
	requester->peer.length = requester->memory.length;
	*result = requester;
	return 0;
}

void requester__free(struct requester *requester)
{
	answering_qp__close(&requester->answering_qp);
	dart_tea_table__detach(requester->entries, requester->memory.address);
	memory_view__close(&requester->view);
	remote_memory__close(&requester->memory);
	free(requester);
}

int requester__renew(struct requester *requester, const struct device *device,
		     struct dart_error *error)
{
	struct answering_qp renewed;
	struct local_path path;
	int ret;

	ret = answering_qp__find_path(&kind, device, requester->answering_qp.path.peer, &path, error) ?:
		      answering_qp__open(&renewed, &kind, device, requester->view.pd, &path, error);
	if (ret)
		return ret;
	answering_qp__close(&requester->answering_qp);
	requester->answering_qp = renewed;
	requester->renewals++;
	return 0;
}
