# SPDX-License-Identifier: GPL-2.0-only
# Functions for the programs of the figures of the TEA paper (papers/tea/tea_figures).
include "figures";

def median: sort | if length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;
# Of rounds: "median (least - most)"
def spread: "\(median | three) (\(min | three) - \(max | three))";
def over($other): [., $other] | transpose | map(.[0] / .[1]);
# Of packets: "median (10th - 90th percentile)"
def latency: "\(.p50 | three) (\(.p10 | three) - \(.p90 | three))";
def where: "\(.machine), guests without KVM, commit \(.commit // "of no name")";
