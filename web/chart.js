/* chart.js - the stacks of one thread in the order of time: neighbouring samples with the same callers are one box. What is no
 * sample is a gap.
 */
const CHART_THREADS = 300, CHART_EVENT_PIXELS = 2, CHART_JOIN = 0.6, CHART_SPLIT = 2000, CHART_SPLIT_ALL = 200000;
const CHART_STYLE = [
  '#chart-times { flex: none; height: 16px; margin: 0 19px 0 12px; }',
  '#chart pre { flex: none; max-height: 30%; overflow: auto; margin: 4px 12px 6px; padding: 6px 10px; border: 1px solid var(--line); border-radius: 7px; font-size: 12px; }',
].join('\n');

/* A frame over some time; its callers are those of node INDEX of the tree. */
class ChartNode {
  constructor(index, depth, samples, weight, begin, end) {
    this.index = index;
    this.depth = depth;
    this.samples = samples;
    this.weight = weight;
    this.begin = begin;
    this.end = end;
    this.name = tree.name[index];
    this.kind = tree.kind[index];
  }

  get parent() {
    return this.index ? new ChartNode(tree.parent[this.index], this.depth - 1, 0, 0, 0, 0) : null;
  }
}

/* Samples of a thread between two steps, in their order and apart from one another: from, to, node, samples and weight of each. */
class ThreadSamples {
  constructor(thread, from, to, least) {
    this.list = [];
    this.split = 0;
    const longest = T.longest + (D.inEvents ? 0 : this.longestOwn(thread));
    for (let i = firstMoment(Math.max(0, from - longest)); i < T.count && T.at[i] < to + longest; i++) {
      const place = T.place[i];
      if (T.thread[place] === thread && T.samples[i] && T.shown[place] && T.drawn[place]) this.add(i, T.drawn[place], least);
    }
    this.list.sort((a, b) => a.begin - b.begin);
    this.setApart(from, to);
  }

  /* Steps that a sample of THREAD stands for, at most. */
  longestOwn(thread) {
    let most = 0;
    for (let i = 0; i < T.count; i++) if (T.thread[T.place[i]] === thread && T.samples[i] && !(T.span[i] && T.samples[i] === 1)) most = Math.max(most, T.weight[i] / T.samples[i]);
    return most / T.step;
  }

  add(i, node, least) {
    const at = T.at[i], span = T.span[i], n = T.samples[i], weight = T.weight[i], own = D.inEvents ? least : Math.max(weight / n / T.step, 1e-9);
    if (n === 1) this.list.push({ begin: span ? at : at - own, end: at + span, node, samples: 1, weight, own });
    else if (span / (n - 1) > own * (1 + CHART_JOIN) && n <= CHART_SPLIT && this.split + n <= CHART_SPLIT_ALL) {
      this.split += n;
      for (let k = 0; k < n; k++) this.list.push({ begin: at + span * k / (n - 1) - own, end: at + span * k / (n - 1), node, samples: 1, weight: weight / n, own });
    }
    else this.list.push({ begin: at - own, end: at + span, node, samples: n, weight, own });
  }

  /* One after the other, without the small gaps between two that follow one another. */
  setApart(from, to) {
    let last = -Infinity;
    this.list = this.list.filter((one) => {
      if (one.begin - last <= Math.max(one.own * CHART_JOIN, 1) || one.begin < last) one.begin = last;
      one.begin = Math.max(from, one.begin);
      one.end = Math.min(to, one.end);
      if (one.end <= one.begin) return false;
      last = one.end;
      return true;
    });
  }
}

class Chart extends Graph {
  constructor(section) {
    const head = make('div', 'view-head'), times = make('canvas'), stack = make('pre');
    document.head.append(make('style', '', CHART_STYLE));
    times.id = 'chart-times';
    section.append(head, times, graphPlace('chart-'), stack);
    super(section, (node, event) => this.tell(event), () => {}, 'chart-');
    this.section = section;
    this.times = times;
    this.stack = stack;
    this.choice = make('select');
    this.choice.setAttribute('aria-label', 'Thread');
    this.choice.addEventListener('change', () => change({ chart: this.choice.value }, true));
    this.choice.addEventListener('keydown', (event) => event.stopPropagation()); /* letters choose there */
    this.span = make('span');
    head.append(this.choice, this.span, make('span', '', 'Neighbouring samples with the same callers are one box: a long one may be many short calls. In gaps nothing was sampled. Drag to see a part of the time.'));
    walkByKeys(section, this, (node) => this.choose(node));
    new ResizeObserver(() => !section.hidden && this.root && this.layout(false)).observe(this.scroller);
    watchDrag(this.canvas, (event) => this.stepsAt(event), (from, to) => when.strip.show({ from, to, lane: '' }), (from, to) => {
      this.dragged = true;
      when.strip.preview = null;
      change({ sel: selText(from, to) }, true);
    }, () => { this.dragged = false; });
    this.key = null;
  }

