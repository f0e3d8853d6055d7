# SPDX-License-Identifier: GPL-2.0-only
"""Compares the samples of a receiver with the answers of the hosts and the faults of a schedule.

A sample is (ms, update, member): the time and the number of the host's answer, and the controller
that pushed it.  Its series without the label of the controller is the same for all controllers.
"""
import bisect
import math
import statistics

# To write a log line, to read a clock, and to run on a busy machine.
SLACK_MS = 300
# Until the others have said that they scrape the targets of a controller that ends.
HANDOVER_MS = 1000
# A controller that is killed loses so much more than the delay of its output.
UNWRITTEN_MS = 1000


class Judge:
    def __init__(self, settings, log, answers, samples, begin_ms, end_ms):
        self.settings = settings
        self.log = log
        self.answers = answers
        self.samples = [sorted(own) for own in samples]
        self.begin_ms, self.end_ms = begin_ms, end_ms
        self.limit_ms = settings.session_ms + 1000 + settings.interval_ms
        self.moves = sorted(at for at, _, member in log.events if member)
        self.longest = {True: 0, False: 0}  # gap, by whether a member was disturbed

    def precision_ms(self, host, member):
        return SLACK_MS + self.settings.precisions.get((host, member), 0)

    def between(self, own):
        return [sample for sample in own if self.begin_ms <= sample[0] <= self.end_ms]

    # ---- values

    def wrong(self):
        """Samples that no host sent."""
        for host, own in enumerate(self.samples):
            for at, update, member in own:
                sent = self.answers[host].get(update)
                if sent is None or abs(sent - at) > self.precision_ms(host, member):
                    yield f"host {host}: update {update} at {at} of member {member}, sent at {sent}"

    def is_sent(self, host, at, update):
        precision_ms = max(self.precision_ms(host, member) for member in (1, 2, 3))
        return abs(self.answers[host].get(update, 0) - at) <= precision_ms

    def contradictions(self):
        """A later sample says less, or two samples of one time differ, whoever pushed them."""
        for host, own in enumerate(self.samples):
            newest = (0, 0)
            at_time = {}
            precision_ms = max(self.precision_ms(host, member) for member in (1, 2, 3))
            for at, update, member in own:
                if update < newest[1] and at > newest[0] + 2 * precision_ms:
                    yield f"host {host}: update {update} at {at}, but {newest[1]} at {newest[0]}"
                # Two members that hand over may ask at the same time, and each estimates the clock.
                sent = [self.answers[host].get(each, 0)
                        for each in (update, at_time.get(at, update))]
                if abs(sent[0] - sent[1]) > 2 * precision_ms:
                    yield f"host {host}: updates {update} and {at_time[at]} at {at}"
                at_time[at] = update
                newest = max(newest, (at, update), key=lambda pair: pair[1])

    # ---- gaps

    def excused(self, start, end):
        """How many ms of this gap ZooKeeper had no quorum, where that excuses the gap."""
        disturbed = self.log.times(self.settings.of_members)
        if self.settings.unreachable == "continue" and not any(
                start - self.limit_ms <= at <= end for at, _ in disturbed):
            return 0
        windows = [(begin, until + self.limit_ms) for begin, until in self.log.no_quorum]
        return sum(max(0, min(end, until) - max(start, begin)) for begin, until in windows)

    def gaps(self):
        """Targets that no member scraped for longer than a session time-out and a second."""
        for host, own in enumerate(self.samples):
            times = [self.begin_ms] + [at for at, _, _ in self.between(own)] + [self.end_ms]
            for start, end in zip(times, times[1:]):
                yield from self.judge_gap(host, start, end)

    def cut_ms(self, begin, until):
        """
        A member that stands by finds out that it is cut off from hosts when it takes them over, or
        READs them: so much longer the next member has to wait.
        """
        if not any(start <= until and end >= begin for start, end in self.log.cut_from_hosts):
            return 0
        return self.settings.session_ms // 3 + self.settings.interval_ms + SLACK_MS

    def judge_gap(self, host, start, end):
        early = start - self.settings.interval_ms - SLACK_MS
        first, last = (bisect.bisect(self.moves, at) for at in (early, end))
        moves = self.moves[first:last]
        excused = self.excused(start, end)
        if not excused:
            self.longest[bool(moves)] = max(self.longest[bool(moves)], end - start)
        marks = [start] + [at for at in moves if at > start] + [end]
        for begin, until in zip(marks, marks[1:]):
            length = until - begin - self.excused(begin, until)
            limit = self.limit_ms + self.cut_ms(begin, until)
            if begin == start and len(marks) > 2 and not moves[0] < start:
                limit = self.settings.delay_ms + UNWRITTEN_MS + 2 * self.settings.interval_ms + \
                    SLACK_MS
            if length > limit:
                yield (f"host {host}: nothing from {self.relative(begin)} to "
                       f"{self.relative(until)}, of a gap from {self.relative(start)} to "
                       f"{self.relative(end)}")

    def relative(self, at):
        return f"{(at - self.begin_ms) / 1000:.2f} s"

    # ---- doubles

    def is_double(self, at):
        return any(begin <= at <= until for begin, until in self.log.doubles)

    def spans(self, own):
        """[(member, from, to)]: times in which a member scraped without a pause."""
        open_spans, done = {}, []
        for at, _, member in own:
            span = open_spans.get(member)
            if span and at - span[1] <= 2.5 * self.settings.interval_ms:
                span[1] = at
                continue
            if span:
                done.append((member, *span))
            open_spans[member] = [at, at]
        return done + [(member, *span) for member, span in open_spans.items()]

    def doubles(self):
        """Two members push one target for longer than a hand-over takes."""
        limit = 2 * self.settings.interval_ms + HANDOVER_MS
        for host, own in enumerate(self.samples):
            spans = sorted(self.spans(self.between(own)), key=lambda span: span[1])
            for i, (one, begin, until) in enumerate(spans):
                for other, start, end in spans[i + 1:]:
                    if start > until:
                        break
                    length = min(until, end) - start
                    if other != one and length > limit and not self.is_double(start) \
                            and not self.is_double(min(until, end)):
                        yield (f"host {host}: members {one} and {other} for {length} ms from "
                               f"{self.relative(start)} on")

    # ---- losses

    def lost(self):
        """Answers that are at no receiver, and no killed or stopped controller had them."""
        for host, own in enumerate(self.samples):
            arrived = {update for _, update, _ in own}
            lost = [at for update, at in self.answers[host].items()
                    if update not in arrived and self.begin_ms <= at <= self.end_ms
                    and not self.may_be_lost(at)]
            # Members that stand by READ without pushing: now and then, and when they begin to.
            if len(lost) > self.standby_reads():
                yield (f"host {host}: {len(lost)} answers are at no receiver, at "
                       f"{', '.join(self.relative(at) for at in sorted(lost)[:8])}")

    def standby_reads(self):
        moves = sum(1 for _, _, member in self.log.events if member)
        return 3 + moves + 3 * (self.end_ms - self.begin_ms) // self.settings.standby_ms

    def may_be_lost(self, at):
        """One that is killed has not written the newest; one that is stopped has just asked."""
        after = self.settings.interval_ms + SLACK_MS
        before = self.settings.delay_ms + UNWRITTEN_MS + after
        return any(fault - before <= at <= fault + after
                   for fault, _ in self.log.times(("kill", "lost"))) or \
            any(fault - after <= at <= fault + after
                for fault, _ in self.log.times(("stop", "freeze")))

    def rolling_gaps(self):
        """
        While all controllers are restarted, each target is scraped in each interval.  A controller
        that starts keeps a busy machine busier: half as long again as the longest gap when nothing
        happened is permitted, too, which gaps() has found.
        """
        limit = max(2 * self.settings.interval_ms + SLACK_MS, 1.5 * self.longest[False])
        for begin, until in self.log.rolling:
            for host, own in enumerate(self.samples):
                times = [begin] + [at for at, _, _ in own if begin <= at <= until] + [until]
                for start, end in zip(times, times[1:]):
                    if end - start > limit:
                        yield (f"host {host}: nothing from {self.relative(start)} to "
                               f"{self.relative(end)}")

    # ---- a receiver that thins out

    def thinned(self, samples, span_ms):
        """
        Differences between the samples, whoever pushed them, and the ones of a receiver that does
        not know who did, and keeps the newest sample of each span: (ms, update), or (ms, None) for
        the end of a series.  Each controller has a queue for each receiver: what one that is killed
        had not written may be at one of them alone, and so may the last samples of all.
        """
        end_ms = self.end_ms - self.settings.delay_ms - UNWRITTEN_MS
        for host, kept in enumerate(samples):
            pushed = {(at, update) for at, update, _ in self.samples[host]}
            spans = {}
            for at, update in kept:
                spans.setdefault(math.ceil(at / span_ms), []).append((at, update))
                # Prometheus refuses a sample that is older than the end of the same series.
                if update is not None and (at, update) not in pushed and \
                        not self.is_sent(host, at, update):
                    yield f"host {host}: update {update} at {at} is at the thinning receiver alone"
            for own in spans.values():
                if len(own) > 1:
                    yield f"host {host}: {own} were kept of one span of {span_ms} ms"
            for at, update in sorted(pushed):
                if math.ceil(at / span_ms) not in spans and at < end_ms \
                        and not self.may_be_lost(at):
                    yield (f"host {host}: update {update} at {self.relative(at)}, and nothing of "
                           f"its span is at the thinning receiver")

    # ---- takeovers

    def takeovers(self):
        """{kind: [ms]}: from a fault of a member until another one scraped its targets."""
        found = {}
        for begin, kind, member in self.log.events:
            if kind in self.settings.of_members or kind == "term":
                end = min((at for at, end, other in self.log.events if at >= begin
                           and end == f"end of {kind}" and other == member),
                          default=self.end_ms)
                for own in self.samples:
                    taken = self.takeover(own, begin, end, member)
                    if taken is not None:
                        found.setdefault(kind, []).append(taken)
        return found

    def takeover(self, own, begin, end, member):
        at = bisect.bisect(own, (begin,))
        before = own[at - 1] if at else (0, 0, 0)
        if before[2] != member or begin - before[0] > 3 * self.settings.interval_ms:
            return None
        for time, _, other in own[at:]:
            if time > end:
                return None
            if other != member:
                return time - begin
        return None


def describe(times):
    return (f"median {statistics.median(times) / 1000:.2f} s, max {max(times) / 1000:.2f} s"
            f" of {len(times)}")
