// SPDX-License-Identifier: GPL-2.0-only
/* Prints commands for simple_switch_CLI that set up a switch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/error.h>

#include "commands.h"
#include "steps.h"
#include "program.h"
#include "tools/dartctl/command.h"

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

static void print_entry(enum switch_table_number number, uint32_t key,
			const struct switch_entry *entry)
{
	const struct switch_table *table = &switch_tables[number];

	printf("table_add %s %s %u =>", table->name, table->action, key);
	print_values(table, entry);
}

/* From an empty switch, all steps add; only registers are never empty. */
static void print_step(const struct switch_step *step,
		       const struct switch_state *wanted)
{
	const struct switch_table *reporter = &switch_tables[SWITCH_REPORTER];
	uint32_t number = step->first;

	switch (step->object) {
	case SWITCH_STEP_SHARE:
		for (; number <= step->last; number++)
			print_entry(SWITCH_SHARES, number,
				    &wanted->shares[number]);
		break;
	case SWITCH_STEP_COLLECTOR:
		print_entry(SWITCH_COLLECTORS, number,
			    &wanted->collectors[number]);
		break;
	case SWITCH_STEP_REPORTER:
		printf("table_set_default %s %s", reporter->name,
		       reporter->action);
		print_values(reporter, &wanted->reporter);
		break;
	case SWITCH_STEP_SESSION:
		printf("mirroring_add %u %d\n", number + 1,
		       wanted->sessions[number]);
		break;
	case SWITCH_STEP_PSN:
		printf("register_write " SWITCH_PSN " %u %u\n", number,
		       wanted->first_psns[number]);
		break;
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
	struct switch_state *wanted = nothing ?
				switch_state__want(wish, nothing) : NULL;
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
	ret = switch_program__read(&program, json, &error);
	if (ret)
		return fail(-ret, "cannot use '%s': %s", path, error.text);
	ret = switch_program__check(&program, wish, &error);
	if (ret)
		fail(-ret, "cannot use '%s': %s", path, error.text);
	else if (print(&program, wish))
		ret = fail__out_of_memory();
	switch_program__free(&program);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
