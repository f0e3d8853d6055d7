/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The findings of a doctor: one for each check, a line each or a JSON array.
 *
 *	ok    kernel: Linux 6.12.95
 *	FAIL  module: dart_zero is not loaded; do: modprobe dart_zero
 *
 *	{"check": "module", "result": "fail", "found": SENTENCE,
 *	 "advice": SENTENCE, "command": COMMAND}
 *
 * A finding that is not ok carries advice, a command that can be typed unchanged, or
 * both.  Texts may quote files and peers: bytes other than printable ASCII become '?'.
 */
#ifndef FINDINGS_H
#define FINDINGS_H

#include <jansson.h>
#include <stdbool.h>

struct findings {
	bool as_json;
	json_t *list; /* of the findings so far; JSON only */
	json_t *last; /* is printed once its advice is known */
	bool has_failed; /* a check failed */
	bool is_lenient; /* failures are warnings: another way works */
	bool out_of_memory;
};

void findings__open(struct findings *findings, bool as_json);
/*
 * Prints the unprinted findings.  Returns an exit status: EXIT_FAILURE if a check
 * failed; a warning changes nothing.
 */
int findings__close(struct findings *findings);

__attribute__((format(printf, 3, 4))) void
findings__ok(struct findings *findings, const char *check, const char *format,
	     ...);
__attribute__((format(printf, 3, 4))) void
findings__warn(struct findings *findings, const char *check, const char *format,
	       ...);
__attribute__((format(printf, 3, 4))) void
findings__fail(struct findings *findings, const char *check, const char *format,
	       ...);

/* Advice about the last finding. */
__attribute__((format(printf, 2, 3))) void
findings__advise(struct findings *findings, const char *format, ...);
__attribute__((format(printf, 2, 3))) void
findings__command(struct findings *findings, const char *format, ...);

#endif /* FINDINGS_H */
