/* sandwich.js - one method in the middle: above it all ways that lead to it, below it what it calls, of all its stacks. */
const SANDWICH_STYLE = [
  '#sandwich, #chart { flex-direction: column; }',
  '#sandwich[hidden], #chart[hidden] { display: none; }',
  '.view-head { flex: none; display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: center; padding: 5px 16px; color: var(--pale); font-variant-numeric: tabular-nums; }',
  '.view-head .name { color: var(--text); font-weight: 600; overflow-wrap: anywhere; min-width: 0; }',
  '.view-head select { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 7px; padding: 3px 6px; max-width: 100%; }',
  '#sandwich .half { display: flex; flex-direction: column; min-height: 80px; flex: 1 1 50%; }',
  '#sandwich .middle { flex: none; margin: 2px 16px 2px 12px; border-top: 2px solid var(--accent); }',
  '.half > :first-child, #chart-scroller { flex: 1; min-height: 0; overflow-y: auto; overflow-x: hidden; scrollbar-gutter: stable; margin: 0 4px 0 12px; }',
  '.half canvas, #chart-canvas { position: sticky; top: 0; display: block; }',
].join('\n');

/* A place for a Graph whose elements' ids begin with PREFIX. */
function graphPlace(prefix) {
  const scroller = make('div'), canvas = make('canvas'), spacer = make('div');
  for (const [element, id] of [[scroller, 'scroller'], [canvas, 'canvas'], [spacer, 'spacer']]) element.id = prefix + id;
  scroller.append(canvas, spacer);
  return scroller;
}

/* Keys of G in SECTION, which has the focus: walking, and ENTER on what is selected. */
function walkByKeys(section, g, enter) {
  section.tabIndex = 0;
  section.addEventListener('keydown', (event) => {
    const way = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: g.flip ? 'child' : 'parent', ArrowDown: g.flip ? 'parent' : 'child' }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== section || !g.root) return;
    if (way) g.walk(way);
    else if (event.key === 'Enter' && g.selected) enter(g.selected);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/* What the calls FRAMES of one method have below them, by name. */
class CalleesNode extends CallerNode {
  constructor(name, parent, frames) {
    super(name, parent, frames, frames, { kind: 'total', samples: tree.totalSamples, weight: tree.totalWeight, cpu: cpuTimes && cpuTimes.total });
    this.selfSamples = parent ? this.sum(tree.selfSamples) : 0;
    this.selfWeight = parent ? this.sum(tree.selfWeight) : 0;
    if (!parent) this.index = 0; /* from the root on */
  }

  group() {
    const groups = new Map(), { name, end } = tree, add = (i) => {
      if (groups.has(name[i])) groups.get(name[i]).push(i);
      else groups.set(name[i], [i]);
    };
    for (const f of this.frames) {
      if (!this.parent) add(f);
      else for (let c = f + 1; c < end[f]; c = end[c]) add(c);
    }
    return [...groups].map(([id, frames]) => new CalleesNode(id, this, frames)).filter((node) => node.samples || node.weight);
  }
}

/* Half of it: "all" is not drawn, the method stands first. */
class HalfGraph extends Graph {
  top(row) { return super.top(row - 1); }

  rowAt(y) { return super.rowAt(y) + 1; }

  scrollHome() { this.scroller.scrollTop = this.flip ? this.height : 0; }
}

class Sandwich {
  constructor(section) {
    this.section = section;
    document.head.append(make('style', '', SANDWICH_STYLE));
    this.head = make('div', 'view-head');
    const choose = (node) => node.parent && methodOf[node.name] !== this.method && change({ method: String(methodOf[node.name]) }, true);
    this.halves = ['Callers', 'Callees'].map((text) => {
      const half = make('div', 'half'), prefix = text.toLowerCase() + '-';
      half.setAttribute('aria-label', text);
      half.append(graphPlace(prefix));
      const g = new HalfGraph(half, choose, () => {}, prefix);
      walkByKeys(half, g, choose);
      new ResizeObserver(() => !section.hidden && g.root && g.layout(true)).observe(g.scroller);
      return g;
    });
    section.append(this.head, this.halves[0].scroller.parentElement, make('div', 'middle'), this.halves[1].scroller.parentElement);
    this.key = null;
  }

  /* What stands in the middle: what was chosen, or the hottest. */
  middle() {
    const rows = methods();
    return rows.find((r) => state.method !== '' && r.id === +state.method) ||
      (state.method === '' ? rows.reduce((best, r) => (selfOf(r, state.unit) > (best ? selfOf(best, state.unit) : 0) ? r : best), null) : null);
  }

  show(match) {
    const row = this.middle(), has = row && row[state.unit] > 0;
    this.head.replaceChildren();
    for (const g of this.halves) g.scroller.parentElement.style.visibility = has ? '' : 'hidden';
    if (!has) {
      this.head.append(make('span', 'nothing', 'No samples of this method.'));
      return;
    }
    this.method = row.id;
    this.head.append(methodLabel(row.id, row.kind), make('span', '', `self ${percent(selfOf(row, state.unit), everything())} · total ${tipValue(row.samples, row.weight)}`),
      make('span', '', 'Above: its callers. Below: what it calls. A click puts a method in the middle.'));
    const key = [rootKeyOf(), row.id, state.unit].join(' '), fresh = key !== this.key;
    if (fresh) {
      const above = /** @type {CallerNode} */ (makeRoot('callers', row.id));
      this.key = key;
      this.roots = [above, new CalleesNode(NO_NAME, null, above.frames)];
    }
    this.halves.forEach((g, k) => {
      const root = this.roots[k], below = root.children(state.unit);
      g.match = match;
      if (fresh) g.selected = null;
      g.show(root, below.length === 1 ? below[0] : root, state.unit, k === 0, fresh);
    });
  }
}
