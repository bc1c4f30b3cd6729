/* main.js - the state of the page, its controls, its keys and its address.
 *
 * Everything that can be seen follows from `state`, and `state` stands in the address after '#': a
 * reload, a bookmark or a link in a chat shows the same. Zooming makes an entry in the browser's history,
 * so its Back button works.
 */
const $ = (selector) => document.querySelector(selector);
const UNITS = { samples: ofCalls ? 'calls' : 'samples', weight: D.inEvents ? D.unit : 'time' };

const defaults = { event: '0', tab: D.asTree ? 'tree' : 'graph', view: D.reverse ? 'callers' : 'callees', flip: D.inverted ? '1' : '', unit: D.byWeight ? 'weight' : 'samples', q: D.highlight || '', zoom: '', focus: '', method: '', group: D.work ? 'program' : '', side: '', idle: '', sel: '', lane: '', slow: '', seen: '', rest: '', edit: '', colour: '', chart: '' };
const when = T ? new TimeViews() : null;
const more = typeof MoreViews === 'function' ? new MoreViews() : null;
const TABS = ['graph', 'tree', 'methods', 'threads'].concat(D.io ? 'io' : [], when ? ['lanes', 'heatmap'] : [], more ? more.tabs : []);
const state = { ...defaults };
let root = null, rootKey = null, zoom = null, match = null;

const graph = new Graph($('#graph'), (node) => zoomTo(node), (node) => setStatus(node));
const methodTable = new MethodTable($('#methods'), {
  choose: (id) => change({ method: String(id) }),
  find: (id) => change({ tab: 'graph', view: 'callees', focus: '', zoom: '', q: exactly(methodName(id)) + (D.lines ? '(:\\d+)?$' : '$') }, true),
  callers: (id) => change({ tab: 'graph', view: 'callers', focus: String(id), zoom: '' }, true),
  sandwich: more && ((id) => change({ tab: 'sandwich', method: String(id) }, true)),
  search: (text) => change({ group: '', q: exactly(text.startsWith('(') ? '' : text) }, true),
});
const treeTable = new TreeTable($('#tree'), { zoom: (node) => change({ tab: 'graph', zoom: nodePath(node) }, true) });

/* TEXT as a regular expression that begins with it. */
function exactly(text) {
  return text && '^' + text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/* ---- state and address ---- */

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(defaults)) state[key] = words.has(key) ? words.get(key) : defaults[key];
  if (!TABS.includes(state.tab)) state.tab = 'graph';
  if (!Object.keys(GROUPS).includes(state.group)) state.group = defaults.group;
  state.event = String(SHOWN);
  for (const key of ['focus', 'method']) state[key] = methodAsked(state[key]);
  if (!['samples', 'weight'].includes(state.unit)) state.unit = defaults.unit;
  if (state.view !== 'callees') state.view = state.view === 'callers' ? 'callers' : defaults.view;
}

/* The method whose name has number WORD in the address; '': there is none. */
function methodAsked(word) {
  return /^\d+$/.test(word) && +word < D.names.length ? String(methodOf[+word]) : '';
}

function writeAddress(newEntry) {
  const words = new URLSearchParams();
  for (const key of Object.keys(defaults)) if (state[key] !== defaults[key]) words.set(key, state[key]);
  const hash = '#' + words;
  if (hash === (location.hash || '#')) return;
  history[newEntry ? 'pushState' : 'replaceState'](null, '', hash);
}

function change(what, newEntry) {
  const home = ['zoom', 'focus', 'view', 'flip', 'tab'].some((key) => key in what && what[key] !== state[key]);
  if ('sel' in what && !what.slow) what.slow = '';
  Object.assign(state, what);
  writeAddress(newEntry);
  if (D.idle && asksForIdle() !== SHOWS_IDLE) location.reload(); /* other numbers everywhere */
  else render(home);
}

function zoomTo(node) {
  if (node === zoom) return;
  change({ zoom: nodePath(node) }, true);
  graph.point(null); /* what lies under the mouse is another frame now */
}

/* With thread frames in the graph, a thread's row leads there; null without. */
function zoomToThread(tid) {
  const i = threadRoots().get(tid);
  return i ? () => change({ tab: 'graph', view: 'callees', focus: '', zoom: 'i' + i }, true) : null;
}