  /* The thread that is shown: the chosen one, or of the selected row of the timeline, or the heaviest. */
  thread() {
    const [asked] = state.chart ? threadsOfLane(state.chart) : [], [ofLane] = state.lane ? threadsOfLane(state.lane) : [];
    return asked !== undefined ? asked : ofLane !== undefined || (T.selected && T.selected.lane) ? ofLane : this.all()[0];
  }

  /* What THREAD has, of the part of the time that is selected, and of what steps have left. */
  weightOf(thread) {
    if (state.edit) return this.weightsLeft()[thread];
    return T.selected ? T.threadSums[thread][1] : T.threadWeight[thread];
  }

  weightsLeft() {
    const part = T.selected || { from: 0, to: T.steps, lane: '' }, key = [state.edit, part.from, part.to, part.lane, part.text].join('\n');
    if (this.leftOf === key) return this.left;
    const left = this.left = new Float64Array(D.threads.length), add = (i, { weight }) => {
      const thread = T.thread[T.place[i]];
      if (thread >= 0 && T.drawn[T.place[i]]) left[thread] += weight;
    };
    if (part.each) part.each(add);
    else eachMoment(part.from, part.to, placesOfLane(part.lane), add);
    this.leftOf = key;
    return left;
  }

  all() {
    return T.lanes.flatMap((g) => g.threads).sort((a, b) => this.weightOf(b) - this.weightOf(a) || a - b);
  }

  showThread(match) {
    const part = T.selected && !T.selected.marks ? T.selected : seen, thread = this.thread(), fresh = [thread, part.from, part.to].join(' ') !== this.shown;
    this.shown = [thread, part.from, part.to].join(' ');
    this.match = match;
    this.from = part.from;
    this.to = part.to;
    this.of = thread;
    if (fresh) this.stack.textContent = '';
    this.stack.hidden = !this.stack.textContent;
    if (fresh) this.selected = null;
    const list = this.all();
    this.choice.replaceChildren(...[...new Set([thread, ...list.slice(0, CHART_THREADS)])].filter((t) => t !== undefined).sort((a, b) => list.indexOf(a) - list.indexOf(b)).map((t) => {
      const option = make('option', '', `${D.threads[t][1]} · ${amount(this.weightOf(t))}`);
      option.value = laneOfThread(t);
      option.selected = t === thread;
      return option;
    }));
    this.unit = state.unit;
    this.flip = false;
    this.root = this.zoom = new ChartNode(0, -1, 0, 0, 0, 0);
    this.layout(fresh);
    this.span.textContent = stretch(this) + (this.samples.length ? '' : `: no samples of ${thread === undefined && state.lane ? nameOfLane(state.lane) : 'this thread'}`);
  }

  layout(home) {
    this.width = this.scroller.clientWidth;
    this.scale = this.width / Math.max(1, this.to - this.from);
    this.samples = this.of === undefined ? [] : new ThreadSamples(this.of, this.from, this.to, CHART_EVENT_PIXELS / this.scale).list;
    this.rows = [];
    this.join();
    this.height = this.rows.length * ROW + 2;
    this.hover = null;
    if (this.selected) this.selected = this.again(this.selected);
    this.resize();
    if (home) this.scroller.scrollTop = 0;
    this.draw();
    this.drawTimes();
  }

  again({ depth, index, begin }) {
    const box = (this.rows[depth] || []).find(({ node }) => node && node.index === index && node.begin === begin);
    return box ? box.node : null;
  }

  /* Boxes of all rows: one ends where the next sample has another frame there, or where there is none. */
  join() {
    const open = []; /* of each row { index, begin, samples, weight }: sums before it */
    let samples = 0, weight = 0, last = 0;
    const close = (depth) => {
      while (open.length > depth) {
        const { index, begin, ...before } = open.pop();
        this.put(open.length, index, begin, last, samples - before.samples, weight - before.weight);
      }
    };
    for (const one of this.samples) {
      const way = [];
      for (let n = one.node; n > 0; n = tree.parent[n]) way.push(n);
      way.reverse();
      let same = 0;
      if (one.begin <= last) while (same < open.length && same < way.length && open[same].index === way[same]) same++;
      close(same);
      for (let depth = same; depth < way.length; depth++) open.push({ index: way[depth], begin: one.begin, samples, weight });
      samples += one.samples;
      weight += one.weight;
      last = one.end;
    }
    close(0);
  }

