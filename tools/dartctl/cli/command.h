/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree of commands: dartctl OBJECT COMMAND. */
#ifndef COMMAND_H
#define COMMAND_H

#include "client.h"
#include "message.h"
#include "options.h"

/*
 * An object has commands; a command has a request or one of the two functions, which return an exit
 * status.  A command without a summary is an old name: its operands are the new name.
 */
struct command {
	const char *name;
	const char *operands;	/* operands and options, as help prints them; or NULL */
	const char *summary;	/* one line */
	const struct command *commands;	/* of an object; the list ends with zeros */
	struct client_request request;	/* to dartd, with its operands */
	/* for a command without options: gets the operands */
	int (*run)(const struct options *options, int argc, char **argv);
	int least, most;	/* number of operands */
	/* for a command with options: gets its whole name as argv[0] */
	int (*parse)(struct options *options, int argc, char **argv);
};

/*
 * Runs the command below options->command that argv[1] and the next words name, each in full or by
 * an unambiguous prefix.  Returns an exit status.
 */
int command__run(struct options *options, int argc, char **argv);
/*
 * The main function of a program of dartctl with the commands in @commands.  Returns its exit status.
 */
int command__main(const struct command *commands, int argc, char **argv);
/* Prints options->command with its operands, or all commands below it. */
int command__help(const struct options *options);

extern const struct command entry_commands[];
extern const struct command source_commands[];
extern const struct command map_commands[];
extern const struct command counters_commands[];
extern const struct command probe_commands[];
extern const struct command store_commands[];
extern const struct command reporter_commands[];
extern const struct command share_commands[];
extern const struct command table_commands[];
extern const struct command requester_commands[];
extern const struct command journal_commands[];
extern const struct command appender_commands[];
extern const struct command ledger_commands[];
extern const struct command adder_commands[];
extern const struct command sketch_commands[];
extern const struct command sketcher_commands[];
extern const struct command flow_commands[];
extern const struct command xdp_commands[];
extern const struct command registration_commands[];
extern const struct command controller_commands[];
extern const struct command switch_commands[];
extern const struct command tls_commands[];
extern const struct command application_commands[];

int command_register_host(struct options *options, int argc, char **argv);
int command_register_source(struct options *options, int argc, char **argv);
int command_map_add(const struct options *options, int argc, char **argv);
int command_counters_add(const struct options *options, int argc, char **argv);
int command_entry_list(struct options *options, int argc, char **argv);
int command_store_export(struct options *options, int argc, char **argv);
int command_store_show(const struct options *options, int argc, char **argv);
int command_share_show(const struct options *options, int argc, char **argv);
int command_table_create(struct options *options, int argc, char **argv);
int command_table_show(const struct options *options, int argc, char **argv);
int command_table_insert(struct options *options, int argc, char **argv);
int command_table_remove(struct options *options, int argc, char **argv);
int command_table_lookup(struct options *options, int argc, char **argv);
int command_table_import(struct options *options, int argc, char **argv);
int command_table_dump(struct options *options, int argc, char **argv);
int command_table_export(struct options *options, int argc, char **argv);
int command_journal_show(struct options *options, int argc, char **argv);
int command_journal_dump(struct options *options, int argc, char **argv);
int command_journal_tail(struct options *options, int argc, char **argv);
int command_ledger_query(struct options *options, int argc, char **argv);
int command_sketch_query(struct options *options, int argc, char **argv);
int command_sketch_top(struct options *options, int argc, char **argv);
int command_sketch_show(struct options *options, int argc, char **argv);
int command_xdp_follow(struct options *options, int argc, char **argv);
int command_xdp_status(const struct options *options, int argc, char **argv);
int command_plan(struct options *options, int argc, char **argv);
int command_query(struct options *options, int argc, char **argv);
int command_apply(const struct options *options, int argc, char **argv);
int command_save(const struct options *options, int argc, char **argv);
int command_doctor(const struct options *options, int argc, char **argv);
int command_tls_create(struct options *options, int argc, char **argv);
int command_tls_install(struct options *options, int argc, char **argv);
int command_tls_renew(struct options *options, int argc, char **argv);
int command_tls_revoke(struct options *options, int argc, char **argv);
int command_tls_list(struct options *options, int argc, char **argv);
int command_help(const struct options *options, int argc, char **argv);
int command_monitor(const struct options *options, int argc, char **argv);
int command_status(const struct options *options, int argc, char **argv);

/* Prints the answer of dartd to its request. */
int entry__print(json_t *entry);

#endif /* COMMAND_H */