/* The node of each thread's frame by its tid, made at first use. */
let rootOfThread = null;
function threadRoots() {
  if (rootOfThread) return rootOfThread;
  rootOfThread = new Map();
  for (let i = 1; i <= tree.count; i = tree.end[i]) {
    if (!isThreadName(tree.name[i])) continue;
    const tid = +/(\d+)\]$/.exec(D.names[tree.name[i]])[1];
    if (!rootOfThread.has(tid)) rootOfThread.set(tid, i);
  }
  return rootOfThread;
}

/* ---- drawing all from the state ---- */

function render(home) {
  if (more) more.follow(state);
  if (when) when.follow(state);
  if (!match || match.query !== state.q) match = matcher(state.q);
  press('#tabs', 'tab', state.tab);
  press('#views', 'view', state.view);
  press('#flips', 'flip', state.flip);
  press('#units', 'unit', state.unit);
  press('#groups', 'group', state.group);
  $('#groups [data-group=program]').hidden = !D.work;
  press('#idles', 'idle', state.idle);
  for (const b of document.querySelectorAll('#tabs button')) b.setAttribute('aria-selected', String(b.dataset.tab === state.tab));
  $('#tabs [data-tab=io]').hidden = !D.io;
  for (const tab of TABS) $('#' + tab).hidden = tab !== state.tab;
  for (const id of ['flips', 'previous', 'next']) $('#' + id).hidden = state.tab !== 'graph';
  $('#views').hidden = state.tab !== 'graph' && state.tab !== 'tree';
  $('#groups').hidden = state.tab !== 'methods';
  $('#units').hidden = (!!D.calls && !D.calls.timed) || ['lanes', 'heatmap', 'latency', 'events-table', 'locks', 'memory'].includes(state.tab);
  if ($('#search').value !== state.q) $('#search').value = state.q;
  if (state.tab === 'graph') renderGraph(home);
  else if (state.tab === 'tree') treeTable.show(viewRoot(), rootKey, state.unit, match);
  else if (state.tab === 'methods') methodTable.show(state.unit, match, state.method === '' ? null : +state.method, state.group);
  else if (state.tab === 'io') drawIo($('#io'), match, (text) => change({ tab: 'graph', view: 'callees', focus: '', zoom: '', q: exactly(text) + '$' }, true));
  else if (state.tab === 'threads') drawThreads($('#threads'), state.unit, match, zoomToThread);
  renderMatched();
  renderKinds();
  if (when) when.render(match);
  if (more) more.render(match);
}

function press(group, key, value) {
  for (const b of document.querySelectorAll(group + ' button')) b.setAttribute('aria-pressed', String(b.dataset[key] === value));
}

function rootKeyOf() {
  return [state.view, state.focus, state.sel, state.lane, state.slow, state.edit, comparesRest()].join(' ');
}

/* The root of what is seen: callees, callers, or the callers of one method. */
function viewRoot() {
  const key = rootKeyOf();
  if (key !== rootKey) {
    root = makeRoot(state.view, state.focus === '' ? null : +state.focus);
    rootKey = key;
  }
  return root;
}

function renderGraph(home) {
  root = viewRoot();
  zoom = findNode(root, state.zoom, state.unit);
  graph.match = match;
  const empty = root.samples <= root.selfSamples;
  $('#nothing').hidden = !empty;
  $('#scroller').hidden = $('#crumbs').hidden = empty;
  if (empty) $('#nothing').textContent = whyEmpty();
  renderCrumbs();
  if (!empty) graph.show(root, zoom, state.unit, state.flip === '1', home);
}

/* Why there is nothing to draw. */
function whyEmpty() {
  const part = T && T.selected, then = part ? ' in this part of the time' : '';
  const none = tree.totalSamples[0] ? '' : part && part.lane ? nameOfLane(part.lane) : '';
  if (state.edit && state.focus === '' && !none) return `Nothing is left of the stacks${then}.`;
  if (tree.totalSamples[0]) return `No samples of ${shortName(+state.focus)}${then}.`; /* the callers of one method */
  if (part ? waitsLeftOut(part) : !SHOWS_IDLE) return `${none || 'All threads'} waited for work${then}. “All waits” shows where.`;
  return part ? `No samples${none && ' of ' + none}${then}.` : D.loss;
}

