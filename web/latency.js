/* latency.js - spans that the program published: how long they lasted, and the slowest of them. A click shows what one did;
 * the slowest tenth can be compared with the others of that name.
 */
const SLOWEST_ROWS = 50, SLOW_SHARE = 10, LATENCY_COLUMNS = 60, MARK_OCTAVE = 16;

/* The lengths that step I of a distribution stands for, as mark_step has them: from, and from the next one on. */
function lengthOfStep(i) {
  if (i < MARK_OCTAVE) return i;
  const octave = Math.floor(i / MARK_OCTAVE) - 1;
  return (i % MARK_OCTAVE + MARK_OCTAVE) * 2 ** octave;
}

function slowestOf(name) {
  if (!name.slowest) name.slowest = [...name.kept].sort((a, b) => b.duration - a.duration || a.at - b.at);
  return name.slowest;
}

/* [ns, exact] below which SHARE of the spans of NAME are; exact where that one is among the kept. */
function quantileOf(name, share) {
  const place = Math.max(1, Math.ceil(name.count * share)), above = name.count - place;
  if (above < name.kept.length) return [slowestOf(name)[above].duration, true];
  let seenSoFar = name.count - name.steps.reduce((sum, n, i) => sum + (i % 2 ? n : 0), 0); /* those without length */
  for (let i = 0; i < name.steps.length; i += 2) {
    seenSoFar += name.steps[i + 1];
    if (seenSoFar >= place) return [Math.min(name.longest, (lengthOfStep(name.steps[i]) + lengthOfStep(name.steps[i] + 1)) / 2), false];
  }
  return [name.longest, true];
}

/* Bars over the lengths of all spans, which double from left to right at equal distances. */
function latencyBars(name, first, last, tell) {
  const bars = new Array(LATENCY_COLUMNS).fill(0), box = make('div', 'bars'), low = Math.log2(lengthOfStep(first) || 1), high = Math.log2(lengthOfStep(last + 1));
  const column = (length) => Math.min(LATENCY_COLUMNS - 1, Math.max(0, Math.floor((Math.log2(length || 1) - low) / (high - low || 1) * LATENCY_COLUMNS)));
  for (let i = 0; i < name.steps.length; i += 2) bars[column((lengthOfStep(name.steps[i]) + lengthOfStep(name.steps[i] + 1)) / 2)] += name.steps[i + 1];
  const most = Math.max(...bars);
  bars.forEach((n, k) => {
    const bar = make('i');
    bar.style.height = n ? Math.max(8, 100 * n / most) + '%' : '0';
    box.append(bar);
  });
  box.title = tell;
  return box;
}

function slowMarks(name, share) {
  return slowestOf(name).slice(0, Math.max(1, Math.round(name.count * share / 100)));
}

/* The slowest SHARE percent of the spans of a name as a selection; WORDS: "number of the name,share". Null: there are none. */
function slowSelection(words) {
  const [index, share] = words.split(',').map(Number), name = M.names[index];
  if (!T || !name || name.kind !== MARK_SPAN || !(share > 0 && share < 100)) return null;
  const all = slowestOf(name), some = slowMarks(name, share);
  const within = intervalsOf(some), part = 100 * some.length / name.count;
  if (some.every((mark) => mark.thread < 0)) return null;
  return {
    from: 0, to: T.steps, lane: '', marks: new Set(some), virtual: within.has(ALL_VIRTUAL), text: `the slowest ${part < 1 ? part.toFixed(2) : Math.round(part)} % of ${nameOfMark(name)}: ${count(some.length)} of ${count(name.count)}, from ${time(some[some.length - 1].duration)} on`,
    each: (fn, everything) => eachMomentWithin(within, fn, everything),
    /* all of them, where they are known one by one; else all that their threads did */
    others: all.length === name.count ? 'more than in the others' : 'more than in the rest of these threads\' time',
    eachOther: all.length === name.count ? (fn) => eachMomentWithin(intervalsOf(all), fn) : (fn) => eachMoment(0, T.steps, Uint8Array.from(T.thread, (t) => (partsOf(within, t) ? 1 : 0)), fn),
  };
}

