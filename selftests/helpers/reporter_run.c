// SPDX-License-Identifier: GPL-2.0-only
/*
 * reporter_run IN OUT SOURCE FILE KIND COUNT: sends a frame with INT-MD for each
 * of COUNT flows (uniform, fat-tree) on IN, takes the reports that come out of
 * OUT for the collectors of FILE, and asks the stores that they fill for each
 * flow.  Fails if a report is missing or an answer wrong.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <dart/collectors.h>
#include <dart/flows.h>
#include <dart/roce_frame.h>
#include <dart/store.h>

#include "int_frame.h"