/* The way to the zoomed frame; the middle of a long one is left out. */
function renderCrumbs() {
  const crumbs = $('#crumbs'), way = [];
  for (let n = zoom; n; n = n.parent) way.push(n);
  way.reverse();
  const shown = way.length > 7 ? [...way.slice(0, 2), null, ...way.slice(-4)] : way;
  crumbs.replaceChildren();
  if (state.focus !== '' && state.view === 'callers') {
    const b = crumb('Callers of ' + shortName(+state.focus) + '  ✕', 'Show all stacks again', () => change({ focus: '', zoom: '' }, true));
    b.classList.add('focus');
    crumbs.append(b);
  }
  shown.forEach((node, i) => {
    if (i) crumbs.append(make('span', 'arrow', '›'));
    if (!node) crumbs.append(make('span', 'arrow', '…'));
    else crumbs.append(crumb(node.parent ? shortName(node.name) : 'all', nameOf(node.name), () => zoomTo(node), node === zoom));
  });
  const status = make('span', 'status');
  status.id = 'status';
  crumbs.append(status);
  setStatus(null);
}

function crumb(text, title, action, current) {
  const b = make('button', '', text);
  b.type = 'button';
  b.title = title;
  if (current) b.setAttribute('aria-current', 'true');
  b.addEventListener('click', action);
  return b;
}

function shortName(id) {
  const choices = nameChoices(id), text = choices.length > 1 ? choices[choices.length - 2] : choices[0];
  return text.length > 60 ? text.slice(0, 59) + '…' : text;
}

function setStatus(node) {
  const n = node || zoom, status = $('#status');
  if (!status || !n) return;
  status.textContent = `${node ? shortName(node.name) + ': ' : ''}${counted(n.samples)} · ${amount(n.weight)} · ${percent(n[state.unit], everything())}`;
}

/* What percentages are of, in every view: the whole profile. */
function everything() {
  return state.unit === 'weight' ? tree.totalWeight[0] : tree.totalSamples[0];
}

function renderMatched() {
  const out = $('#matched');
  out.classList.toggle('literal', !!(match && match.literal));
  if (!match) {
    out.textContent = '';
    return;
  }
  let text = percent(matchedTotal(match, 0)[state.unit], everything());
  if (state.tab === 'graph' && state.view === 'callees' && zoom && zoom.parent) {
    const inside = matchedTotal(match, zoom.index)[state.unit];
    text += ` · ${percent(inside, zoom[state.unit])} here`;
  }
  out.textContent = text;
  out.title = `Stacks with a match: ${text} of all ${UNITS[state.unit]}` + (match.literal ? ` (${match.literal}: searched as plain text)` : '');
}

/* The bar of self time by kind is the legend, too. */
function renderKinds() {
  if (D.diff || comparesRest()) {
    $('#kinds').replaceChildren(changeLegend(D.diff ? 'more than before' : T.selected.others || 'more than in the rest of the time'));
    $('#kinds').hidden = false;
    return;
  }
  const column = state.unit === 'weight' ? 1 : 0, bar = make('div', 'bar'), legend = make('div', 'legend'), boxes = make('div', 'legend graph-kinds');
  const top = state.edit || (when && T.selected) ? selectedTop() : SHOWS_IDLE || !D.topWork ? D.top : D.topWork;
  const sums = KINDS.map((kind, i) => ({ ...kind, value: (top[i] || [0, 0])[column] }));
  sums[0].value += sums[4].value;
  sums[4].value = 0;
  const kinds = [2, 3, 1, 0, 5, 8, 6, 7].map((i) => ({ ...sums[i], i, tell: 'on top of the stack' }));
  // a thread that waits runs no code: what it did is told, the kinds are the legend of the boxes alone
  const told = D.work ? activitySums(state.unit).map((value, i) => ({ ...DOING[i], value, tell: 'The thread ' + D.work.activities[i][1] })) : kinds;
  const all = state.edit && !D.work ? everything() : told.reduce((sum, part) => sum + part.value, 0), left = all - told.reduce((sum, part) => sum + part.value, 0);
  if (left > 1e-6 * all) told.push({ css: 'left', label: 'Left out', value: left, tell: 'of the stacks, by the steps above the graph' });
  for (const { css, label, value, tell } of told) {
    if (!value) continue;
    const part = make('i', css), item = make('span');
    part.style.width = 100 * value / all + '%';
    part.title = D.work ? `${label}: ${percent(value, all)}. ${tell}` : `${label}: ${percent(value, all)} ${tell}`;
    item.append(make('i', 'swatch ' + css), label + ' ', make('b', '', roughly(value, all)));
    item.title = part.title;
    bar.append(part);
    legend.append(item);
  }
  for (const { css, label, i } of D.work ? kinds : []) {
    const item = make('span');
    item.append(make('i', 'swatch ' + css), i ? label : 'Interpreted or native method');
    if (kindsDrawn.has(i) || (!i && kindsDrawn.has(4))) boxes.append(item);
  }
  $('#kinds').replaceChildren(bar, legend, ...(D.work && boxesAreShown() ? [boxes] : []));
  // classes, files and the like are on top of all stacks: nothing to tell apart, whatever part of the time is shown
  $('#kinds').hidden = !D.work && D.top.every((kind, i) => !kind[column] || i === KIND_OTHER);
}

