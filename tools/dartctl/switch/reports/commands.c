// SPDX-License-Identifier: GPL-2.0-only
/* Prints commands for simple_switch_CLI that set up a switch, see commands.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "kind.h"
#include "steps.h"
#include "tools/dartctl/cli/command.h"

static void print_values(const struct switch_table *table, const struct switch_entry *entry)
{
	char text[SWITCH_VALUE_TEXT];
	uint32_t i;

	for (i = 0; i < table->value_count; i++) {
		switch_table__value_text(table, i, entry->values[i], text);
		printf(" %s", text);
	}
	putchar('\n');
}

/* For an empty switch, all steps add; only registers always have values. */
static void print_step(const struct switch_step *step, const struct report_state *wanted)
{
	const struct switch_object *object = &report_objects[step->object];
	const struct switch_table *table = object->table;
	const struct switch_entry *entry;
	uint32_t number;

	for (number = step->first; number <= step->last; number++) {
		entry = switch_state__entry(wanted, object, number);
		if (object->place == SWITCH_REGISTER && wanted->connections[number].there)
			printf("register_write " REPORT_REGISTER_STATE " %u 0\n", number);
		if (object->place == SWITCH_SESSION)
			printf("mirroring_add %u", number + 1);
		else if (object->place == SWITCH_REGISTER)
			printf("register_write " REPORT_REGISTER_PSN " %u", number);
		else if (table->key_bits)
			printf("table_add %s %s %" PRIu64 " =>", table->name, table->action,
			       table->is_sparse ? entry->key : number);
		else
			printf("table_set_default %s %s", table->name, table->action);
		print_values(table, entry);
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
static int print(const struct switch_program *program, const struct report_wish *wish)
{
	struct report_state *nothing = calloc(2, sizeof(*nothing)), *wanted = nothing + 1;
	struct switch_steps steps = { .count = 0 };
	int ret = -ENOMEM;
	size_t i;

	if (!nothing)
		return ret;
	report_state__want(wish, nothing, wanted);
	ret = report_steps__compute(nothing, wanted, &steps);
	if (ret)
		goto out;
	/* Without shares the switch reports nothing; the last commands add them. */
	printf("table_clear %s\n", report_tables[REPORT_SHARE].name);
	printf("table_clear %s\n", report_tables[REPORT_COLLECTOR].name);
	printf("table_clear %s\n", report_tables[REPORT_CONNECTION].name);
	printf("table_clear %s\n", report_tables[REPORT_ANSWER].name);
	print_polynomials(program);
	for (i = 0; i < steps.count; i++)
		print_step(&steps.list[i], wanted);
out:
	switch_steps__free(&steps);
	free(nothing);
	return ret;
}

int report_commands__print(const char *path, const struct report_wish *wish)
{
	const struct switch_kind *kind = report_kind__of(wish);
	struct switch_program program;
	struct dart_error error;
	json_error_t json_error;
	json_t *json;
	int ret;

	json = json_load_file(path, 0, &json_error);
	if (!json)
		return fail(EINVAL, "cannot read '%s': %s", path, json_error.text);
	ret = switch_program__parse(&program, &kind->needs, json, &error) ?:
	      kind->check(&program, wish, &error);
	if (ret)
		fail(-ret, "cannot use '%s': %s", path, error.text);
	else if (print(&program, wish))
		ret = fail__out_of_memory();
	switch_program__free(&program);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