  /* What is too narrow to draw is a grey box with its neighbours. */
  put(depth, index, begin, end, samples, weight) {
    const row = this.rows[depth] || (this.rows[depth] = []), x = (begin - this.from) * this.scale, width = (end - begin) * this.scale, before = row[row.length - 1];
    if (width >= MIN_WIDTH) row.push({ node: new ChartNode(index, depth, samples, weight, begin, end), depth, x, width });
    else if (before && !before.node && x - before.x - before.width < MIN_WIDTH) {
      before.width = x + width - before.x;
      before.hidden++;
      before.value += this.unit === 'weight' ? weight : samples;
    } else row.push({ node: null, depth, x, width: MIN_WIDTH, hidden: 1, value: this.unit === 'weight' ? weight : samples });
  }

  drawTimes() {
    const at = fitted(this.times), style = getComputedStyle(document.documentElement);
    if (at) drawTimes(at.c, at.width, at.height, (name) => style.getPropertyValue(name).trim(), this);
  }

  stepsAt(event) {
    const box = this.canvas.getBoundingClientRect(), x = Math.max(0, Math.min(this.width - 1, event.clientX - box.left));
    const from = Math.floor(this.from + x / this.scale);
    return { from, to: Math.max(from + 1, Math.ceil(this.from + (x + 1) / this.scale)) };
  }

  point(event) {
    const box = event && this.boxAt(event.offsetX, event.offsetY), tip = $('#tip');
    if (box !== this.hover) {
      this.hover = box;
      this.schedule();
    }
    this.canvas.style.cursor = box && box.node ? 'pointer' : 'crosshair';
    tip.hidden = !box;
    if (!box) return;
    const list = make('dl'), row = (name, text) => list.append(make('dt', '', name), make('dd', '', text)), n = box.node;
    tip.replaceChildren(make('h4', '', n ? nameOf(n.name) : `${count(box.hidden)} boxes, too narrow to draw`));
    if (n) {
      row('from', moment(n.begin));
      row('for', time((n.end - n.begin) * T.step));
      row('samples', `${counted(n.samples)} · ${amount(n.weight)}`);
      tip.append(list);
    } else tip.append(make('p', 'hint', 'Drag over them to see that part of the time.'));
    place(tip, event);
  }

  /* The stack under the pointer. */
  tell(event) {
    if (this.dragged) return;
    const at = this.from + event.offsetX / this.scale, one = this.samples.find((s) => s.end >= at);
    if (one && one.begin <= at) this.tellStack(one);
  }

  tellStack({ begin, end, node, samples, weight }) {
    const frames = [];
    for (let n = node; n > 0; n = tree.parent[n]) frames.push(nameOf(tree.name[n]));
    this.stack.hidden = false;
    this.stack.textContent = `${moment(begin)} for ${time((end - begin) * T.step)} · ${D.threads[this.of][1]} · ${counted(samples)} · ${amount(weight)}\n` + frames.map((f) => '  ' + f).join('\n');
  }

  /* By the keyboard: the time of the box, and its stack. */
  choose(node) {
    const one = this.samples.find((s) => s.end > node.begin);
    if (one) this.tellStack(one);
  }

  walk(where) {
    const now = this.selected && this.findBox(this.selected);
    if (!now) {
      const first = (this.rows[0] || []).find((box) => box.node);
      return first && this.select(first.node);
    }
    const row = this.rows[now.depth].filter((box) => box.node), at = row.indexOf(now), { begin, end } = now.node;
    const target = where === 'left' ? row[at - 1] : where === 'right' ? row[at + 1]
      : (this.rows[now.depth + (where === 'child' ? 1 : -1)] || []).find((box) => box.node && (where === 'child' ? box.node.begin >= begin && box.node.begin < end : box.node.begin <= begin && box.node.end >= end));
    return target && this.select(target.node);
  }

  select(node) {
    super.select(node);
    tellFor(`${shortName(node.name)}: ${moment(node.begin)}, ${time((node.end - node.begin) * T.step)}`);
  }
}
