/* packages.js - colours by package in the place of those by kind of code, and the page on paper.
 *
 * Those packages have a colour that take most of the graph's area, all stacks as they were sampled: so a package keeps its
 * colour whatever is shown.
 */
const PACKAGE_STYLE = [
  ':root { --pack-0: 220 68% 87%; --pack-1: 56 69% 80%; --pack-2: 156 54% 64%; --pack-3: 348 25% 63%; --pack-4: 61 75% 66%; --pack-5: 33 61% 63%; --pack-6: 242 18% 64%; --pack-7: 180 31% 64%; --pack-8: 40 24% 61%; --pack-9: 60 18% 87%; }',
  ':root[data-theme="dark"] { --pack-0: 234 62% 42%; --pack-1: 32 72% 36%; --pack-2: 174 39% 34%; --pack-3: 315 36% 28%; --pack-4: 36 42% 38%; --pack-5: 16 55% 28%; --pack-6: 243 45% 31%; --pack-7: 204 72% 30%; --pack-8: 60 15% 39%; --pack-9: 20 12% 28%; }',
  ...[...Array(10).keys()].map((i) => `i.pack${i} { background: hsl(var(--pack-${i})); }`),
  '@media print { .toolbar, .corner, #tip, #menu, .fold, #crumbs button.what, #loss .more { display: none !important; } html, body { height: auto; } body { background: #fff; }' +
  ' main { display: block; } main > section { display: block !important; } main > section[hidden] { display: none !important; } #scroller { overflow: visible; } canvas { max-width: 100%; } .list, #findings, #work, #leaks { max-height: none; overflow: visible; } }',
].join('\n');
const PACKAGES_TOLD = 8, PAPER_MOST = 4000;
const LONG_DOMAINS = /^(com|org|net|io|de|edu|gov|dev|app|eu|uk|fr|ch|cn|ru|jp)$/;

/* The package of method ID, no longer than tells whose it is; '' for other code. */
function packageOf(id) {
  if (id === NO_NAME || D.nameTypes[id] !== TYPE_JAVA) return '';
  const [pack] = nameParts(id), parts = pack.split(/[/.]/).filter(Boolean);
  return parts.slice(0, LONG_DOMAINS.test(parts[0] || '') ? 3 : 2).join('.') || '(no package)';
}

class Packages {
  constructor() {
    document.head.append(make('style', '', PACKAGE_STYLE));
    this.box = make('div', 'segments');
    this.box.setAttribute('aria-label', 'Colours');
    for (const [colour, text, title] of [['', 'Kinds', 'Colours by kind of code (P)'], ['package', 'Packages', 'Colours by package (P)']]) {
      const b = make('button', '', text);
      b.type = 'button';
      b.title = title;
      b.dataset.colour = colour;
      b.addEventListener('click', () => change({ colour }));
      this.box.append(b);
    }
    this.box.id = 'colours';
    $('#flips').after(this.box);
    this.theme = '';
  }

  toggle() {
    change({ colour: state.colour ? '' : 'package' });
  }

  /* Where boxes have colours of their own. */
  apply() {
    return state.colour !== '' && !comparesRest() && !D.diff;
  }

  /* Of each name a number in this.names, or one of the two behind them: other packages, other code. */
  numbers() {
    if (this.number) return this.number;
    const area = new Map(), { name, totalWeight, totalSamples } = this.whole(), ofName = D.names.map((_, i) => packageOf(i));
    for (let i = 1; i < name.length; i++) area.set(ofName[name[i]], (area.get(ofName[name[i]]) || 0) + (totalWeight[i] || totalSamples[i]));
    area.delete('');
    this.names = [...area].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, PACKAGES_TOLD).map(([text]) => text);
    const at = new Map(this.names.map((text, i) => [text, i]));
    this.number = Uint8Array.from(ofName, (text) => (text === '' ? 9 : at.has(text) ? at.get(text) : 8));
    this.more = area.size > this.names.length;
    return this.number;
  }

  /* All of the time, unedited. */
  whole() {
    const [first] = more ? more.frames.edits.steps : [];
    return first ? first.tree : T && T.whole ? { ...tree, ...T.whole } : tree;
  }

  /* The colours of a box of method NAME. */
  of(name) {
    const theme = document.documentElement.dataset.theme;
    if (theme !== this.theme) {
      const style = getComputedStyle(document.documentElement);
      this.colours = [...Array(10).keys()].map((i) => shades(style.getPropertyValue('--pack-' + i).trim()));
      this.theme = theme;
    }
    return this.colours[this.numbers()[name]];
  }

  /* The switch; and the legend in the place of that of kinds. */
  draw() {
    const shown = ['graph', 'chart', 'sandwich'].includes(state.tab);
    this.box.hidden = !shown || Boolean(D.diff);
    press('#colours', 'colour', state.colour);
    if (!this.apply() || !shown) return;
    const numbers = this.numbers(), sums = new Float64Array(10), legend = make('div', 'legend package-kinds'), bar = make('div', 'bar');
    for (let i = 1; i <= tree.count; i++) sums[numbers[tree.name[i]]] += selfOf({ selfSamples: tree.selfSamples[i], selfWeight: tree.selfWeight[i] }, state.unit);
    const all = sums.reduce((a, b) => a + b, 0);
    [...this.names, this.more ? 'other packages' : '', 'no Java'].forEach((text, place) => {
      const i = place < this.names.length ? place : place - this.names.length + 8;
      if (!text) return;
      const item = make('span'), part = make('i', 'pack' + i);
      item.append(make('i', 'swatch pack' + i), text + ' ', make('b', '', roughly(sums[i], all)));
      item.title = part.title = `${text}: ${percent(sums[i], all)} on top of the stack`;
      part.style.width = 100 * sums[i] / (all || 1) + '%';
      legend.append(item);
      if (sums[i]) bar.append(part);
    });
    const kinds = $('#kinds'), boxes = kinds.querySelector('.graph-kinds');
    if (boxes) boxes.replaceWith(legend);
    else if (D.work) kinds.append(legend);
    else kinds.replaceChildren(bar, legend);
    kinds.hidden = false;
  }
}

/* ---- on paper: all rows of the graph, in light colours ---- */

let onPaper = null;
function beforePrint() {
  if (onPaper) return;
  onPaper = { theme: document.documentElement.dataset.theme };
  setTheme('light');
  if (state.tab !== 'graph' || !root || $('#scroller').hidden) return;
  $('#scroller').style.height = Math.min(PAPER_MOST, graph.height) + 'px';
  $('#scroller').style.flex = 'none';
  graph.scroller.scrollTop = 0;
  graph.layout();
}

function afterPrint() {
  if (!onPaper) return;
  $('#scroller').style.height = $('#scroller').style.flex = '';
  setTheme(onPaper.theme);
  onPaper = null;
  layoutGraph();
}
