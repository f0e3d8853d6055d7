/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the parts of a target in its I/O thread: io_target_orders.c, where orders and timers
 * begin, calls io_target.c, which asks for parts of the table and takes their completions.
 */
#ifndef CONTROLLER_IO_TARGET_PRIVATE_H
#define CONTROLLER_IO_TARGET_PRIVATE_H

#include "io_target.h"

/* It is the control loop's turn then. */
void io_target__report(struct io_target *io, enum io_report report);
/* Without a report: neither timers nor completions do anything any more. */
void io_target__stop(struct io_target *io);
/* Stops, and reports the loss for this reason in the next turn of the thread; once. */
void io_target__lose(struct io_target *io, enum io_loss loss, int error);
/* After the last scrape that is wanted; true if so. */
bool io_target__end_if_done(struct io_target *io);

void io_target__ask(struct io_target *io, enum io_state state, enum transport_part part);
void io_target__fetch_table(struct io_target *io);
/* The control loop takes a table, of the agent or of the mirror. */
void io_target__want_table(struct io_target *io, enum io_report report);
/* In the turn of the I/O thread: an update may have added entries. */
bool io_target__may_have_added(const struct io_target *io);
/* Other updates may follow; true unless the target is lost. */
bool io_target__await_updates(struct io_target *io);
/* Takes the table from the mirror or fetches it, at once or as soon as that is allowed again. */
void io_target__renew_table(struct io_target *io);
/* Asks for the values, or first for what tells that the table is still current. */
void io_target__start_scraping(struct io_target *io);
/* Begins the scrape or fetch that is pending; without one the target is idle. */
void io_target__proceed(struct io_target *io);

#endif /* CONTROLLER_IO_TARGET_PRIVATE_H */
