// SPDX-License-Identifier: GPL-2.0-only
/* What users and the journal ask for, and tell, about flows: see function.h. */
#include <stddef.h>

#include "function.h"
#include "function_type.h"

#define OF(link) ((struct flow *)((char *)(link)-offsetof(struct flow, link)))

struct flow_record function__record(const struct function *function, const struct flow *flow)
{
	return function->type->record(flow);
}

void function__names(const struct function *function, const struct flow *flow,
		     struct flow_names *names)
{
	struct flow_record record;

	if (function->type->keys) {
		function->type->keys->names(flow, names);
		return;
	}
	record = function->type->record(flow);
	names->protocol = policy__protocol_name(record.protocol);
	end__print(&record.inside, names->inside);
	end__print(&record.outside, names->outside);
	end__print(&record.remote, names->remote);
}

struct flow *function__find_named(const struct function *function, const char *protocol,
				  const char *inside, const char *remote)
{
	const uint8_t number = policy__protocol(protocol);
	struct end inside_end, remote_end;

	if (function->type->keys)
		return function->type->keys->find_named(function, protocol, inside, remote);
	if (!number || !end__parse(inside, &inside_end) || !end__parse(remote, &remote_end))
		return NULL;
	return function__find(function, number, &inside_end, &remote_end);
}

bool function__is_permanent(const struct function *function)
{
	return function->type->keys;
}

const char *function__connection(const struct function *function, const struct flow *flow)
{
	return function->type->connection ? function->type->connection(flow) : NULL;
}

struct flow_use function__use_of(const struct function *function, const struct flow *flow)
{
	return (struct flow_use){
		.state = flow->state,
		.closure = flow->closure,
		.is_recorded = flow->is_recorded,
		.number = flow->number,
		.is_static = function->type->is_static && function->type->is_static(flow),
		.since_ns = flow->since_ns,
		.packets = flow->packets,
		.bytes = flow->bytes,
	};
}

const struct function_counts *function__counts(const struct function *function)
{
	return &function->counts;
}

const char *function__verdict_name(const struct function *function, unsigned int verdict)
{
	return verdict < function->type->verdicts ? function->type->verdict_names[verdict] : NULL;
}

void function__tell_counts(const struct function *function,
			   void (*tell)(void *subject, const char *group, const char *name,
					uint64_t count),
			   void *subject)
{
	if (function->type->tell_counts)
		function->type->tell_counts(function, tell, subject);
}

bool function__walk(const struct function *function, uint64_t *place, uint64_t chains,
		    void (*tell)(void *subject, const struct flow *flow), void *subject)
{
	const struct index_link *link;

	for (; chains && *place <= function->flows.mask; ++*place, chains--)
		for (link = function->flows.chains[*place]; link; link = link->next)
			tell(subject, OF(link));
	return *place <= function->flows.mask;
}