const kindsDrawn = new Set(tree.kind.subarray(1));

function boxesAreShown() {
  return ['graph', 'tree', 'methods', 'sandwich', 'chart'].includes(state.tab);
}

/* A share to look at: "57 %", "3.1 %"; the exact one is in the tooltip. */
function roughly(part, whole) {
  const p = 100 * part / whole;
  return p >= 99.5 || p < 0.1 ? percent(part, whole) : p.toFixed(p < 9.95 ? 1 : 0) + ' %';
}

/* ---- header ---- */

/* Another event is another page over the same file; the part of the time stays. */
function showEvent(i, what) {
  if (i === SHOWN || i >= PROFILES.length) return;
  const words = new URLSearchParams(i ? { event: i } : {}), keep = { ...state, ...what };
  for (const key of ['tab', 'sel', 'lane', 'slow', 'seen', 'rest', 'edit', 'colour', 'chart']) if (keep[key] !== defaults[key]) words.set(key, keep[key]);
  location.hash = String(words); /* popstate follows, which loads it */
}

/* The event that says what threads did all the time, also while they waited; -1: it is shown, or there is none. */
function showsElsewhere() {
  return D.event === 'wall' ? -1 : PROFILES.findIndex((p) => p.event === 'wall' && p.time);
}

function renderEvents() {
  $('#events').hidden = PROFILES.length < 2;
  PROFILES.forEach((p, i) => {
    const b = make('button', '', p.event);
    b.type = 'button';
    b.setAttribute('aria-pressed', i === SHOWN);
    b.addEventListener('click', () => showEvent(i));
    $('#events').append(b);
  });
  if (ofCalls) Object.assign($('#units [data-unit=samples]'), { textContent: 'Calls', title: 'Width is the number of calls (W)' });
  if (D.inEvents) Object.assign($('#units [data-unit=weight]'), { textContent: D.unit === D.event ? 'Events' : D.unit === 'bytes' ? 'Bytes' : D.unit, title: `Width is the number of ${D.unit} (W)` });
}

function renderHeader() {
  $('#tabs [data-tab=threads]').hidden = !!D.diff; /* those of two runs are different ones */
  renderEvents();
  renderSides();
  const [first, shown] = [PROFILES[0], D].map((p) => `${p.event === 'cpu' ? 'CPU' : p.event} profile`), title = document.title.trim();
  $('#title').textContent = title.startsWith(first) ? shown + title.slice(first.length) : title;
  const started = new Date(D.startedMs);
  const every = D.inEvents ? (D.unit === 'bytes' ? amount(D.interval) : count(D.interval)) : time(D.interval);
  const facts = D.diff ? [`before: ${D.diff.before}, ${time(D.diff.duration)}`, `after: ${D.diff.after}, ${time(D.duration)}`, 'share of each one\'s own whole'] : [D.duration && time(D.duration) + (D.calls ? ' traced' : ' recorded'), D.cpuTime && time(D.cpuTime) + ' CPU time',
    (D.calls ? D.engine + ' timing' : D.engine || '?') + (D.interval ? `, every ${every}` : ''), D.pid && 'pid ' + D.pid, D.jdk && 'JDK ' + D.jdk,
    D.startedMs && started.toLocaleString('sv-SE')];
  facts.filter(Boolean).forEach((fact) => $('#facts').append(make('span', '', fact)));
  renderLeaks();
  if (D.work) renderWork();
  if (PROFILES[0].findings && more) renderFindings((name) => change({ tab: 'graph', q: exactly(name) }, true));
  $('#idles').hidden = !D.idle;
  const loss = $('#loss');
  loss.append(make('i', 'light'), make('span', '', D.loss), make('span', 'more', 'details'));
  loss.classList.toggle('warn', D.warn);
  loss.addEventListener('click', () => showDetails($('#details').hidden));
}

