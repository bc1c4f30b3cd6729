/* rows.js - what the JVM reported of itself again and again, as rows below the strip: CPU of the process and of the machine, the
 * heap after collections, what was allocated between them; and when code was deoptimised and classes were loaded. M.rows is
 * written by src/profile/views/rows_page.c: each is a bounded number of parts of the time, with least, most and mean.
 */
const ROW_HIGH = 22, BAND_HIGH = 8, ROW_GAP = 2, WHOLE_CPU = 1e6, TEXT_PLACES = [2, 6, 11];

/* Points of the row that KEY says: [{ at, least, most, mean }] in ns. */
function pointsOfRow(key) {
  const row = M.rows[key], points = [], part = M.duration / MARK_PARTS;
  if (!row) return points;
  const { number } = numbersOf(row.points);
  for (let i = 0, at = 0; i < row.count; i++) {
    at += number();
    if (key === 'allocated') {
      const length = number() * 1e3, rate = number();
      points.push({ from: at * 1e3, to: at * 1e3 + length, at: at * 1e3 + length / 2, least: rate, most: rate, mean: rate });
    } else if (key === 'deopts' || key === 'classes') points.push({ at: (at + 0.5) * part, most: number() });
    else {
      const least = number(), most = least + number();
      points.push({ at: (at + 0.5) * part, least, most, mean: least + number() });
    }
  }
  return points;
}

/* The point of POINTS, which are by time, that was known last at NS; null: none yet, or what it is of had ended. */
function pointKnown(points, ns) {
  let low = 0, high = points.length;
  while (low < high) {
    const mid = low + high >> 1, { at, from = at } = points[mid];
    if (from <= ns) low = mid + 1;
    else high = mid;
  }
  const known = points[low - 1];
  return known && (known.to === undefined || ns <= known.to) ? known : null;
}

const shareOfCpus = (n) => `${(100 * n / WHOLE_CPU).toFixed(n < WHOLE_CPU / 10 ? 1 : 0)} %`;
const ofCpus = () => (M.rows.cores ? ` of ${count(M.rows.cores)} CPUs` : ' of all CPUs').replace('of 1 CPUs', 'of one CPU');
/** @type {any[]} */
const ROWS_SHOWN = [
  { key: 'cpu', over: 'machine', colour: (get) => get('--accent'), text: (most, over) => `CPU of the process, up to ${shareOfCpus(most)}${ofCpus()}${over ? `, grey: of the machine, up to ${shareOfCpus(over)}` : ''}`,
    tell: (p, over) => `CPU of the process ${spread2(p, shareOfCpus)}${over ? `, of the machine ${spread2(over, shareOfCpus)}` : ''}${ofCpus()}, at ${moment(p.at / T.step)}` },
  { key: 'heap', colour: () => 'hsl(165 55% 42%)', text: (most) => `Heap after collections, up to ${bytes(most)}`, tell: (p) => `Heap after the collection at ${moment(p.at / T.step)}: ${spread2(p, bytes)}` },
  { key: 'heapRead', colour: () => 'hsl(165 55% 42%)', text: (most) => `Heap in use, read once a second where there was a collection, up to ${bytes(most)}`, tell: (p) => `Heap in use at ${moment(p.at / T.step)}, up to a second after a collection: ${spread2(p, bytes)}` },
  { key: 'allocated', colour: () => 'hsl(265 50% 62%)', text: (most) => `Allocated between collections, up to ${bytes(most)} a second`, tell: (p) => `Allocated ${bytes(p.mean)} a second, ${moment(p.from / T.step)} – ${moment(p.to / T.step)}` },
  { key: 'deopts', band: true, colour: () => 'hsl(32 90% 50%)', text: () => 'Deoptimisations', one: 'deoptimisation', more: 'deoptimisations' },
  { key: 'classes', band: true, colour: () => 'hsl(205 65% 50%)', text: () => 'Classes loaded', one: 'class loaded', more: 'classes loaded' },
];

/* "12 MB", or "11 MB to 13 MB" where several values are in one part of the time. */
function spread2(point, write) {
  const [least, most] = [point.least, point.most].map(write);
  return least === most ? most : `${least} to ${most}`;
}

class OverviewRows {
  constructor() {
    let top = 0;
    this.rows = ROWS_SHOWN.map((row) => ({ ...row, points: pointsOfRow(row.key), beside: row.over ? pointsOfRow(row.over) : [] })).filter((row) => row.points.length);
    for (const row of this.rows) {
      row.top = top;
      row.high = row.band ? BAND_HIGH : ROW_HIGH;
      row.most = Math.max(...row.points.map((p) => p.most)) || 1;
      row.mostBeside = row.beside.length ? Math.max(...row.beside.map((p) => p.most)) : 0;
      row.sum = row.points.reduce((sum, p) => sum + p.most, 0);
      top += row.high + ROW_GAP;
    }
    this.canvas = make('canvas', 'rows-over-time');
    this.canvas.style.cssText = `height: ${Math.max(1, top - ROW_GAP)}px; margin-top: 2px; border-radius: 3px`;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', this.rows.map((row) => this.told(row)).join('; '));
    (when.strip.section.querySelector('canvas.marks') || when.strip.canvas).after(this.canvas);
    const marks = when.strip.more;
    when.strip.more = (legend) => {
      if (marks) marks(legend);
      this.legend(legend);
    };
    tellTime(this.canvas);
    watchDrag(this.canvas, (e) => stepsAt(this.canvas, e), (from, to) => when.strip.show({ from, to }), (from, to) => when.strip.choose(from, to), () => {});
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', () => { $('#tip').hidden = true; });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  told(row) {
    return row.band ? `${count(row.sum)} ${row.sum === 1 ? row.one : row.more}` : row.text(row.most, row.mostBeside);
  }

