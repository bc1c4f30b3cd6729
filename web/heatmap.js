/* heatmap.js - the finest structure: a column is some time, a second if there is place, and its rows are equal parts of
 * that. What comes again and again at the same moment of a second, or stands still, is a pattern here.
 */
const HEAT_ROWS = 50, HEAT_LEFT = 52, HEAT_CELL = 6; /* CSS pixels of a column, at least */
const HEAT_COLUMNS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200];

class Heatmap {
  constructor(section) {
    this.section = section;
    this.canvas = make('canvas');
    this.hint = make('div', 'time-said');
    section.append(this.hint, this.canvas);
    this.preview = null;
    watchDrag(this.canvas, (e) => this.cellAt(e), (from, to) => this.show({ from, to }), (from, to) => this.choose(from, to), (e) => this.choose(...Object.values(this.cellAt(e))));
    this.canvas.addEventListener('pointermove', (e) => this.point(e));
    this.canvas.addEventListener('mouseleave', () => showTip(null));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  show(part) {
    this.preview = part;
    this.draw();
  }

  choose(from, to) {
    this.preview = null;
    change({ sel: selText(from, to) }, true);
  }

  /* How long a column is, in steps, and how many rows it has: where there is place for ten, none is shorter than a step or
   * the interval of sampling, which would show nothing but samples. Of all threads together more may be known than stacks of
   * that step: FINE. */
  measure(width) {
    this.fine = state.lane ? null : fineCounts();
    this.unit = this.fine ? Math.min(1, this.fine.step / T.step) : 1;
    const length = (seen.to - seen.from) * T.step / 1e9;
    const s = HEAT_COLUMNS_S.find((n) => length / n * HEAT_CELL <= width) || length / (width / HEAT_CELL);
    const units = Math.max(1, Math.round(s * 1e9 / T.step / this.unit)), shortest = D.inEvents ? 1 : Math.max(1, D.interval / T.step / this.unit);
    this.column = units * this.unit;
    this.rows = Math.max(1, Math.min(HEAT_ROWS, units, Math.max(10, Math.floor(units / shortest))));
    this.columns = Math.ceil((seen.to - seen.from) / this.column);
  }

  /* The steps in which the cell under the pointer lies, and from where to where it is itself. */
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect(), cell = this.column / this.rows;
    const x = Math.min(this.columns - 1, Math.max(0, Math.floor((event.clientX - box.left - HEAT_LEFT) / this.wide)));
    const y = Math.min(this.rows - 1, Math.max(0, Math.floor((event.clientY - box.top) / this.high)));
    const begin = seen.from + x * this.column + y * cell, from = Math.floor(begin), end = begin + cell;
    return { from, to: Math.min(T.steps, Math.max(from + 1, this.fine ? Math.ceil(end - this.unit / 2) : Math.floor(end))), begin, end };
  }

  cells() {
    const count = this.columns * this.rows, cells = new Float64Array(count), scale = this.rows / this.column;
    if (this.fine) {
      this.eachFine(seen.from, seen.to, (at, samples) => { cells[Math.min(count - 1, Math.floor((at - seen.from) * scale))] += samples * this.fine.each; });
      return cells;
    }
    eachMoment(seen.from, seen.to, placesOfLane(state.lane), (i, part) => {
      const a = Math.max(0, Math.floor((T.at[i] - seen.from) * scale)), b = Math.min(count - 1, Math.floor((T.at[i] + T.span[i] - seen.from) * scale));
      for (let k = Math.min(a, count - 1); k <= b; k++) cells[k] += part.weight / (b - a + 1);
    });
    return cells;
  }

  /* FN of each fine step between steps FROM and TO that has samples, by its middle. */
  eachFine(from, to, fn) {
    const { all } = this.fine, first = Math.max(0, Math.ceil(from / this.unit - 0.5)), end = Math.min(all.length, Math.ceil(to / this.unit - 0.5));
    for (let i = first; i < end; i++) if (all[i]) fn((i + 0.5) * this.unit, all[i]);
  }

