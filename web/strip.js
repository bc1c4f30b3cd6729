/* strip.js - the strip above everything: what threads did over time. Dragging over it selects a part of the time, and all
 * below shows that part alone. state.sel is "from-to" in ms, state.lane a group of threads or "tid=N".
 */
const AXIS = 14, PARTS_MOST = 1200, SEL_WORDS = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/;
const TIME_STYLE = [
  '#time { margin: 6px 0 2px; }',
  '#time canvas { display: block; width: calc(100% - var(--left, 0px) - var(--right, 0px)); margin-left: var(--left, 0px); height: 74px; cursor: crosshair; touch-action: pan-y pinch-zoom; border-radius: 5px; }',
  '#time .said, .time-said { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: center; margin: 3px 0 0; color: var(--pale); min-height: 22px; font-variant-numeric: tabular-nums; }',
  '#time .said b { color: var(--text); font-weight: 600; }',
  '#time button, .time-said button { border: 1px solid var(--line); background: var(--paper); border-radius: 7px; padding: 1px 9px; color: var(--accent); }',
  '#time button[aria-pressed=true] { background: var(--accent); color: var(--paper); }',
  '#time .legend { margin-left: auto; }',
  '#lanes, #heatmap { flex: 1; min-width: 0; display: flex; flex-direction: column; padding: 6px 12px; overflow: hidden; }',
  '#lanes[hidden], #heatmap[hidden] { display: none; }',
  '#lanes .rows { flex: 1; min-height: 60px; overflow: auto; }',
  '#lanes .lane { display: flex; align-items: center; height: 24px; border-bottom: 1px solid var(--ground); }',
  '#lanes .lane.one { height: 16px; }',
  '#lanes .lane.axis { position: sticky; top: 0; z-index: 1; height: 16px; background: var(--paper); }',
  '#lanes .lane > :first-child { flex: 0 0 min(var(--names), 40%); display: flex; text-align: left; border: 0; background: none; padding: 0 6px 0 0; white-space: pre; overflow: hidden; color: var(--text); }',
  '#lanes .lane > button span { flex: none; } #lanes .lane > button span:first-child { flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; }',
  '#lanes .lane.one > button { padding-left: 16px; color: var(--pale); font-size: 12px; }',
  '#lanes .lane.chosen > button { color: var(--accent); font-weight: 600; }',
  '#lanes .lane canvas { flex: 1; min-width: 0; height: 100%; cursor: crosshair; touch-action: pan-y pinch-zoom; }',
  '#lanes pre { flex: none; max-height: 34%; overflow: auto; margin: 6px 0 0; padding: 6px 10px; border: 1px solid var(--line); border-radius: 7px; font-size: 12px; }',
  '#heatmap canvas { flex: 1; min-height: 120px; width: 100%; cursor: crosshair; touch-action: pan-y pinch-zoom; }',
  '#cursor { position: fixed; z-index: 4; width: 1px; background: var(--text); pointer-events: none; }',
  '#cursor span { position: absolute; top: 0; left: 3px; padding: 0 4px; background: var(--paper); border-radius: 3px; font-size: 11px; white-space: nowrap; font-variant-numeric: tabular-nums; }',
  '#cursor.last span { left: auto; right: 3px; }',
  '@media print { #time button { display: none; } }',
].join('\n');

/* A canvas as large as its place, ready to draw in CSS pixels; null where there is no place. */
function fitted(canvas) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !height) return null;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const c = canvas.getContext('2d');
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  return { c, width, height };
}

/* The selection that the address asks for; null: none, or it is no part of the profile. */
function selectionOf(words) {
  const part = SEL_WORDS.exec(words.sel || ''), scale = 1e6 / T.step;
  let from = 0, to = T.steps;
  if (part) {
    from = Math.min(T.steps, Math.floor(+part[1] * scale + 1e-6));
    to = Math.min(T.steps, Math.ceil(+part[2] * scale - 1e-6));
  }
  const lane = words.lane && isLane(words.lane) ? words.lane : '';
  if (to <= from || (from === 0 && to === T.steps && !lane)) return null;
  return { from, to, lane };
}

