/* marks.js - what a recording has beside its samples (D.marks of the first profile, src/profile/views/marks_page.c): rows
 * of pauses, spans and events of the program below the strip. A click on a mark selects its time.
 */
const MARK_KINDS_SHOWN = [
  { label: 'GC pause', row: 0, colour: () => 'hsl(8 80% 62%)' },
  { label: 'Collection, as long as its pauses', row: 0, colour: () => 'hsl(8 80% 62%)' },
  { label: 'Until all threads stand still', row: 0, colour: (get) => get('--text') },
  { label: 'Operation of the JVM at a safepoint', row: 0, colour: (get) => get('--pale') },
  { label: 'Span', row: 1, colour: (get) => get('--accent') },
  { label: 'Event of the program', row: 2, colour: () => 'hsl(305 55% 52%)' },
];
const MARK_PAUSE = 0, MARK_GC = 1, MARK_SPAN = 4, MARK_EVENT = 5, MARK_ROW = 9, MARKS_TOLD = 6, MARK_PARTS = 1024, ALL_VIRTUAL = 'tid=0';
const NO_MARKS = { names: [], items: '', count: 0, threads: [], gcs: [], events: [], duration: 0 };
const M = unpackMarks((PROFILES.find((p) => p.marks) || { marks: NO_MARKS }).marks);

function unpackMarks(from) {
  const { number } = numbersOf(from.items), names = from.names.map(([kind, name, n, sum, longest, parts, steps, estimated], index) => (
    { index, kind, name, count: n, sum, longest, parts, steps, estimated, kept: [] }));
  const some = (kind) => names.some((name) => name.kind === kind);
  let at = 0;
  for (let i = 0; i < from.count; i++) {
    const name = names[number()];
    at += number() * 1e3;
    name.kept.push({ at, duration: number(), thread: number() - 1, gc: number() - 1, name });
  }
  /* a collection is told of by its pauses, where there are any */
  const shown = names.filter((name) => name.kind !== MARK_GC || !some(MARK_PAUSE)).sort((a, b) => b.kind - a.kind); /* as they are drawn: pauses over what they are part of */
  return { ...from, names, shown, spans: names.filter((name) => name.kind === MARK_SPAN).sort((a, b) => b.sum - a.sum) };
}

/* TEXT, which is of the marks of NAME: they may be a part of those that a file tells one by one only in part. */
const aboutMarks = (name, text) => (name.estimated ? '~' : '') + text;

/* The thread of MARK in D.threads, which has those alone that have samples; -1: it has none. */
function threadOfMark(mark) {
  if (mark.thread < 0) return -1;
  if (!M.ofThread) {
    const known = new Map(D.threads.map(([tid, name], i) => [tid + ' ' + name, i]));
    M.ofThread = M.threads.map(([tid, name]) => (known.has(tid + ' ' + name) ? known.get(tid + ' ' + name) : -1));
  }
  return M.ofThread[mark.thread];
}

const HAS_VIRTUAL = PROFILES.some((p) => p.threads.some(([tid]) => tid === 0));

/* Whether MARK is of a thread that carries virtual ones. A span has the carrier it ended on, samples have the virtual thread: which
 * of them the span was of is not known. */
function isCarried(mark) {
  return mark.thread >= 0 && /^ForkJoinPool-\d+-worker-/.test(M.threads[mark.thread][1]) && HAS_VIRTUAL;
}

/* The lane of a span's thread, whether this event has samples of it or not; '': it is not known. */
function laneOfMark(mark) {
  if (mark.thread < 0 || mark.name.kind !== MARK_SPAN) return '';
  return (!isCarried(mark) && laneOf(M.threads[mark.thread])) || ALL_VIRTUAL;
}

function nameOfMark(name) {
  return name.name || '(no name)';
}

/* Steps that MARK lasts; a moment has some time around it. */
function stepsOfMark(mark) {
  const around = mark.duration ? 0 : 5e7, from = Math.max(0, (mark.at - around) / T.step);
  return { from: Math.floor(from), to: Math.min(T.steps, Math.max(Math.floor(from) + 1, Math.ceil((mark.at + mark.duration + around) / T.step))) };
}

/* What the page shows of MARK's time: of a span that of its thread, which may have no samples. */
function selectMark(mark, more) {
  const { from, to } = stepsOfMark(mark), what = { sel: selText(from, to), lane: laneOfMark(mark), ...more };
  if (more && !isCarried(mark) && showsElsewhere() >= 0) showEvent(showsElsewhere(), { slow: '', rest: '', ...what });
  else change({ zoom: '', ...what }, true);
}

function tellMark(mark) {
  const text = [nameOfMark(mark.name)];
  if (mark.gc >= 0) text.push(M.gcs[mark.gc].filter(Boolean).join(', '));
  if (mark.duration) text.push(time(mark.duration));
  text.push('at ' + moment(mark.at / T.step));
  if (mark.thread >= 0 && mark.name.kind >= MARK_SPAN) text.push(M.threads[mark.thread][1]);
  return text.join(' · ');
}

