// SPDX-License-Identifier: GPL-2.0-only
/* Describes the values of the entry "dartd", see dartd(8). */
#include <stddef.h>

#include "agent/base/counts.h"
#include "self_schema.h"

#define FIELD(member, of_kind, of_name, of_unit)                               \
	{                                                                      \
		.name = (of_name), .unit = (of_unit),                          \
		.offset = offsetof(struct counts, member),                     \
		.width = sizeof(uint64_t), .count = 1,                         \
		.kind = DART_CONTROL_FIELD_##of_kind,                          \
	}
#define GAUGE(member, ...) FIELD(member, GAUGE, __VA_ARGS__)
#define COUNTER(member, ...) FIELD(member, COUNTER, __VA_ARGS__)
#define TEXT(member, of_name)                                                  \
	{                                                                      \
		.name = (of_name), .unit = "",                                 \
		.offset = offsetof(struct counts, kernel.member),              \
		.width = sizeof(((struct kernel_texts *)NULL)->member),        \
		.count = 1, .kind = DART_CONTROL_FIELD_TEXT,                   \
	}
#define REJECTED(reason, of_name)                                              \
	COUNTER(connections.rejected[REJECTED_##reason], of_name, "peers")
#define LEFT_OUT(kind, reason, of_name)                                        \
	GAUGE(coverage[COVERAGE_##kind].missing[COVERAGE_##reason], of_name,   \
	      "objects")
#define COVERAGE(kind, of_name)                                                \
	GAUGE(coverage[COVERAGE_##kind].present, of_name "_present",           \
	      "objects"),                                                      \
	GAUGE(coverage[COVERAGE_##kind].served, of_name "_served",             \
	      "objects"),                                                      \
	LEFT_OUT(kind, UNREGISTERED, of_name "_missing_unregistered"),         \
	LEFT_OUT(kind, WATCHES, of_name "_missing_watches"),                   \
	LEFT_OUT(kind, MEMORY, of_name "_missing_memory"),                     \
	LEFT_OUT(kind, TABLE, of_name "_missing_table"),                       \
	LEFT_OUT(kind, NAME, of_name "_missing_name"),                         \
	LEFT_OUT(kind, QUOTA, of_name "_missing_quota"),                       \
	LEFT_OUT(kind, PERMISSION, of_name "_missing_permission"),             \
	LEFT_OUT(kind, INVISIBLE, of_name "_missing_invisible"),               \
	LEFT_OUT(kind, UNSUPPORTED, of_name "_missing_unsupported"),           \
	LEFT_OUT(kind, OTHER, of_name "_missing_other")
#define SERVED(by, of_name)                                                    \
	GAUGE(by.peers.connected, of_name "_callers", "peers"),                \
	COUNTER(by.peers.total, of_name "_callers_total", "peers"),            \
	COUNTER(by.requests, of_name "_requests", "requests"),                 \
	COUNTER(by.errors, of_name "_errors", "answers"),                      \
	COUNTER(by.bytes, of_name "_bytes", "bytes"),                          \
	COUNTER(by.cut_off, of_name "_cut_off", "peers"),                      \
	COUNTER(by.refused_changes, of_name "_refused_changes", "requests")

static const struct dart_field fields[] = {
	GAUGE(start_realtime, "start_realtime", "ns"),
	GAUGE(start_boottime, "start_boottime", "ns"),
	GAUGE(controllers.connected, "controllers", "peers"),
	COUNTER(controllers.total, "controllers_total", "peers"),
	GAUGE(readers.connected, "readers", "peers"),
	COUNTER(readers.total, "readers_total", "peers"),
	GAUGE(table_readers.connected, "table_readers", "peers"),
	COUNTER(table_readers.total, "table_readers_total", "peers"),
	GAUGE(journal_readers.connected, "journal_readers", "peers"),
	COUNTER(journal_readers.total, "journal_readers_total", "peers"),
	GAUGE(ledger_readers.connected, "ledger_readers", "peers"),
	COUNTER(ledger_readers.total, "ledger_readers_total", "peers"),
	GAUGE(sketch_readers.connected, "sketch_readers", "peers"),
	COUNTER(sketch_readers.total, "sketch_readers_total", "peers"),
	SERVED(rpc, "rpc"),
	SERVED(tcp, "tcp"),
	COUNTER(tcp_refused.not_allowed, "tcp_not_allowed", "connections"),
	COUNTER(tcp_refused.limited, "tcp_limited", "connections"),
	COUNTER(tcp_refused.handshakes, "tcp_failed_handshakes", "connections"),
	REJECTED(MALFORMED, "rejected_malformed"),
	REJECTED(VERSION, "rejected_version"),
	REJECTED(NOT_ALLOWED, "rejected_not_allowed"),
	REJECTED(LIMIT, "rejected_limit"),
	REJECTED(DEVICE, "rejected_device"),
	REJECTED(NO_STORE, "rejected_no_store"),
	REJECTED(RESOURCES, "rejected_resources"),
	COUNTER(connections.unfinished, "unfinished", "peers"),
	GAUGE(table.entries, "entries", "entries"),
	GAUGE(table.slices, "slices", "entries"),
	GAUGE(table.followers, "followers", "followers"),
	COUNTER(table.publications, "publications", "generations"),
	COUNTER(table.failed_publications, "failed_publications", "generations"),
	GAUGE(table.lingering, "lingering", "entries"),
	COUNTER(table.cut_short, "lingering_cut_short", "entries"),
	GAUGE(stores.stores, "stores", "stores"),
	GAUGE(stores.reporters, "reporters", "reporters"),
	COUNTER(stores.epochs.written, "written_epochs", "epochs"),
	COUNTER(stores.epochs.lost, "lost_epochs", "epochs"),
	COUNTER(stores.epochs.late, "late_rotations", "rotations"),
	COUNTER(stores.epochs.late_slots, "late_slots", "slots"),
	GAUGE(lookup.tables, "tables", "tables"),
	GAUGE(lookup.requesters, "requesters", "requesters"),
	COUNTER(lookup.renewals, "requester_renewals", "queue pairs"),
	GAUGE(journals.journals, "journals", "journals"),
	GAUGE(journals.appenders, "appenders", "appenders"),
	GAUGE(ledgers.ledgers, "ledgers", "ledgers"),
	GAUGE(ledgers.adders, "adders", "adders"),
	COUNTER(ledgers.renewals, "adder_renewals", "queue pairs"),
	GAUGE(sketches.sketches, "sketches", "sketches"),
	GAUGE(sketches.sketchers, "sketchers", "sketchers"),
	GAUGE(memory.regions, "memory_regions", "memory regions"),
	GAUGE(memory.bytes, "registered_bytes", "bytes"),
	GAUGE(gathering_modules, "gathering_modules", "modules"),
	GAUGE(quarantine.extents, "quarantined_extents", "extents"),
	GAUGE(quarantine.bytes, "quarantined_bytes", "bytes"),
	GAUGE(clients.connected, "clients", "clients"),
	COUNTER(clients.total, "clients_total", "clients"),
	COUNTER(clients.rejected, "rejected_clients", "clients"),
	COUNTER(clients.requests, "requests", "requests"),
	COUNTER(clients.refused_requests, "refused_requests", "requests"),
	COUNTER(suppressed_messages, "suppressed_messages", "messages"),
	COVERAGE(FILESYSTEMS, "coverage_filesystems"),
	COVERAGE(NETDEVS, "coverage_netdevs"),
	COVERAGE(DISKS, "coverage_disks"),
	COVERAGE(CGROUPS, "coverage_cgroups"),
	COVERAGE(NAMESPACES, "coverage_namespaces"),
	COVERAGE(SOURCES, "coverage_sources"),
	COVERAGE(PROBES, "coverage_probes"),
	COVERAGE(MAPS, "coverage_maps"),
	TEXT(release, "kernel_release"),
	TEXT(version, "kernel_version"),
	TEXT(machine, "machine"),
	TEXT(domain_name, "domain_name"),
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))
#define TEXTS 4

_Static_assert((FIELDS - TEXTS) * sizeof(uint64_t) == offsetof(struct counts, kernel),
	       "each count of struct counts is a field");

struct dart_schema *self_schema__new(const char *name)
{
	struct dart_schema *schema = dart_schema__new(name, sizeof(struct counts));
	size_t i;

	for (i = 0; schema && i < FIELDS; i++) {
		if (!dart_schema__add(schema, &fields[i]))
			continue;
		dart_schema__free(schema);
		schema = NULL;
	}
	return schema;
}
