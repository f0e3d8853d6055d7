/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads messages and answers of OTLP/HTTP: operations of a format, see format.h. */
#ifndef CONTROLLER_OTLP_READ_H
#define CONTROLLER_OTLP_READ_H

#include "answer.h"

struct pieces;

int otlp__read(struct pieces *pieces);
void otlp__read_answer(struct answer *answer);

#endif /* CONTROLLER_OTLP_READ_H */
