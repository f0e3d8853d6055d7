// SPDX-License-Identifier: GPL-2.0-only
/* dartctl: tells dartd which objects to expose, and asks for its state. */
#include <limits.h>
#include <stddef.h>

#include "tools/dartctl/cli/command.h"

/* Short forms of the most frequent commands, 'source add' and the like. */
static const struct command register_commands[] = {
	{ "host", "[--gather TIME [--deferrable]]",
	  "the same as 'entry add host'", .parse = command_register_host },
	{ "source",
	  "SOURCE [--netns NETNS] [--netdev INTERFACE] [--disk DEVICE] [--cgroup CGROUP] [--filesystem MOUNTPOINT] [--all-netns] [--all-netdevs] [--all-disks] [--all-cgroups CGROUP] [--all-filesystems] [--gather TIME [--deferrable]]",
	  "the same as 'source add' and 'source follow'",
	  .parse = command_register_source },
	{ "map", "PATH|id N|name X [as NAME]", "the same as 'map add'",
	  .run = command_map_add, .least = 1, .most = 4 },
	{ "counters", "NAME [COUNTER]...", "the same as 'counters add'",
	  .run = command_counters_add, .least = 1, .most = INT_MAX },
	{}
};

static const struct command commands[] = {
	{ "entry", .commands = entry_commands, .summary = "" },
	{ "source", .commands = source_commands, .summary = "" },
	{ "map", .commands = map_commands, .summary = "" },
	{ "counters", .commands = counters_commands, .summary = "" },
	{ "probe", .commands = probe_commands, .summary = "" },
	{ "store", .commands = store_commands, .summary = "" },
	{ "reporter", .commands = reporter_commands, .summary = "" },
	{ "share", .commands = share_commands, .summary = "" },
	{ "table", .commands = table_commands, .summary = "" },
	{ "requester", .commands = requester_commands, .summary = "" },
	{ "journal", .commands = journal_commands, .summary = "" },
	{ "appender", .commands = appender_commands, .summary = "" },
	{ "ledger", .commands = ledger_commands, .summary = "" },
	{ "adder", .commands = adder_commands, .summary = "" },
	{ "sketch", .commands = sketch_commands, .summary = "" },
	{ "sketcher", .commands = sketcher_commands, .summary = "" },
	{ "flow", .commands = flow_commands, .summary = "" },
	{ "xdp", .commands = xdp_commands, .summary = "" },
	{ "registration", .commands = registration_commands, .summary = "" },
	{ "controller", .commands = controller_commands, .summary = "" },
	{ "switch", .commands = switch_commands, .summary = "" },
	{ "tls", .commands = tls_commands, .summary = "" },
	{ "application", .commands = application_commands, .summary = "" },
	{ "plan",
	  "--flows N --value BYTES --success PART|--memory SIZE [--redundancy N] [--checksum BITS] [--error PART]",
	  "compute the size of a store, or its success rate",
	  .parse = command_plan },
	{ "query",
	  "STORE SCHEMA --FIELD VALUE... [--policy POLICY] [--from HOST[:PORT] | --shares FILE] [--at TIME | --since TIME --until TIME]",
	  "look up a key in the reports", .parse = command_query },
	{ "status", NULL, "print the state of dartd", .run = command_status },
	{ "apply", "FILE", "register the objects of FILE that dartd does not have yet",
	  .run = command_apply, .least = 1, .most = 1 },
	{ "save", NULL, "print the registered objects as a configuration file",
	  .run = command_save },
	{ "doctor", NULL, "find the faults of this host and their remedies",
	  .run = command_doctor },
	{ "monitor", NULL, "print a line for each change",
	  .run = command_monitor },
	{ "register", .commands = register_commands, .summary = "" },
	{ "unregister", "ENTRY", "the same as 'entry remove'",
	  .request = { "unregister", { "name" }, "entry" }, .least = 1, .most = 1 },
	{ "list", "[PATTERN] [--kind KIND]", "the same as 'entry list'",
	  .parse = command_entry_list },
	{ "show", "ENTRY", "the same as 'entry show'",
	  .request = { "show", { "name" }, "entry", .print = entry__print },
	  .least = 1, .most = 1 },
	{ "help", "[OBJECT [COMMAND]]", "list the commands",
	  .run = command_help, .most = 2 },
	{ }
};

int main(int argc, char **argv)
{
	return command__main(commands, argc, argv);
}