/* Steps as the address has them. */
function selText(from, to) {
  const ms = (steps) => String(Math.round(steps * T.step / 1e3) / 1e3);
  return from <= 0 && to >= T.steps ? '' : `${ms(from)}-${ms(to)}`;
}

/* The part of the time that strip, lanes and heatmap show. */
const seen = { from: 0, to: T ? T.steps : 0 };

/* Drag over CANVAS: STEPS(event) is where the pointer is, PREVIEW draws, DONE(from, to, event) gets the part; CLICK(event). What
 * a finger does from top to bottom scrolls the page: the browser takes that over, and nothing is selected. */
function watchDrag(canvas, steps, preview, done, click) {
  let begin = null, x = 0, y = 0, moved = false;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    begin = steps(event);
    [x, y, moved] = [event.clientX, event.clientY, false];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (begin === null) return;
    moved = moved || Math.abs(event.clientX - x) > 3 || Math.abs(event.clientY - y) > 3;
    const now = steps(event);
    if (moved) preview(Math.min(begin.from, now.from), Math.max(begin.to, now.to));
  });
  canvas.addEventListener('pointerup', (event) => {
    if (begin === null) return;
    const first = begin, now = steps(event);
    begin = null;
    if (moved) done(Math.min(first.from, now.from), Math.max(first.to, now.to), event);
    else click(event);
  });
  canvas.addEventListener('pointercancel', () => {
    begin = when.strip.preview = when.heatmap.preview = null;
    render();
  });
}

/* Steps under the pointer over CANVAS, whose width is what is seen: a pixel's. */
function stepsAt(canvas, event) {
  const box = canvas.getBoundingClientRect(), scale = (seen.to - seen.from) / box.width;
  const x = Math.max(0, Math.min(box.width - 1, event.clientX - box.left));
  return { from: Math.floor(seen.from + x * scale), to: Math.max(Math.floor(seen.from + x * scale) + 1, Math.ceil(seen.from + (x + 1) * scale)) };
}

/* Round times of LENGTH seconds, each with some room of so many PIXELS. */
function roundTime(length, pixels, room) {
  const raw = length / Math.max(2, pixels / room), power = 10 ** Math.floor(Math.log10(raw));
  if (isLong() && raw > 10) return [20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200].find((n) => n >= raw) || Math.ceil(raw / 86400) * 86400;
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
}

/* S seconds on an axis that has a time EVERY so many from BEGIN on. */
function axisTime(s, every, begin = 0) {
  return isLong() ? clock(s, every < 1 ? 2 : 0, every % 60 > 0 || begin % 60 > 0) : `${+s.toFixed(3)} s`;
}

/* The axis of a part of the time, as a rule of that which is seen, in the last pixels above BOTTOM. */
function drawTimes(c, width, bottom, get, { from, to } = seen) {
  const length = (to - from) * T.step / 1e9, every = roundTime(length, width, 110), begin = from * T.step / 1e9;
  c.fillStyle = get('--pale');
  c.font = '11px system-ui, sans-serif';
  c.textBaseline = 'bottom';
  for (let n = Math.ceil(begin / every - 1e-9); n * every <= begin + length; n++) {
    const x = (n * every - begin) / length * width;
    c.fillRect(Math.min(x, width - 1), bottom - AXIS, 1, 4);
    if (x < width - 40) c.fillText(axisTime(n * every, every), x + 3, bottom);
  }
}

/* A line through all that has the time from left to right, where the mouse is over CANVAS, and which time it is. */
function tellTime(canvas) {
  const hide = () => { cursor.hidden = true; };
  canvas.addEventListener('pointermove', (event) => {
    const at = canvas.getBoundingClientRect(), part = Math.min(1, Math.max(0, (event.clientX - at.left) / at.width)), lanes = state.tab === 'lanes' && when.lanes.rows.getBoundingClientRect();
    const top = Math.max(0, when.strip.canvas.getBoundingClientRect().top), bottom = lanes ? Math.min(lanes.bottom, innerHeight) : Math.max(at.bottom, when.strip.canvas.getBoundingClientRect().bottom);
    if (!cursor.isConnected) {
      document.body.append(cursor);
      addEventListener('scroll', hide, true);
    }
    cursor.hidden = false;
    cursor.className = part > 0.9 ? 'last' : '';
    cursor.style.cssText = `left: ${at.left + part * at.width}px; top: ${top}px; height: ${bottom - top}px`;
    cursor.firstChild.textContent = moment(seen.from + part * (seen.to - seen.from));
  });
  canvas.addEventListener('pointerleave', hide);
}

