/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks around a piece of a program that is bound to one CPU: selftests/qemu/run --own FILE writes
 * to a file how many instructions this CPU executes between them, in the program, the kernel and
 * interrupts.  Each mark is an instruction of x86-64 without effect, nopl with a displacement that
 * no compiler chooses, so a program may contain the marks wherever it runs.  Elsewhere they are
 * empty.
 */
#ifndef QEMU_OWN_INSTRUCTIONS_H
#define QEMU_OWN_INSTRUCTIONS_H

#define OWN_INSTRUCTIONS_BEGIN 0x0f, 0x1f, 0x84, 0x00, 0x64, 0x61, 0x72, 0x30
#define OWN_INSTRUCTIONS_END 0x0f, 0x1f, 0x84, 0x00, 0x64, 0x61, 0x72, 0x31

#define OWN_INSTRUCTIONS_TEXT_(...) #__VA_ARGS__
#define OWN_INSTRUCTIONS_TEXT(...) OWN_INSTRUCTIONS_TEXT_(__VA_ARGS__)

#ifdef __x86_64__
#define OWN_INSTRUCTIONS_MARK(...) \
	__asm__ volatile(".byte " OWN_INSTRUCTIONS_TEXT(__VA_ARGS__) : : : "memory")
#else
#define OWN_INSTRUCTIONS_MARK(...) ((void)0)
#endif

static inline void own_instructions__begin(void)
{
	OWN_INSTRUCTIONS_MARK(OWN_INSTRUCTIONS_BEGIN);
}

static inline void own_instructions__end(void)
{
	OWN_INSTRUCTIONS_MARK(OWN_INSTRUCTIONS_END);
}

#endif /* QEMU_OWN_INSTRUCTIONS_H */