/* Of what is in memory: what keeps more and more of it. The last sentence may be what comes of that. */
function renderLeaks() {
  const [title, ...rows] = D.leaks || [], list = make('ul');
  $('#leaks').hidden = !title;
  rows.forEach((row) => list.append(make('li', '', row)));
  if (title) $('#leaks').append(make('h2', '', title), list);
}

function showDetails(open) {
  const panel = $('#details'), list = make('dl');
  panel.hidden = !open;
  $('#loss').setAttribute('aria-expanded', open);
  const row = (name, text) => list.append(make('dt', '', name), make('dd', '', text));
  D.details.trim().split('\n').filter((line) => !line.startsWith('Losses')).forEach((line) => row(line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()));
  D.lost.forEach(([name, n, ns, meaning]) => row('Lost: ' + name, `${count(n)}, ${amount(ns)} – ${meaning}`));
  D.ended.forEach(([name, n, , meaning]) => row('Ended: ' + name, `${count(n)} – ${meaning}`));
  panel.replaceChildren(list);
  if (state.tab === 'graph') graph.layout();
}

/* ---- tooltip ---- */

function showTip(box, event, g) {
  const tip = $('#tip');
  tip.hidden = !box;
  if (!box) return;
  const rows = make('dl'), unit = state.unit;
  const row = (name, text) => rows.append(make('dt', '', name), make('dd', '', text));
  tip.replaceChildren();
  if (!box.node) {
    tip.append(make('h4', '', `${count(box.hidden)} more frames, too narrow to draw`));
    row('together', `${unit === 'weight' ? amount(box.value) : counted(box.value)} · ${percent(box.value, everything())}`);
    tip.append(rows, make('p', 'hint', 'Zoom into the frame beside them to see them.'));
  } else {
    const n = box.node, title = make('h4'), [pack, klass, method] = nameParts(n.name);
    if (pack) title.append(make('span', 'pack', pack));
    title.append(klass + method);
    const kinds = n.parent ? n.kinds() : [];
    const sum = kinds.reduce((s, k) => s + k[1], 0);
    tip.append(title);
    if (kinds.length) {
      row('kind', kinds.sort((a, b) => b[1] - a[1]).map(([k, v]) => {
        const label = KINDS[n.kind === KIND_JVM ? KIND_JVM : k].label;
        return kinds.length > 1 ? `${label} ${percent(v, sum)}` : label;
      }).join(' · '));
    }
    if (libraries.has(n.name)) row('library', libraries.get(n.name));
    row('total', tipValue(n.samples, n.weight));
    row(!n.parent && state.edit ? 'left out' : g.root.index === 0 ? 'self' : 'ends here', tipValue(n.selfSamples, n.selfWeight));
    if (showsObjects() && n.objects !== undefined) row('objects', count(n.objects));
    if (D.diff) changeRows(row, n);
    if (comparesRest() && n.parent) restRows(row, n, unit);
    if (D.calls && n.parent && n.calls) callRows(row, n, g.root.index === 0);
    if ((g.zoom.parent || state.focus) && n.depth > g.zoom.depth) row('of these', percent(n[unit], g.zoom[unit]));
    tip.append(rows);
  }
  place(tip, event);
}

