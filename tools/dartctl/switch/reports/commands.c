// SPDX-License-Identifier: GPL-2.0-only
/* Prints commands for simple_switch_CLI that set up a switch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "steps.h"
#include "program.h"
#include "tools/dartctl/cli/command.h"

static void print_values(const struct switch_table *table,
			 const struct switch_entry *entry)
{
	char text[SWITCH_VALUE_TEXT];
	uint32_t i;

	for (i = 0; i < table->value_count; i++) {
		switch_table__value_text(table, i, entry->values[i], text);
		printf(" %s", text);
	}
	putchar('\n');
}

/* From an empty switch, all steps add; only registers are never empty. */
static void print_step(const struct switch_step *step,
		       const struct switch_state *wanted)
{
	const struct switch_table *table;
	uint32_t number = step->first;

	if (step->object == SWITCH_STEP_SESSION) {
		printf("mirroring_add %u %d\n", number + 1,
		       wanted->sessions[number]);
		return;
	}
	if (step->object == SWITCH_STEP_PSN) {
		printf("register_write " SWITCH_PSN " %u %u\n", number,
		       wanted->first_psns[number]);
		return;
	}
	table = &switch_tables[step->object];
	for (; number <= step->last; number++) {
		if (step->object == SWITCH_STEP_REPORTER)
			printf("table_set_default %s %s", table->name,
			       table->action);
		else
			printf("table_add %s %s %u =>", table->name,
			       table->action, number);
		print_values(table,
			     switch_state__entry(wanted, step->object, number));
	}
}

static void print_polynomials(const struct switch_program *program)
{
	uint32_t i;

	for (i = 0; i < program->hash_count; i++)
		printf("set_crc32_parameters %s 0x%08x 0xffffffff 0xffffffff true true\n",
		       program->hashes[i].name, program->hashes[i].polynomial);
}

/* Returns 0 or -ENOMEM. */
static int print(const struct switch_program *program,
		 const struct switch_wish *wish)
{
	struct switch_state *nothing = switch_state__new();
	struct switch_state *wanted =
		nothing ? switch_state__want(wish, nothing) : NULL;
	struct switch_steps *steps = malloc(sizeof(*steps));
	int ret = -ENOMEM;
	uint32_t i;

	if (!wanted || !steps)
		goto out;
	/* Without shares the switch reports nothing; they are added last. */
	printf("table_clear %s\n", switch_tables[SWITCH_SHARES].name);
	printf("table_clear %s\n", switch_tables[SWITCH_COLLECTORS].name);
	print_polynomials(program);
	switch_steps__compute(nothing, wanted, steps);
	for (i = 0; i < steps->count; i++)
		print_step(&steps->list[i], wanted);
	ret = 0;
out:
	free(steps);
	free(wanted);
	free(nothing);
	return ret;
}

int switch_commands__print(const char *path, const struct switch_wish *wish)
{
	struct switch_program program;
	struct dart_error error;
	json_error_t json_error;
	json_t *json;
	int ret;

	json = json_load_file(path, 0, &json_error);
	if (!json)
		return fail(EINVAL, "cannot read '%s': %s", path,
			    json_error.text);
	ret = switch_program__read(&program, &switch_report_program, json, &error) ?:
		      switch_report_program__check(&program, wish, &error);
	if (ret)
		fail(-ret, "cannot use '%s': %s", path, error.text);
	else if (print(&program, wish))
		ret = fail__out_of_memory();
	switch_program__free(&program);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
