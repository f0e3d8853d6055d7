/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers to the requests of control.h. */
#ifndef FLOWS_CONTROL_ANSWER_H
#define FLOWS_CONTROL_ANSWER_H

#include "control.h"

/* The answer to one line, without its end; a new reference, NULL: out of memory. */
json_t *control_answer__make(const struct control_subject *subject, const char *line,
			     size_t length);

#endif /* FLOWS_CONTROL_ANSWER_H */