/* A node on both sides of a difference. */
function changeRows(row, n) {
  const values = sidesOf(n, state.unit), spell = (v, side) => `${percent(v, wholeOf(side, state.unit))} · ${state.unit === 'weight' ? amount(v) : counted(v)}`;
  row('before', spell(values[BEFORE], BEFORE));
  row('after', spell(values[AFTER], AFTER));
  row('changed', `${changeText(values, state.unit)} · ${pointsText(values, state.unit)} points${nodeChanged(n, state.unit) ? '' : ' · within chance'}`);
}

/* What a trace knows more of a node; a caller's has the hot method's own numbers. */
function callRows(row, n, own) {
  row('calls', count(n.calls) + (own && D.calls.timed ? `, ${time(n.weight / n.calls)} each` : ''));
  if (D.calls.timed) row(D.calls.cpuExact ? 'CPU' : '≈ CPU', time(n.cpu));
}

function tipValue(samples, weight) {
  const part = state.unit === 'weight' ? weight : samples;
  return `${percent(part, everything())} · ${counted(samples)} · ${amount(weight)}`;
}

function place(tip, event) {
  const gap = 14, { offsetWidth: w, offsetHeight: h } = tip;
  const x = event.clientX + gap + w > innerWidth ? event.clientX - gap - w : event.clientX + gap;
  const y = event.clientY + gap + h > innerHeight ? event.clientY - gap - h : event.clientY + gap;
  tip.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
}

/* ---- light and dark ---- */

const darkSystem = matchMedia('(prefers-color-scheme: dark)');

function stored(value) {
  try { /* some browsers give files no storage */
    if (value === undefined) return localStorage.getItem('jstrobe-theme');
    localStorage.setItem('jstrobe-theme', value);
  } catch (error) { /* then the choice lives as long as the page */ }
  return null;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  for (const g of [graph, ...(more ? more.frames.graphs : [])]) {
    g.readColours();
    if (g.root && g.canvas.offsetParent) g.draw();
  }
}

function isDark() {
  return document.documentElement.dataset.theme === 'dark';
}

function toggleTheme() {
  const theme = isDark() ? 'light' : 'dark';
  stored(theme);
  setTheme(theme);
}

/* ---- keys ---- */

function step(direction) {
  if (!match) return;
  const [number, of] = graph.nextMatch(direction);
  setStatusText(of ? `match ${number} of ${of} frames` : 'no match in what is drawn here');
}

function setStatusText(text) {
  $('#status').textContent = text;
}

const toggleView = () => change({ view: state.view === 'callers' ? 'callees' : 'callers', zoom: '', focus: '' }, true);
/** @type {any[][]} */
const KEYS = [
  ['/', 'Search (a regular expression)', () => $('#search').select()],
  ['n', 'Next match; Shift+N previous', () => step(1)],
  ['N', '', () => step(-1)],
  ['r', 'Callees or callers (reversed)', toggleView],
  ['i', 'Icicle or flame', () => change({ flip: state.flip ? '' : '1' })],
  ['w', 'Samples or time', () => change({ unit: state.unit === 'samples' ? 'weight' : 'samples' })],
  ['1', 'Flame graph; 2 hot methods; 3 threads; 4 call tree', () => change({ tab: 'graph' }, true)],
  ['2', '', () => change({ tab: 'methods' }, true)],
  ['3', '', () => change({ tab: 'threads' }, true)],
  ['4', '', () => change({ tab: 'tree' }, true)],
  ...(D.io ? [['5', 'Files and peers', () => change({ tab: 'io' }, true)]] : []),
  ['0', 'Zoom out to everything', () => zoomTo(root)],
  ['Escape', 'One level out; in the search box: clear it', () => goOut()],
  ['Backspace', 'Back, as the browser\'s button', () => history.back()],
  ['Arrows', 'Walk from frame to frame; Enter zooms', null],
  ['m', 'Callers of the selected frame\'s method', () => graph.selected && graph.selected.parent && change({ view: 'callers', focus: String(methodOf[graph.selected.name]), zoom: '' }, true)],
  ...(when ? [['c', 'Compare the selected part of the time with the rest', () => T.selected && change({ rest: state.rest ? '' : '1' })]] : []),
  ...(more ? more.keys : []),
  ['l', 'Details about losses and cost', () => showDetails($('#details').hidden)],
  ['d', 'Dark or light', toggleTheme],
  ['?', 'This list', () => $('#keys').showModal()],
];