  draw() {
    const at = this.section.hidden ? null : fitted(this.canvas);
    if (!at) return;
    const { c } = at, width = at.width - HEAT_LEFT, height = at.height - AXIS;
    this.measure(width);
    this.wide = Math.min(18, width / this.columns);
    this.high = height / this.rows;
    this.axes(c, width, height);
    c.translate(HEAT_LEFT, 0);
    const key = [this.column, this.columns, this.unit, seen.from, seen.to, state.lane].join(' ');
    if (key !== this.key) {
      this.values = this.cells();
      this.key = key;
      this.most = this.values.reduce((m, v) => Math.max(m, v), 0) || 1;
    }
    const style = getComputedStyle(document.documentElement);
    c.fillStyle = style.getPropertyValue('--ground').trim();
    c.fillRect(0, 0, this.columns * this.wide, height);
    c.fillStyle = style.getPropertyValue('--accent').trim();
    this.values.forEach((value, k) => {
      if (!value) return;
      c.globalAlpha = 0.12 + 0.88 * Math.sqrt(value / this.most);
      c.fillRect(Math.floor(k / this.rows) * this.wide, k % this.rows * this.high, this.wide - (this.wide > 3 ? 0.6 : 0), this.high - (this.high > 3 ? 0.6 : 0));
    });
    c.globalAlpha = 1;
    this.outline(c, style);
    this.say();
  }

  /* When columns begin, below them; how far into a column a row is, beside them. */
  axes(c, width, height) {
    const column = this.column * T.step / 1e9, begin = seen.from * T.step / 1e9, wide = this.columns * this.wide;
    const across = Math.max(1, Math.ceil(70 / this.wide)), down = roundTime(column, height, 34), digits = Math.max(0, -Math.floor(Math.log10(down)));
    c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--pale').trim();
    c.font = '11px system-ui, sans-serif';
    c.textBaseline = 'bottom';
    for (let k = 0; k < this.columns; k += across) {
      const x = HEAT_LEFT + k * this.wide;
      c.fillRect(x, height, 1, 4);
      if (k * this.wide < Math.max(1, Math.min(wide, width - 44))) c.fillText(axisTime(begin + k * column, across * column, begin), x + 3, height + AXIS);
    }
    c.textAlign = 'right';
    for (let n = 0; n * down < column * 0.999; n++) {
      const y = n * down / column * height;
      c.fillRect(HEAT_LEFT - 5, y, 4, 1);
      if (y < height - 8) c.fillText(isLong() && down >= 60 ? `+${n * down / 60} min` : `+${(n * down).toFixed(digits)} s`, HEAT_LEFT - 7, Math.max(12, y + 6));
    }
    c.textAlign = 'left';
  }

  /* The selection goes down a column and on at the top of the next one. */
  outline(c, style) {
    const part = this.preview || T.selected, scale = this.rows / this.column;
    if (!part) return;
    const a = Math.max(0, Math.floor((part.from - seen.from) * scale)), b = Math.min(this.values.length, Math.ceil((part.to - seen.from) * scale));
    c.strokeStyle = style.getPropertyValue('--text').trim();
    for (let x = Math.floor(a / this.rows); x * this.rows < b; x++) {
      const y0 = Math.max(a - x * this.rows, 0), y1 = Math.min(b - x * this.rows, this.rows);
      c.strokeRect(x * this.wide + 0.5, y0 * this.high + 0.5, this.wide - 1, (y1 - y0) * this.high - 1);
    }
  }

  say() {
    const column = this.column * T.step / 1e9;
    this.hint.replaceChildren(make('span', '', `A column is ${isLong() && column >= 60 ? time(column * 1e9) : `${+column.toFixed(3)} s`}, from top to bottom; a cell ${time(this.column * T.step / this.rows)}. Darker is more. Drag from cell to cell to select.${this.fine ? ` Which stacks there were is known by steps of ${time(T.step)}: a selection takes whole ones.` : ''}`));
  }

  point(event) {
    if (!this.values || event.buttons) return;
    const cell = this.cellAt(event), tip = $('#tip');
    let samples = 0, weight = 0;
    if (this.fine) this.eachFine(cell.begin, cell.end, (at, n) => { samples += n; weight += n * this.fine.each; });
    else eachMoment(cell.from, cell.to, placesOfLane(state.lane), (i, part) => {
      samples += part.samples;
      weight += part.weight;
    });
    tip.hidden = false;
    tip.replaceChildren(make('h4', '', this.fine ? `${time((cell.end - cell.begin) * T.step)} from ${moment(cell.begin)} on` : stretch(cell)), make('p', 'hint', `${counted(samples)} · ${amount(weight)}`));
    place(tip, event);
  }
}