const cursor = make('div');
cursor.id = 'cursor';
cursor.append(make('span'));

class Strip {
  constructor() {
    const section = make('section'), style = make('style', '', TIME_STYLE);
    document.head.append(style);
    section.id = 'time';
    section.setAttribute('aria-label', 'What threads did over time');
    this.canvas = make('canvas');
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.said = make('div', 'said');
    section.append(this.canvas, this.said);
    $('header').append(section);
    this.section = section;
    this.note = ''; /* told below it; more: of rows of marks */
    this.more = null;
    this.preview = null;
    watchDrag(this.canvas, (e) => stepsAt(this.canvas, e), (from, to) => this.show({ from, to }), (from, to) => this.choose(from, to), () => this.choose(0, T.steps));
    this.canvas.addEventListener('keydown', (e) => this.key(e));
    tellTime(this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /* Begin and end below one another with what else has the same time: so many pixels to the left and right of it. */
  align(left, right) {
    this.section.style.setProperty('--left', left + 'px');
    this.section.style.setProperty('--right', right + 'px');
  }

  choose(from, to) {
    this.preview = null;
    change({ sel: selText(from, to), zoom: state.zoom }, true);
  }

  show(part) {
    this.preview = part;
    this.draw();
  }

  /* Arrows move the selection, which keeps its length at the edges; with Shift its end. */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const by = step * Math.max(1, Math.round((seen.to - seen.from) / 50));
    const now = T.selected || { from: seen.from, to: Math.min(seen.to, seen.from + Math.abs(by) * 5) };
    const moved = Math.max(event.shiftKey ? now.from + 1 - now.to : -now.from, Math.min(T.steps - now.to, by));
    if (moved || !T.selected) this.choose(now.from + (event.shiftKey ? 0 : moved), now.to + moved);
    event.preventDefault();
    event.stopPropagation();
  }

  draw() {
    const at = fitted(this.canvas);
    if (!at) return;
    const { c, width, height } = at, parts = this.parts(width);
    const key = [parts, seen.from, seen.to, state.lane].join(' ');
    if (key !== this.drawn) {
      this.sums = sumsOverTime(seen.from, seen.to, parts, placesOfLane(state.lane));
      this.drawn = key;
    }
    const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
    c.fillStyle = get('--paper');
    c.fillRect(0, 0, width, height);
    this.drawSums(c, width, height - AXIS, parts);
    drawTimes(c, width, height, get);
    c.textBaseline = 'top';
    c.fillText(this.scale(), 4, 2);
    const part = this.preview || T.selected;
    if (part && !part.marks) this.drawSelection(c, width, height - AXIS, part, get);
    this.say(part);
  }

  /* How many bars. One has some samples of a thread at least, each of which stands for more or less time than passed: five of CPU
   * time, two of wall time. */
  parts(width) {
    const length = seen.to - seen.from, least = D.inEvents ? 1 : Math.max(1, (D.work ? 2 : 5) * (D.interval || 0) / T.step);
    return Math.max(1, Math.min(PARTS_MOST, Math.floor(width / 2), length, Math.max(20, Math.floor(length / least))));
  }

  drawSums(c, width, height, parts) {
    const colours = doingColours(), all = new Float64Array(parts), wide = width / parts;
    for (const row of this.sums) for (let k = 0; k < parts; k++) all[k] += row[k];
    this.most = Math.max(...all) || 1;
    this.perPart = (seen.to - seen.from) * T.step / parts;
    const top = new Float64Array(parts).fill(height);
    this.sums.forEach((row, doing) => {
      c.fillStyle = colours[doing];
      for (let k = 0; k < parts; k++) {
        const h = row[k] / this.most * (height - 2);
        if (!h) continue;
        top[k] -= h;
        c.fillRect(k * wide, top[k], wide + 0.4, h + 0.4);
      }
    });
  }

  /* What the highest bar stands for. */
  scale() {
    const rate = this.most / this.perPart;
    if (D.inEvents) return `${amount(rate * 1e9)} a second`;
    const n = rate >= 10 ? Math.round(rate) : rate.toFixed(1);
    return SHOWS_THREADS ? `${n} threads` : `${n} CPUs`;
  }

  drawSelection(c, width, height, part, get) {
    const x = (steps) => (steps - seen.from) / (seen.to - seen.from) * width, a = x(part.from), b = Math.max(x(part.to), a + 1);
    c.fillStyle = get('--paper');
    c.globalAlpha = 0.72;
    c.fillRect(0, 0, Math.max(0, a), height);
    c.fillRect(b, 0, Math.max(0, width - b), height);
    c.globalAlpha = 1;
    c.strokeStyle = get('--accent');
    c.strokeRect(a + 0.5, 0.5, Math.max(1, b - a - 1), height - 1);
  }

  say(part) {
    const said = this.said;
    said.replaceChildren();
    if (this.preview) said.append(make('b', '', stretch(part)));
    else if (part) this.saySelection(part);
    if (this.note) said.append(make('span', '', this.note));
    else if (!part) said.append(make('span', '', `Drag over the strip: everything below shows that part of ${moment(T.steps)} alone.`));
    if (seen.from > 0 || seen.to < T.steps) this.button('Whole time', 'Show the whole time in the strip', () => zoomTime(0, T.steps));
    const legend = make('div', 'legend');
    DOING.forEach(({ label, css, title }, i) => {
      if (!this.sums[i].some((n) => n > 0) || (D.work && !comparesRest())) return; /* those stand in the bar above, too */
      const item = make('span', '', label);
      item.title = title || '';
      item.prepend(make('i', 'swatch ' + css));
      legend.append(item);
    });
    if (this.more) this.more(legend);
    said.append(legend);
    this.canvas.setAttribute('aria-label', `What threads did over ${moment(T.steps)}` + (part ? `; selected: ${stretch(part)}` : ''));
  }

  saySelection(part) {
    const whole = T.whole.totalWeight[0], w = tree.totalWeight[0];
    this.said.append(make('b', '', part.text || stretch(part)));
    if (part.lane && !tree.totalSamples[0]) this.said.append(make('span', '', waitsLeftOut(part) ? `${nameOfLane(part.lane)} waited for work in that time` : `no samples of ${nameOfLane(part.lane)} in that time`));
    else this.said.append(make('span', '', `${part.lane ? nameOfLane(part.lane) + ' · ' : ''}${counted(tree.totalSamples[0])} · ${amount(w)} · ${percent(w, whole)} of all`));
    if (part.to - part.from < seen.to - seen.from) this.button('Zoom in', 'The strip shows this part alone', () => zoomTime(part.from, part.to));
    const rest = this.button('Compare with the rest', 'Colours tell what has another share of this part than of the rest of the time (C)', () => change({ rest: state.rest ? '' : '1' }));
    rest.setAttribute('aria-pressed', String(comparesRest()));
    const virtual = part.virtual || part.lane === 'tid=0';
    if (virtual) this.said.append(make('span', '', 'A span of a virtual thread has the name of its carrier, samples that of the virtual thread: this is what all virtual threads did then.'));
    if (more) more.sayCover(part, this);
    if (!virtual && (part.lane || part.marks) && showsElsewhere() >= 0) this.button('In wall time', 'What these threads did then, also while they waited: event wall', () => showEvent(showsElsewhere()));
    this.button('✕ Everything', 'Show all of the time again (Esc)', () => change({ sel: '', lane: '' }, true));
  }

  button(text, title, action) {
    const b = make('button', '', text);
    b.type = 'button';
    b.title = title;
    b.addEventListener('click', action);
    this.said.append(b);
    return b;
  }
}

function zoomTime(from, to) {
  seen.from = from;
  seen.to = to;
  change({ seen: selText(from, to) }, true);
}
