/* graph.js - the graph on its canvas.
 *
 * A layout is made once for each zoom, size, view or unit: rows of boxes, without those too narrow
 * to be seen. Scrolling and pointing only use the layout. The canvas is as large as the window and stays
 * there; a spacer as high as the graph makes the scroll bar.
 */
const ROW = 19, MIN_WIDTH = 0.6, REST = -2;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

class Graph {
  constructor(section, onZoom, onSelect, ids = '') {
    const find = (id) => section.querySelector('#' + ids + id);
    this.scroller = find('scroller');
    this.canvas = find('canvas');
    this.spacer = find('spacer');
    this.context = this.canvas.getContext('2d', { alpha: false });
    this.onZoom = onZoom;
    this.onSelect = onSelect;
    this.rows = [];
    this.hover = this.selected = null;
    this.match = null;
    this.widths = new Map();
    this.characters = new Map();
    this.context.font = FONT;
    this.pending = false;
    this.readColours();
    this.scroller.addEventListener('scroll', () => this.schedule());
    this.canvas.addEventListener('mousemove', (e) => this.point(e));
    this.canvas.addEventListener('mouseleave', () => this.point(null));
    this.canvas.addEventListener('click', (e) => {
      const box = this.boxAt(e.offsetX, e.offsetY);
      if (box && box.node && !String(window.getSelection())) this.onZoom(box.node, e);
    });
  }

  /* ---- layout ---- */

  /* HOME: begin at the zoomed frame, else stay where the reader has scrolled to. */
  show(root, zoom, unit, flip, home) {
    this.root = root;
    this.zoom = zoom;
    this.unit = unit;
    this.flip = flip;
    this.layout(home);
  }

  layout(home) {
    const width = this.scroller.clientWidth;
    const ancestors = [];
    for (let n = this.zoom.parent; n; n = n.parent) ancestors.push(n);
    this.rows = ancestors.reverse().map((node) => [{ node, depth: node.depth, x: 0, width, faded: true }]);
    this.width = width;
    if (this.zoom[this.unit] > 0) this.place(this.zoom, 0, width);
    this.height = this.rows.length * ROW + 2;
    this.hover = null;
    if (this.selected && !this.findBox(this.selected)) this.selected = null;
    this.resize();
    if (home) this.scrollHome();
    this.draw();
  }

  /* Boxes of NODE and of all below it; an own stack, since Java's can be thousands deep. */
  place(node, x, width) {
    const scale = width / (node[this.unit] - (node.parent ? 0 : selfOf(node, this.unit))), open = [{ node, depth: node.depth, x, width }];
    while (open.length) {
      const box = open.pop();
      (this.rows[box.depth] || (this.rows[box.depth] = [])).push(box);
      if (!box.node) continue;
      const below = box.node.children(this.unit), boxes = [], depth = box.depth + 1;
      for (let i = 0, at = box.x; i < below.length; i++) {
        const w = below[i][this.unit] * scale;
        if (w < MIN_WIDTH) {
          this.placeRest(boxes, below, i, at, scale, depth);
          break;
        }
        boxes.push({ node: below[i], depth, x: at, width: w });
        at += w;
      }
      while (boxes.length) open.push(boxes.pop());
    }
  }

  /* One grey box for the children of BELOW from FROM on, which are too narrow each. */
  placeRest(boxes, below, from, x, scale, depth) {
    let sum = 0;
    for (let i = from; i < below.length; i++) sum += below[i][this.unit];
    if (sum * scale >= MIN_WIDTH)
      boxes.push({ node: null, depth, x, width: sum * scale, hidden: below.length - from, value: sum });
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
    if (ratio !== this.ratio || width !== this.canvasWidth || height !== this.viewHeight) {
      this.canvas.style.width = width + 'px';
      this.canvas.style.height = height + 'px';
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.ratio = ratio;
      this.canvasWidth = width;
      this.viewHeight = height;
    }
    this.spacer.style.height = Math.max(0, this.height - height) + 'px';
  }

  /* The root, the zoomed frame's row, is where one starts to read. */
  scrollHome() {
    const row = Math.max(0, this.zoom.depth - 3);
    this.scroller.scrollTop = this.flip ? this.height - this.viewHeight - row * ROW : row * ROW;
  }

  top(row) {
    const y = this.flip ? Math.max(this.height, this.viewHeight) - (row + 1) * ROW : row * ROW;
    return y - this.scroller.scrollTop;
  }

  rowAt(y) {
    y += this.scroller.scrollTop;
    return Math.floor((this.flip ? Math.max(this.height, this.viewHeight) - y : y) / ROW);
  }

  boxAt(x, y) {
    const row = this.rows[this.rowAt(y)];
    if (!row) return null;
    let low = 0, high = row.length;
    while (low < high) {
      const mid = low + high >> 1;
      if (row[mid].x + row[mid].width <= x) low = mid + 1;
      else high = mid;
    }
    return low < row.length && row[low].x <= x ? row[low] : null;
  }

  findBox(node) {
    return (this.rows[node.depth] || []).find((box) => box.node === node);
  }

  /* ---- drawing ---- */