class MarkRows {
  constructor() {
    const used = [0, 1, 2].filter((row) => M.shown.some((name) => MARK_KINDS_SHOWN[name.kind].row === row));
    this.place = new Map(used.map((row, i) => [row, i]));
    this.canvas = make('canvas', 'marks');
    this.canvas.style.cssText = `height: ${used.length * MARK_ROW + 2}px; margin-top: 2px; border-radius: 3px; cursor: pointer`;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'Pauses, spans and events: ' + M.shown.map((name) => `${count(name.count)} ${nameOfMark(name)}`).join(', '));
    when.strip.canvas.after(this.canvas);
    when.strip.more = (legend) => this.legend(legend);
    tellTime(this.canvas);
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', () => { $('#tip').hidden = true; });
    this.canvas.addEventListener('click', (event) => this.click(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  legend(legend) {
    const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
    MARK_KINDS_SHOWN.forEach(({ label, colour }, kind) => {
      const names = M.shown.filter((name) => name.kind === kind), n = names.reduce((sum, name) => sum + name.count, 0);
      if (!n) return;
      const item = make('span', 'mark', label + ' '), swatch = make('i', 'swatch');
      swatch.style.background = colour(get);
      item.prepend(swatch);
      item.append(make('b', '', count(n)));
      item.title = names.slice(0, 20).map((name) => `${nameOfMark(name)}: ${aboutMarks(name, count(name.count))}` + (name.sum ? `, ${aboutMarks(name, time(name.sum))}, longest ${aboutMarks(name, time(name.longest))}` : '')).join('\n');
      legend.append(item);
    });
  }

  draw() {
    const at = fitted(this.canvas);
    if (!at) return;
    const { c, width, height } = at, style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
    const chosen = T.selected && T.selected.marks, x = (ns) => (ns / T.step - seen.from) / (seen.to - seen.from) * width;
    c.fillStyle = get('--paper');
    c.fillRect(0, 0, width, height);
    for (const name of M.shown) {
      const { row, colour } = MARK_KINDS_SHOWN[name.kind], top = 1 + this.place.get(row) * MARK_ROW, least = name.kind === MARK_EVENT ? 2 : 1;
      c.fillStyle = colour(get);
      c.globalAlpha = 0.3; /* those of which only their part of the time is known */
      for (let i = 0; i < name.parts.length; i += 2) {
        const a = x(name.parts[i] * M.duration / MARK_PARTS), b = x((name.parts[i] + 1) * M.duration / MARK_PARTS);
        if (b >= 0 && a <= width) c.fillRect(a, top, Math.max(least, b - a), MARK_ROW - 1);
      }
      for (const mark of name.kept) {
        c.globalAlpha = chosen ? (chosen.has(mark) ? 1 : 0.12) : name.kind === MARK_SPAN ? 0.55 : 1;
        const a = x(mark.at), b = x(mark.at + mark.duration);
        if (b >= 0 && a <= width) c.fillRect(a, top, Math.max(least, b - a), MARK_ROW - 1);
      }
    }
    c.globalAlpha = 1;
  }

  /* The first click on a place takes the first of the marks, the next one the next. */
  click(event) {
    const { marks } = this.under(event), same = this.clicked && this.clicked.marks.length === marks.length && marks.every((mark, i) => mark === this.clicked.marks[i]);
    if (!marks.length) return;
    this.clicked = { marks, at: same ? (this.clicked.at + 1) % marks.length : 0 };
    selectMark(marks[this.clicked.at]);
    this.point(event);
  }

  /* Marks under the pointer, what is drawn there first (pauses over what they are part of, the longest over the others), and how
   * many more began in that part of the time. */
  under(event) {
    const box = this.canvas.getBoundingClientRect(), scale = (seen.to - seen.from) * T.step / box.width;
    const middle = seen.from * T.step + (event.clientX - box.left) * scale, row = Math.floor((event.clientY - box.top - 1) / MARK_ROW);
    const marks = [], [first, last] = [middle - scale, middle + scale].map((ns) => Math.floor(ns / M.duration * MARK_PARTS));
    let others = 0;
    for (const name of M.shown) {
      if (this.place.get(MARK_KINDS_SHOWN[name.kind].row) !== row) continue;
      for (const mark of name.kept) if (mark.at - 3 * scale <= middle && middle <= mark.at + mark.duration + 3 * scale) marks.push(mark);
      for (let i = 0; i < name.parts.length; i += 2) if (name.parts[i] >= first && name.parts[i] <= last) others += name.parts[i + 1];
    }
    const beside = (mark) => (mark.at - scale > middle || middle > mark.at + Math.max(mark.duration, scale) + scale ? 1 : 0), part = (mark) => (mark.name.kind > MARK_GC ? 1 : 0);
    return { marks: marks.sort((a, b) => beside(a) - beside(b) || part(a) - part(b) || b.duration - a.duration || a.at - b.at), others };
  }

  point(event) {
    const { marks, others } = this.under(event), tip = $('#tip');
    tip.hidden = !marks.length && !others;
    if (tip.hidden) return;
    const at = this.clicked && this.clicked.marks[this.clicked.at] === marks[this.clicked.at] ? this.clicked.at : -1; /* what has been clicked stands on top */
    const lines = marks.slice(Math.max(0, at)).concat(marks.slice(0, Math.max(0, at))).slice(0, MARKS_TOLD).map((mark) => tellMark(mark));
    if (marks.length > MARKS_TOLD) lines.push(`and ${count(marks.length - MARKS_TOLD)} more`);
    if (others) lines.push(`${count(others)} that are shorter began in this part of the time`);
    if (marks.length) lines.push(at < 0 ? 'Click to select the time of the first.' : marks.length > 1 ? 'Selected: the first. Click again for the next.' : 'Selected.');
    tip.replaceChildren(...lines.map((line, i) => {
      const p = make(i ? 'p' : 'h4', i === lines.length - 1 && i ? 'hint' : '');
      p.append(make('bdi', '', line));
      return p;
    }));
    place(tip, event);
  }
}
