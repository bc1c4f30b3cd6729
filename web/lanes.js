/* lanes.js - a row for each group of threads that did something, and one for each of its threads when it is unfolded: what
 * they did over time. A click shows the stack at that moment; dragging selects a part of the time on that lane.
 */
const LANES_MOST = 300, LANE_PARTS = 600;

class Lanes {
  constructor(section) {
    this.section = section;
    this.open = new Set();
    this.hint = make('div', 'time-said');
    this.rows = make('div', 'rows');
    this.stack = make('pre');
    this.stack.hidden = true;
    section.append(this.hint, this.rows, this.stack);
    new ResizeObserver(() => this.paint()).observe(this.rows);
  }

  /* The lanes that are shown: groups, and threads of those that are unfolded. */
  list(match) {
    const lanes = [];
    for (const g of T.lanes) {
      const threads = match ? g.threads.filter((t) => match.test(D.threads[t][1])) : g.threads;
      if (!threads.length || (!g.weight && !SHOWS_IDLE)) continue;
      const one = threads.length === 1;
      lanes.push({ canvas: null, key: one ? laneOfThread(threads[0]) : g.name, text: one ? D.threads[threads[0]][1] : `${this.open.has(g.name) ? '▾' : '▸'} ${g.name}  (${count(threads.length)})`, threads, group: one ? null : g.name });
      if (!one && this.open.has(g.name)) threads.forEach((t) => lanes.push({ canvas: null, key: laneOfThread(t), text: D.threads[t][1], threads: [t], one: true }));
    }
    return lanes;
  }

  show(match) {
    const all = this.list(match);
    this.match = match;
    this.lanes = all.slice(0, LANES_MOST);
    this.hint.replaceChildren(make('span', '', all.length ? 'Click a group to see its threads, a bar for the stack at that moment; drag over a lane to select that part of it.' : match ? 'No thread matches.' : 'No samples.'));
    if (all.length > this.lanes.length) this.hint.append(make('span', '', `${count(all.length - this.lanes.length)} more lanes: search for a thread's name to see them.`));
    this.rows.replaceChildren(this.axis(), ...this.lanes.map((lane) => this.row(lane)));
    this.rows.style.setProperty('--names', 'max-content');
    this.rows.style.setProperty('--names', Math.max(0, ...[...this.rows.children].map((row) => row.firstChild.scrollWidth)) + 8 + 'px');
    this.key = null;
    this.paint();
  }

  /* It stays on top of the lanes. */
  axis() {
    const row = make('div', 'lane axis');
    this.times = make('canvas');
    tellTime(this.times);
    row.append(make('span'), this.times);
    return row;
  }

  row(lane) {
    const row = make('div', 'lane' + (lane.one ? ' one' : '') + (state.lane === lane.key ? ' chosen' : '')), name = make('button'), end = lane.text.length - (lane.group ? 16 : 10);
    // what is cut is the middle: names differ at their end, and the number of threads stands there
    name.append(make('span', '', lane.text.slice(0, Math.max(0, end))), make('span', '', lane.text.slice(Math.max(0, end))));
    name.type = 'button';
    name.title = lane.text + ' · ' + amount(lane.threads.reduce((sum, t) => sum + T.threadWeight[t], 0));
    if (lane.group) name.setAttribute('aria-expanded', this.open.has(lane.group));
    name.addEventListener('click', () => (lane.group ? this.toggle(lane.group) : change({ lane: state.lane === lane.key ? '' : lane.key }, true)));
    lane.canvas = make('canvas');
    tellTime(lane.canvas);
    watchDrag(lane.canvas, (e) => stepsAt(lane.canvas, e), (from, to) => when.strip.show({ from, to, lane: lane.key }), (from, to) => {
      when.strip.preview = null;
      change({ sel: selText(from, to), lane: lane.key }, true);
    }, (e) => this.tellStack(lane, stepsAt(lane.canvas, e)));
    row.append(name, lane.canvas);
    return row;
  }

  toggle(group) {
    if (!this.open.delete(group)) this.open.add(group);
    this.show(this.match);
  }

  /* Sums of all lanes in one go. */
  sums(parts) {
    const ofThread = D.threads.map(() => []), scale = parts / (seen.to - seen.from), sums = this.lanes.map(() => new Float64Array(DOING.length * parts));
    this.lanes.forEach((lane, i) => lane.threads.forEach((t) => ofThread[t].push(i)));
    eachMoment(seen.from, seen.to, null, (i, part) => {
      const at = T.place[i], thread = T.thread[at];
      if (thread < 0) return;
      for (const lane of ofThread[thread]) spread(sums[lane], T.doing[at] * parts, parts, i, part.weight, seen.from, scale);
    });
    return sums;
  }

  paint() {
    if (this.section.hidden || !this.lanes) return;
    const first = this.lanes[0] && fitted(this.lanes[0].canvas);
    if (!first) return;
    const parts = Math.max(1, Math.min(LANE_PARTS, Math.floor(first.width / 2), seen.to - seen.from)), key = [parts, seen.from, seen.to].join(' ');
    if (key !== this.key) {
      this.values = this.sums(parts);
      this.key = key;
    }
    const at = this.lanes[0].canvas.getBoundingClientRect(), strip = when.strip.section.getBoundingClientRect(), axis = fitted(this.times);
    when.strip.align(at.left - strip.left, strip.right - at.right);
    const colours = doingColours(), style = getComputedStyle(document.documentElement);
    if (axis) drawTimes(axis.c, axis.width, axis.height, (name) => style.getPropertyValue(name).trim());
    const paper = style.getPropertyValue('--paper').trim(), accent = style.getPropertyValue('--accent').trim();
    this.lanes.forEach((lane, i) => {
      const at = fitted(lane.canvas);
      if (at) this.paintLane(at, lane, this.values[i], parts, colours);
      if (at && T.selected) this.shade(at, paper, accent);
    });
  }