/* thread → parts of the time, in steps, in their order and apart from one another */
function intervalsOf(marks) {
  const of = new Map();
  for (const mark of marks) {
    const thread = isCarried(mark) ? ALL_VIRTUAL : threadOfMark(mark);
    if (thread < 0) continue;
    if (!of.has(thread)) of.set(thread, []);
    of.get(thread).push(stepsOfMark(mark));
  }
  for (const [thread, list] of of) {
    const apart = [];
    for (const part of list.sort((a, b) => a.from - b.from)) {
      const last = apart[apart.length - 1];
      if (last && part.from <= last.to) last.to = Math.max(last.to, part.to);
      else apart.push(part);
    }
    of.set(thread, apart);
  }
  return of;
}

/* The parts of WITHIN in which THREAD is. */
function partsOf(within, thread) {
  return within.get(thread) || (thread >= 0 && D.threads[thread][0] === 0 && within.get(ALL_VIRTUAL));
}

/* As eachMoment, with what lies WITHIN the intervals of the moment's thread. */
function eachMomentWithin(within, fn, everything = false) {
  const part = { samples: 0, weight: 0 }, sum = { samples: 0, weight: 0 };
  for (let i = 0; i < T.count; i++) {
    const list = (everything || T.shown[T.place[i]]) && partsOf(within, T.thread[T.place[i]]);
    if (!list) continue;
    let low = 0, high = list.length;
    while (low < high) {
      const mid = low + high >> 1;
      if (list[mid].to <= T.at[i]) low = mid + 1;
      else high = mid;
    }
    sum.samples = sum.weight = 0;
    for (let k = low; k < list.length && list[k].from <= T.at[i] + T.span[i]; k++) {
      partOf(i, list[k].from, list[k].to, part);
      sum.samples += part.samples;
      sum.weight += part.weight;
    }
    sum.samples = Math.min(sum.samples, T.samples[i]);
    if (sum.samples || sum.weight) fn(i, sum);
  }
}

const isVirtual = (mark) => mark.thread >= 0 && M.threads[mark.thread][0] === 0;

/* Of wall time in spans of virtual threads how much samples tell, [ns, of ns], where that is less than all: parked ones are
 * sampled only if that was asked for. Null: it is enough, or PART is not of such spans. */
function coverOfVirtual(part) {
  if (D.event !== 'wall') return null;
  const isPart = (mark) => isVirtual(mark) && laneOfMark(mark) === part.lane && stepsOfMark(mark).from === part.from && stepsOfMark(mark).to === part.to;
  const spans = part.marks ? [...part.marks].filter(isVirtual) : part.lane ? M.spans.flatMap((name) => name.kept).filter(isPart).slice(0, 1) : [];
  const length = spans.reduce((sum, mark) => sum + mark.duration, 0);
  let covered = 0;
  const add = (i, { weight }) => {
    const thread = T.thread[T.place[i]];
    if (thread >= 0 && D.threads[thread][0] === 0) covered += weight;
  };
  if (part.marks) part.each(add, true);
  else if (length) eachMoment(part.from, part.to, placesOfLane(part.lane), add, true);
  return length - covered > Math.max(0.1 * length, 2 * (D.interval || 0)) ? [covered, length] : null;
}

/* What is told of it below the strip, with the way to the waits for locks. */
function sayCover(part, strip) {
  const cover = coverOfVirtual(part), lock = PROFILES.findIndex((p) => p.event === 'lock' && p.time);
  if (!cover) return;
  strip.said.append(make('span', 'cover', `samples cover ${time(cover[0])} of ${time(cover[1])}: parked virtual threads are sampled with --vthreads alone` + (lock < 0 ? '' : `; event lock has ${part.marks ? 'their' : 'its'} waits for locks`)));
  if (lock >= 0) strip.button('In event lock', 'The same part of the time, and the waits for locks in it', () => showEvent(lock));
}

class Latency {
  constructor(section) {
    this.section = section;
    this.chosen = null;
  }