  schedule() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    this.paper = get('--paper');
    this.ink = get('--box-ink');
    this.border = get('--box-border');
    this.restColour = get('--box-rest');
    this.matchColours = shades(get('--box-match'));
    this.colours = KINDS.map((kind) => shades(get('--kind-' + kind.css)));
    this.accent = get('--accent');
  }

  draw() {
    const c = this.context, from = performance.now();
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = this.paper;
    c.fillRect(0, 0, this.width, this.viewHeight);
    c.font = FONT;
    c.textBaseline = 'middle';
    const a = this.rowAt(0), b = this.rowAt(this.viewHeight);
    for (let row = Math.max(0, Math.min(a, b)); row <= Math.max(a, b) && row < this.rows.length; row++)
      this.drawRow(this.rows[row], this.top(row));
    this.outline(this.hover, 1);
    this.outline(this.selected && this.findBox(this.selected), 2);
    this.drawTime = performance.now() - from;
  }

  drawRow(row, y) {
    const c = this.context, height = ROW - 1;
    for (const box of row) {
      const gap = box.width > 3 ? 1 : box.width > 1.5 ? 0.5 : 0;
      c.fillStyle = this.colour(box);
      c.globalAlpha = this.alpha(box);
      c.fillRect(box.x, y, box.width - gap, height);
      if (box.width > 26 && box.node) this.label(box, y + height / 2 + 0.5);
    }
    c.globalAlpha = 1;
  }

  isMatch(node) {
    return this.match && node.name >= 0 && this.match.names[node.name] === 1;
  }

  colour(box) {
    if (!box.node || !box.node.parent) return this.restColour;
    if ((D.diff || comparesRest()) && !this.isMatch(box.node))
      return (D.diff ? changeColour : restColour)(box.node, this.unit) || this.restColour;
    const list = this.isMatch(box.node) ? this.matchColours : more && state.colour ? more.packageColours(box.node.name) : this.colours[box.node.kind];
    return list[(box.node.name * 7) % list.length];
  }

  alpha(box) {
    const dim = this.match && !(box.node && this.isMatch(box.node)) ? 0.4 : 1;
    return box.faded ? dim * 0.55 : dim;
  }

  label(box, y) {
    const c = this.context, room = box.width - 8;
    const text = this.fit(box.node.name, room);
    if (!text) return;
    c.fillStyle = this.ink;
    c.globalAlpha = Math.max(this.alpha(box), 0.6);
    c.fillText(text, Math.max(box.x, 0) + 4, y);
  }

  /* Width of TEXT by the widths of its characters: hundreds of times faster than asking the canvas. */
  measure(text) {
    let width = 0;
    for (const character of text) {
      let w = this.characters.get(character);
      if (w === undefined) this.characters.set(character, w = this.context.measureText(character).width);
      width += w;
    }
    return width;
  }

  /* The longest spelling of a name that fits into ROOM pixels, cut when none does. */
  fit(name, room) {
    let choices = this.widths.get(name);
    if (!choices) {
      choices = nameChoices(name).map((text) => ({ text, width: this.measure(text) }));
      this.widths.set(name, choices);
    }
    for (const choice of choices) if (choice.width <= room) return choice.text;
    const text = choices[choices.length - 1].text;
    let left = room - this.measure('…'), length = 0;
    while (length < text.length && (left -= this.measure(text[length])) >= 0) length++;
    return length >= 1 ? text.slice(0, length) + '…' : '';
  }

  outline(box, thickness) {
    if (!box || !box.node) return;
    const c = this.context;
    c.strokeStyle = thickness > 1 ? this.accent : this.border;
    c.lineWidth = thickness;
    const inset = thickness / 2;
    c.strokeRect(box.x + inset, this.top(box.depth) + inset, Math.max(box.width - 1 - thickness, 1), ROW - 1 - thickness);
  }

  /* ---- pointing, selecting, walking ---- */

  point(event) {
    const box = event && this.boxAt(event.offsetX, event.offsetY);
    this.canvas.style.cursor = box && box.node ? 'pointer' : 'default';
    if (box !== this.hover) {
      this.hover = box;
      this.schedule();
    }
    showTip(box, event, this);
  }

  select(node) {
    this.selected = node;
    const top = this.top(node.depth);
    if (top < 0) this.scroller.scrollTop += top - ROW * 2;
    else if (top + ROW > this.viewHeight) this.scroller.scrollTop += top + ROW * 3 - this.viewHeight;
    this.draw();
    this.onSelect(node);
  }

  /* Move the selection: 'parent', 'child', 'left' or 'right'. */
  walk(where) {
    const now = this.selected;
    if (!now || !this.findBox(now)) return this.select(this.zoom);
    const row = this.rows[now.depth], at = row.findIndex((box) => box.node === now);
    const target = where === 'parent' ? now.parent
      : where === 'child' ? (now.children(this.unit)[0] || null)
      : (row[at + (where === 'left' ? -1 : 1)] || {}).node;
    if (target && this.findBox(target)) this.select(target);
    return undefined;
  }

  /* All boxes that match, row by row. */
  matches() {
    const found = [];
    if (this.match) this.rows.forEach((row) => row.forEach((box) => box.node && this.isMatch(box.node) && found.push(box)));
    return found;
  }

  /* Select the next match (STEP 1) or the previous one (-1); returns [number, of how many]. */
  nextMatch(step) {
    const found = this.matches();
    if (!found.length) return [0, 0];
    const at = found.findIndex((box) => box.node === this.selected);
    const to = at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length;
    this.select(found[to].node);
    return [to + 1, found.length];
  }
}

/* Some neighbours of an "h s% l%" colour, so that boxes side by side can be told apart. */
function shades(colour) {
  const [h, s, l] = colour.split(/[\s%]+/).map(Number);
  return [0, 3, -3, 1.5, -1.5, 4.5, -4.5].map((d, i) => `hsl(${h + (i % 3 - 1) * 4} ${s}% ${l + d}%)`);
}