  /* A lane is as high as its fullest part, or as one thread that does nothing else. */
  paintLane({ c, width, height }, lane, sums, parts, colours) {
    const all = new Float64Array(parts), wide = width / parts, one = (seen.to - seen.from) * T.step / parts;
    for (let k = 0; k < sums.length; k++) all[k % parts] += sums[k];
    const most = Math.max(D.inEvents ? 0 : one, ...all) || 1, top = new Float64Array(parts).fill(height - 1);
    for (let doing = 0; doing < DOING.length; doing++) {
      c.fillStyle = colours[doing];
      for (let k = 0; k < parts; k++) {
        const h = sums[doing * parts + k] / most * (height - 3);
        if (!h) continue;
        top[k] -= h;
        c.fillRect(k * wide, top[k], wide + 0.4, h + 0.3);
      }
    }
    lane.canvas.title = D.inEvents ? '' : `full height: ${(most / one).toFixed(1)} ${SHOWS_THREADS ? 'threads' : 'CPUs'}`;
  }

  shade({ c, width, height }, paper, accent) {
    const x = (steps) => (steps - seen.from) / (seen.to - seen.from) * width, a = x(T.selected.from), b = Math.max(a + 1, x(T.selected.to));
    c.fillStyle = paper;
    c.globalAlpha = 0.6;
    c.fillRect(0, 0, Math.max(0, a), height);
    c.fillRect(b, 0, Math.max(0, width - b), height);
    c.globalAlpha = 1;
    c.fillStyle = accent;
    c.fillRect(a, height - 1, b - a, 1);
  }

  /* The sample of LANE that is nearest to the pointer: what the thread was in then. */
  tellStack(lane, under) {
    const wide = Math.max(1, Math.round((seen.to - seen.from) / 40)), middle = (under.from + under.to) / 2;
    let best = -1, distance = Infinity;
    eachMoment(Math.max(0, under.from - wide), Math.min(T.steps, under.to + wide), placesOfLane(lane.key), (i) => {
      const d = middle < T.at[i] ? T.at[i] - middle : Math.max(0, middle - T.at[i] - T.span[i]);
      if (d < distance) [best, distance] = [i, d];
    });
    this.stack.hidden = best < 0;
    if (best < 0) return;
    const at = T.place[best], frames = [], { name, parent } = T.tree || tree;
    for (let n = T.node[at]; n > 0; n = parent[n]) frames.push(nameOf(name[n]));
    const span = T.span[best] ? ` for ${time(T.span[best] * T.step)}` : '';
    this.stack.textContent = `${moment(T.at[best])}${span} · ${D.threads[T.thread[at]][1]} · ${DOING[T.doing[at]].label} · ${amount(T.weight[best])}\n` + frames.map((f) => '  ' + f).join('\n');
  }
}

/* ---- what main.js calls ---- */

/* A tab behind the others; its section, which is hidden. */
function addTab(id, text, title) {
  const tab = make('button', '', text), section = make('section');
  tab.type = 'button';
  tab.title = title;
  tab.dataset.tab = section.id = id;
  tab.setAttribute('role', 'tab');
  section.hidden = true;
  $('#tabs').append(tab);
  $('main').append(section);
  return section;
}

/* All views of time. There are none on a page whose profile does not say when. */
class TimeViews {
  constructor() {
    this.strip = new Strip();
    this.lanes = new Lanes(addTab('lanes', 'Timeline', 'What each thread did over time'));
    this.heatmap = new Heatmap(addTab('heatmap', 'Heatmap', 'Columns of some time, from top to bottom'));
    this.was = '';
  }

  /* Before anything is drawn: what the address selects. */
  follow(words) {
    const part = (words.slow && more && slowSelection(words.slow)) || selectionOf(words), range = selectionOf({ sel: words.seen });
    seen.from = range ? range.from : 0;
    seen.to = range ? range.to : T.steps;
    const [, from, to] = SEL_WORDS.exec(words.sel) || [];
    this.strip.note = words.lane && !isLane(words.lane) ? `No thread is called ${words.lane}: all threads are shown.` : '';
    if (words.sel && !part && !(+from === 0 && +to * 1e6 >= T.steps * T.step)) this.strip.note = `${words.sel} ms is no part of the ${moment(T.steps)} that were recorded: all of the time is shown.`;
    const key = part ? [part.from, part.to, part.lane, part.text].join(' ') : '';
    if (key === this.was) return;
    this.was = key;
    selectTime(part);
  }

  render(match) {
    if (state.tab === 'lanes') this.lanes.show(match);
    if (state.tab !== 'lanes' || !this.lanes.lanes.length) this.strip.align(0, 0);
    if (state.tab === 'heatmap') this.heatmap.draw();
    this.strip.draw();
  }
}
