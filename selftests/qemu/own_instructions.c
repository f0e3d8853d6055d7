// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU: counts the instructions that one CPU executes between two marks of a program
 * (own_instructions.h), including interrupts on this CPU.  The clock of such a machine counts the
 * instructions of all CPUs.
 *
 * Its only argument, "out=FILE", names a file.  For each pair of marks the plugin writes a line:
 * the number of instructions between them, or "moved" if the marks were on two CPUs.  So a program
 * must be bound to one CPU.
 *
 * Counting begins with the first mark, so machines boot at full speed.  The declarations below are
 * from version 1 of QEMU's interface (include/qemu/qemu-plugin.h), which Debian does not package.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "own_instructions.h"

#define EXPORT __attribute__((visibility("default")))
#define CPUS 4096

typedef uint64_t plugin_id;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef void (*on_translation)(plugin_id id, struct qemu_plugin_tb *block);
typedef void (*on_execution)(unsigned int cpu, void *data);

enum registers { NO_REGISTERS };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, on_translation function);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, on_execution function,
					  enum registers registers, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
					    on_execution function, enum registers registers,
					    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
void qemu_plugin_reset(plugin_id id, void (*function)(plugin_id id));

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const void *machine, int argc, char **argv);

/* One thread executes all CPUs in turn, because the clock counts instructions. */
static struct {
	plugin_id id;
	FILE *out;
	bool is_counting;
	unsigned int marked_cpu;
	uint64_t at_mark;
	uint64_t counts[CPUS];
} plugin;

static void add(unsigned int cpu, void *data)
{
	plugin.counts[cpu % CPUS] += (uintptr_t)data;
}

static void translate(plugin_id id, struct qemu_plugin_tb *block);

static void count_from_now_on(plugin_id id)
{
	plugin.is_counting = true;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
}

/* QEMU has not counted before the first pair: its line is "moved", too. */
static void begin(unsigned int cpu, void *data)
{
	(void)data;
	if (!plugin.is_counting) {
		qemu_plugin_reset(plugin.id, count_from_now_on);
		plugin.marked_cpu = CPUS;
		return;
	}
	plugin.marked_cpu = cpu;
	plugin.at_mark = plugin.counts[cpu % CPUS];
}

static void end(unsigned int cpu, void *data)
{
	(void)data;
	if (cpu == plugin.marked_cpu)
		fprintf(plugin.out, "%llu\n",
			(unsigned long long)(plugin.counts[cpu % CPUS] - plugin.at_mark));
	else
		fputs("moved\n", plugin.out);
	fflush(plugin.out);
}

static void translate(plugin_id id, struct qemu_plugin_tb *block)
{
	static const unsigned char begins[] = { OWN_INSTRUCTIONS_BEGIN };
	static const unsigned char ends[] = { OWN_INSTRUCTIONS_END };
	const size_t count = qemu_plugin_tb_n_insns(block);
	struct qemu_plugin_insn *instruction;
	size_t i;

	(void)id;
	if (plugin.is_counting)
		qemu_plugin_register_vcpu_tb_exec_cb(block, add, NO_REGISTERS, (void *)count);
	for (i = 0; i < count; i++) {
		instruction = qemu_plugin_tb_get_insn(block, i);
		if (qemu_plugin_insn_size(instruction) != sizeof(begins))
			continue;
		if (!memcmp(qemu_plugin_insn_data(instruction), begins, sizeof(begins)))
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, begin, NO_REGISTERS,
							       NULL);
		if (!memcmp(qemu_plugin_insn_data(instruction), ends, sizeof(ends)))
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, end, NO_REGISTERS,
							       NULL);
	}
}

int qemu_plugin_install(plugin_id id, const void *machine, int argc, char **argv)
{
	(void)machine;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fputs("own_instructions: the only argument is out=FILE\n", stderr);
		return 1;
	}
	plugin.id = id;
	plugin.marked_cpu = CPUS;
	plugin.out = fopen(argv[0] + 4, "w");
	if (!plugin.out) {
		perror(argv[0] + 4);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