function goOut() {
  if (zoom && zoom.parent) zoomTo(zoom.parent);
  else if (state.focus) change({ focus: '', zoom: '' }, true);
  else if (state.q) change({ q: '' });
  else if (state.sel || state.lane || state.slow) change({ sel: '', lane: '' }, true);
}

function onKey(event) {
  if (event.ctrlKey && event.key === 'f' && event.target !== $('#search')) {
    $('#search').select(); /* the browser's own search cannot see a canvas; a second Ctrl+F opens it */
    event.preventDefault();
  }
  if (event.ctrlKey || event.altKey || event.metaKey || $('#keys').open) return;
  if (event.target === $('#search')) {
    if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
    if (event.key === 'Escape') {
      if (state.q) change({ q: '' });
      $('#graph').focus();
    }
    return;
  }
  const arrows = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: state.flip ? 'child' : 'parent', ArrowDown: state.flip ? 'parent' : 'child' };
  if (state.tab === 'graph' && arrows[event.key] && root.samples) graph.walk(arrows[event.key]);
  else if (state.tab === 'graph' && event.key === 'Enter' && graph.selected && event.target.tagName !== 'BUTTON') zoomTo(graph.selected);
  else {
    const key = KEYS.find((k) => k[2] && k[0] === (event.key.length === 1 && event.key !== 'N' ? event.key.toLowerCase() : event.key));
    if (!key) return;
    key[2]();
  }
  event.preventDefault();
}

function renderKeys() {
  const list = make('dl');
  KEYS.filter((key) => key[1]).forEach(([key, text]) => {
    const name = make('dt');
    name.append(make('kbd', '', key === 'Escape' ? 'Esc' : key));
    list.append(name, make('dd', '', text));
  });
  const close = make('button', '', 'Close');
  close.type = 'button';
  close.addEventListener('click', () => $('#keys').close());
  $('#keys').append(make('h2', '', 'Keys'), list,
    make('p', 'hint', 'Click a frame to zoom into it, a frame above to zoom out. The address holds what you see: copy it to share the spot.'),
    make('p', 'hint', 'jstrobe ' + D.version), close);
}

/* ---- wiring ---- */

function layoutGraph() {
  if (state.tab === 'graph' && root && root.samples && !$('#scroller').hidden) graph.layout();
}

/* A window on its way to a screen with other pixels keeps its size: no observer of sizes tells. */
function watchPixels() {
  matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`).addEventListener('change', () => {
    layoutGraph();
    watchPixels();
  }, { once: true });
}

function wire() {
  for (const group of ['tabs', 'views', 'flips', 'units', 'groups', 'idles']) {
    $('#' + group).addEventListener('click', (event) => {
      const b = event.target.closest('button');
      if (!b) return;
      const what = { ...b.dataset };
      if (what.view) what.zoom = what.focus = '';
      change(what, !!what.tab || !!what.view || 'idle' in what);
    });
  }
  let typing = 0;
  $('#search').addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => change({ q: $('#search').value }), tree.count > 200000 ? 150 : 30);
  });
  $('#previous').addEventListener('click', () => step(-1));
  $('#next').addEventListener('click', () => step(1));
  $('#theme').addEventListener('click', toggleTheme);
  $('#help').addEventListener('click', () => $('#keys').showModal());
  addEventListener('keydown', onKey);
  addEventListener('popstate', () => {
    if (shownEvent() !== SHOWN || (D.idle && asksForIdle() !== SHOWS_IDLE)) location.reload();
    readAddress();
    render(true);
  });
  new ResizeObserver(layoutGraph).observe($('#scroller'));
  watchPixels();
  darkSystem.addEventListener('change', () => stored() || setTheme(darkSystem.matches ? 'dark' : 'light'));
}

readAddress();
renderHeader();
renderKeys();
setTheme(stored() || (darkSystem.matches ? 'dark' : 'light'));
wire();
render(true);
performance.mark('drawn');

/* For tests, scripts and the curious: what is drawn, read-only by courtesy. */
window.jstrobe = { data: D, tree, state, graph, methods, matchedTotal, change, more, time: T, heatmap: when && when.heatmap, get root() { return root; }, get zoom() { return zoom; } };
