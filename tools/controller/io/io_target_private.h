/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the halves of a target in its I/O thread: io_target.c asks for the table and for
 * values, io_target_turns.c exchanges turns with the control loop.
 */
#ifndef CONTROLLER_IO_TARGET_PRIVATE_H
#define CONTROLLER_IO_TARGET_PRIVATE_H

#include "io_target.h"

/* io_target.c */

/* Asks for nothing more. */
void io_target__stop(struct io_target *io);
/* The same; @error is that of IO_LOSS_POST. */
void io_target__lose(struct io_target *io, enum io_loss loss, int error);
void io_target__fetch_table(struct io_target *io);
/* Asks for what is due: values rather than a table. */
void io_target__proceed(struct io_target *io);
/* Handlers of its timers and of its flow. */
void io_target__on_scrape_due(void *data);
void io_target__on_fetch_due(void *data);
void io_target__on_deadline(void *data);
void io_target__on_late(void *data);
void io_target__on_failed(struct flow *flow, int error);

/* io_target_turns.c */

/* The control loop has its turn. */
void io_target__report(struct io_target *io, enum io_report report);

#endif /* CONTROLLER_IO_TARGET_PRIVATE_H */