  show(match) {
    const names = M.spans.filter((name) => !match || match.test(nameOfMark(name))), list = make('div', 'list');
    const steps = names.flatMap((name) => name.steps.filter((_, i) => i % 2 === 0));
    const [first, last] = steps.reduce(([a, b], i) => [Math.min(a, i), Math.max(b, i)], [Infinity, 0]);
    this.match = match;
    if (!names.length) list.append(make('p', 'nothing', 'Nothing matches.'));
    else list.append(this.table(names, first, last), this.slowest(names));
    if (names.some((name) => name.estimated)) list.append(make('p', 'hint', '~ estimated: this is a part of the time of a file that tells the longest spans one by one, and of the others how many began when.'));
    this.section.replaceChildren(list);
  }

  table(names, first, last) {
    const line = (name) => {
      const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantileOf(name, share)), tell = (/** @type {any[]} */ [ns, exact]) => (exact && !name.estimated ? '' : '~') + time(ns);
      const label = nameCell(nameOfMark(name)), bars = make('td', 'bars-cell'), compare = make('td');
      bars.append(latencyBars(name, first, last, `${time(lengthOfStep(first))} … ${time(lengthOfStep(last + 1))}, doubling at equal distances`));
      const button = make('button', 'slow', `Slowest ${SLOW_SHARE} %`);
      button.type = 'button';
      button.title = 'What these did, compared with the others: red has a larger share of the slowest';
      button.disabled = !slowSelection(`${name.index},${SLOW_SHARE}`);
      button.addEventListener('click', (event) => {
        event.stopPropagation();
        const what = { tab: 'graph', slow: `${name.index},${SLOW_SHARE}`, sel: '', lane: '', rest: '1' };
        const slow = slowMarks(name, SLOW_SHARE), carriedOnes = slow.filter(isCarried).length;
        if (showsElsewhere() >= 0 && 2 * carriedOnes <= slow.length) showEvent(showsElsewhere(), what);
        else change({ ...what, zoom: '', focus: '' }, true);
      });
      compare.append(button);
      const row = linkedLine([numberCell(aboutMarks(name, count(name.count))), numberCell(tell(p50)), numberCell(tell(p90)), numberCell(tell(p99)), numberCell(aboutMarks(name, time(name.longest))), numberCell(aboutMarks(name, time(name.sum))), bars, compare, label], () => {
        this.chosen = this.chosen === name ? null : name;
        this.show(this.match);
      });
      if (this.chosen === name) row.classList.add('chosen');
      return row;
    };
    return ioTable('How long they lasted', ['Count', 'p50', 'p90', 'p99', 'Longest', 'Together', 'Short … long', '', 'Span'], names.map(line));
  }

  slowest(names) {
    const some = this.chosen && names.includes(this.chosen) ? [this.chosen] : names;
    const marks = some.flatMap((name) => slowestOf(name).slice(0, SLOWEST_ROWS)).sort((a, b) => b.duration - a.duration).slice(0, SLOWEST_ROWS);
    const part = ioTable(this.chosen ? `The slowest of ${nameOfMark(this.chosen)}` : 'The slowest', ['Length', 'Begin', 'Thread', 'Span'], marks.map((mark) => {
      const thread = make('td'), label = make('td');
      thread.append(make('bdi', '', mark.thread < 0 ? '' : M.threads[mark.thread][1]));
      label.append(make('bdi', '', nameOfMark(mark.name)));
      return linkedLine([numberCell(time(mark.duration)), numberCell(T ? moment(mark.at / T.step) : time(mark.at)), thread, label], T && (() => selectMark(mark, { tab: 'graph' })));
    }));
    const carried = marks.some(isCarried) ? ' Those of virtual threads have the name of the carrier: a click shows what all virtual threads did.' : '';
    part.firstChild.after(make('p', 'hint', 'Click a span to see what its thread did meanwhile, a name above for the slowest of that name alone.' + (showsElsewhere() < 0 || marks.every(isCarried) ? '' : ` Event wall is shown then, which has waits, too${marks.some(isVirtual) ? '; of virtual threads that are parked it has them with --vthreads alone' : ''}.`) + carried));
    return part;
  }
}
