// SPDX-License-Identifier: GPL-2.0-only
/* Which peers may connect over RDMA, what to, and what that needs of the agent. */
#include "agent.h"

/* The kinds of peers, what they connect to, which may connect, and their counts. */
void agent__open_peer_services(struct agent *agent)
{
	struct counts *counts = agent->self.counts;

	agent->peer_services[0] = (struct peer_service){
		&controller_kind, &agent->control_region, &counts->controllers,
		.allowed = &agent->configuration.controllers,
		.list = "controllers",
	};
	agent->peer_services[1] = (struct peer_service){
		&reader_kind, &agent->stores, &counts->readers,
		.allowed = &agent->configuration.readers, .needs_list = true,
		.list = "readers",
	};
	agent->peer_services[2] = (struct peer_service){
		&caller_kind, &agent->sessions, &counts->rpc.peers,
		.allowed = &agent->configuration.callers, .needs_list = true,
		.list = "callers",
	};
	agent->peer_services[3] = (struct peer_service){
		&table_reader_kind, &agent->tables, &counts->table_readers,
		.allowed = &agent->configuration.readers, .needs_list = true,
		.list = "readers",
	};
	snapshots__open(&agent->snapshots, &agent->control_region);
	sessions__open(&agent->sessions, &agent->snapshots, &counts->rpc);
}

/* Objects with this noun do not need the listener before it is open. */
static struct remote_objects agent__remote_objects(struct agent *agent,
						   const char *noun)
{
	return (struct remote_objects){
		.device = &agent->device,
		.kept = { .descriptors = &agent->kept_descriptors,
			  .noun = noun },
		.listener = &agent->listener,
		.changes = &agent->changes,
		.counts = &agent->self.counts->memory,
	};
}

void agent__open_remote_objects(struct agent *agent)
{
	const struct remote_objects stores =
		agent__remote_objects(agent, STORE_NOUN);
	const struct remote_objects tables =
		agent__remote_objects(agent, TABLE_NOUN);

	stores__open(&agent->stores, &stores, &agent->self.counts->stores);
	lookup_tables__open(&agent->tables, &tables,
			    &agent->self.counts->lookup);
}