  /* Of bands, whose colours say nothing else what they are. */
  legend(legend) {
    const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
    for (const row of this.rows.filter((r) => r.band)) {
      const item = make('span', 'row', row.text() + ' '), swatch = make('i', 'swatch');
      swatch.style.background = row.colour(get);
      item.prepend(swatch);
      item.append(make('b', '', count(row.sum)));
      legend.append(item);
    }
  }

  draw() {
    const at = fitted(this.canvas);
    if (!at) return;
    const { c, width } = at, style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
    const x = (ns) => (ns / T.step - seen.from) / (seen.to - seen.from) * width;
    for (const row of this.rows) {
      c.fillStyle = get('--paper');
      c.fillRect(0, row.top, width, row.high);
      if (row.band) this.drawBand(c, row, x, width, row.colour(get));
      else this.drawLine(c, row, x, width, get);
    }
  }

  /* The more there were, the stronger. */
  drawBand(c, row, x, width, colour) {
    const wide = Math.max(2, x(M.duration / MARK_PARTS) - x(0));
    c.fillStyle = colour;
    for (const p of row.points) {
      const at = x(p.at);
      if (at < -wide || at > width + wide) continue;
      c.globalAlpha = 0.25 + 0.75 * Math.sqrt(p.most / row.most);
      c.fillRect(at - wide / 2, row.top + 1, wide, row.high - 2);
    }
    c.globalAlpha = 1;
  }

  drawLine(c, row, x, width, get) {
    const top = Math.max(row.most, row.mostBeside), y = (value) => row.top + row.high - 1 - value / top * (row.high - 3), colour = row.colour(get);
    c.save();
    c.beginPath();
    c.rect(0, row.top, width, row.high);
    c.clip();
    if (row.key === 'allocated') this.steps(c, row, x, y, colour);
    else {
      this.path(c, row.beside, x, y, get('--pale'), false);
      this.path(c, row.points, x, y, colour, true);
    }
    c.restore();
    c.font = '10px system-ui, sans-serif';
    c.textBaseline = 'top';
    const text = row.text(row.most, row.mostBeside), at = row.top + this.placeOfText(row, x, (value) => y(value) - row.top, c.measureText(text).width);
    c.strokeStyle = get('--paper'); /* what is drawn below the text can still be seen */
    c.lineWidth = 3;
    c.strokeText(text, 4, at);
    c.lineWidth = 1;
    c.fillStyle = get('--pale');
    c.fillText(text, 4, at);
  }

  /* Where text WIDE pixels long lies over least of the lines of ROW: at its top, in the middle or at its bottom. */
  placeOfText(row, x, y, wide) {
    const over = TEXT_PLACES.map(() => 0);
    for (const points of [row.points, row.beside]) points.forEach((p, i) => {
      const next = points[i + 1] || p, [a, b] = p.to === undefined ? [x(p.at), x(next.at)] : [x(p.from), x(p.to)], end = p.to === undefined ? next.mean : p.mean;
      for (let at = Math.max(a, 4); at < Math.min(b, 4 + wide); at += 4) {
        const high = y(p.mean + (end - p.mean) * (at - a) / (b - a));
        TEXT_PLACES.forEach((top, k) => { if (high >= top - 1 && high <= top + 11) over[k]++; });
      }
    });
    return TEXT_PLACES[over.indexOf(Math.min(...over))];
  }

  /* The mean as a line, what lies between least and most paler. */
  path(c, points, x, y, colour, filled) {
    const floor = y(0);
    if (!points.length) return;
    c.strokeStyle = c.fillStyle = colour;
    c.globalAlpha = 0.5;
    for (const p of points) if (p.most > p.least) c.fillRect(x(p.at) - 0.5, y(p.most), 1, Math.max(1, y(p.least) - y(p.most)));
    c.beginPath();
    points.forEach((p, i) => (i ? c.lineTo(x(p.at), y(p.mean)) : c.moveTo(x(p.at), y(p.mean))));
    c.globalAlpha = 1;
    c.stroke();
    if (points.length === 1) c.fillRect(x(points[0].at) - 1, y(points[0].mean) - 1, 3, 3);
    if (!filled) return;
    c.lineTo(x(points[points.length - 1].at), floor);
    c.lineTo(x(points[0].at), floor);
    c.globalAlpha = 0.25;
    c.fill();
    c.globalAlpha = 1;
  }

  steps(c, row, x, y, colour) {
    c.fillStyle = colour;
    for (const p of row.points) {
      const a = x(p.from), wide = Math.max(1, x(p.to) - a);
      c.globalAlpha = 0.3;
      c.fillRect(a, y(p.mean), wide, y(0) - y(p.mean));
      c.globalAlpha = 1;
      c.fillRect(a, y(p.mean), wide, 1.2);
    }
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect(), scale = (seen.to - seen.from) * T.step / box.width, ns = seen.from * T.step + (event.clientX - box.left) * scale, tip = $('#tip');
    const lines = this.rows.map((row) => {
      const known = row.band ? null : pointKnown(row.points, ns);
      if (!row.band) return known ? row.tell(known, pointKnown(row.beside, ns)) : '';
      const around = Math.max(2 * scale, M.duration / MARK_PARTS / 2), n = row.points.reduce((sum, p) => sum + (Math.abs(p.at - ns) <= around ? p.most : 0), 0);
      return n ? `${count(n)} ${n === 1 ? row.one : row.more} in this part of the time` : '';
    }).filter(Boolean);
    tip.hidden = false;
    tip.replaceChildren(make('h4', '', moment(ns / T.step)), ...lines.map((line) => make('p', '', line)));
    place(tip, event);
  }
}
