/* menu.js - what can be done with a frame: a menu (right click, Shift+F10, a long press, "⋯"), keys, and the line that tells how
 * the graph is edited.
 */
const LONG_PRESS_MS = 550;
const MENU_STYLE = [
  '#menu { position: fixed; z-index: 6; min-width: 230px; max-width: min(420px, 94vw); padding: 5px; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 6px 24px rgb(0 0 0 / .28); }',
  '#menu p { margin: 2px 8px 5px; font-weight: 600; overflow-wrap: anywhere; }',
  '#menu button { display: flex; width: 100%; gap: 16px; border: 0; background: none; border-radius: 5px; padding: 4px 8px; text-align: left; }',
  '#menu button:hover, #menu button:focus { background: var(--accent-soft); outline: 0; }',
  '#menu kbd { margin-left: auto; }',
  '#edits { flex: none; display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; padding: 0 16px 6px; font-variant-numeric: tabular-nums; }',
  '#edits button { border: 1px solid var(--line); background: var(--accent-soft); border-radius: 7px; padding: 1px 9px; max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }',
  '#edits button.none { text-decoration: line-through; } #edits button.all { background: var(--paper); color: var(--accent); }',
  '#kinds i.left { background: var(--line); }',
  '#edits.unused { color: var(--pale); } #edits.unused button { background: none; color: var(--pale); border-style: dashed; }',
  '#crumbs button.what { border: 1px solid var(--line); margin-left: 6px; min-width: 28px; flex: none; }',
  '#told { position: fixed; z-index: 6; left: 50%; bottom: 14px; transform: translateX(-50%); padding: 4px 14px; border-radius: 7px; background: var(--text); color: var(--paper); } #told:empty { display: none; }',
  '#copied textarea { width: min(70vw, 460px); height: 40vh; }',
].join('\n');

/* Tabs that steps do not change, and what these are of. */
const UNEDITED = { threads: 'threads are of all stacks', io: 'files and peers are of all stacks', lanes: 'the timeline is of all stacks', heatmap: 'the heatmap is of all stacks', latency: 'spans are the program\'s own', 'events-table': 'events are the recording\'s own', locks: 'locks are of all stacks', memory: D.memory && D.memory.places ? 'native memory is of all stacks' : '' };

/* Where the focus is. */
/** @returns {any} */
function focused() {
  return document.activeElement;
}

/* The frame that is meant: { id, node }; node: null in a table of methods. */
const frameOf = (node) => (node && node.name >= 0 ? { id: methodOf[node.name], node } : null);

class FrameMenu {
  constructor() {
    document.head.append(make('style', '', MENU_STYLE));
    this.edits = new Edits();
    this.canEdit = !ofCalls && !D.diff;
    this.graphs = []; /* beside the page's own */
    this.bar = make('div');
    this.bar.id = 'edits';
    this.bar.setAttribute('role', 'status');
    this.bar.setAttribute('aria-label', 'How the graph is edited');
    $('main').before(this.bar);
    this.menu = make('div');
    this.menu.id = 'menu';
    this.menu.hidden = true;
    this.menu.setAttribute('role', 'menu');
    document.body.append(this.menu);
    this.menu.addEventListener('keydown', (e) => this.onMenuKey(e));
    addEventListener('pointerdown', (e) => { if (!this.menu.hidden && !this.menu.contains(e.target)) this.close(); }, true);
    addEventListener('keydown', (e) => this.onKey(e), true);
    document.addEventListener('contextmenu', (e) => this.onContext(e));
    this.watchPress();
  }

  /* ---- which frame ---- */

  graphAt(element) {
    return [graph, ...this.graphs].find((g) => g.canvas === element);
  }

  /* What lies at ELEMENT, at X and Y of its canvas. */
  frameAt(element, x, y) {
    const g = this.graphAt(element), line = element.closest && element.closest('#tree tbody tr, #methods .list tbody tr');
    if (g) return frameOf((g.boxAt(x, y) || {}).node);
    if (line && line.node) return frameOf(line.node);
    return line && line.dataset.id && ['', 'program'].includes(state.group) ? { id: methodOf[+line.dataset.id], node: null } : null;
  }

  /* The one that keys mean: of the line that has the focus, else what is selected, pointed at or zoomed. */
  frame() {
    const at = focused(), here = at && this.frameAt(at, -1, -1), shown = [graph, ...this.graphs].filter((g) => g.canvas.offsetParent);
    if (here) return here;
    if (state.tab === 'methods') return state.method === '' ? null : { id: +state.method, node: null };
    for (const g of shown) if (g.selected && g.selected.parent) return frameOf(g.selected);
    for (const g of shown) if (g.hover && g.hover.node) return frameOf(g.hover.node);
    return state.tab === 'graph' && zoom && zoom.parent ? frameOf(zoom) : null;
  }

  /* ---- what can be done ---- */

  /** @returns {any[][]} of each key, text, what it tells, action(frame); needs: a node */
  actions() {
    const edits = this.canEdit ? Object.entries(EDITS).map(([what, { label, key, tell }]) => [key, label, tell, (frame) => this.edit(what, frame)]) : [];
    return [...edits,
      ['s', 'Sandwich', 'Its callers above, what it calls below', ({ id }) => change({ tab: 'sandwich', method: String(id) }, true)],
      ['m', 'Callers as graph', 'All ways that lead to it', ({ id }) => change({ tab: 'graph', view: 'callers', focus: String(id), zoom: '' }, true)],
      ['y', 'Copy stack', 'As text, the root first', ({ node }) => copyText(stackText(node)), true]];
  }

  /* Keys for main.js's list, which has M already. */
  keys() {
    return this.actions().filter(([key]) => key !== 'm').map(([key, label, tell, action, needsNode]) => [key, `${label}: ${tell[0].toLowerCase()}${tell.slice(1)}`, () => {
      const frame = this.frame();
      if (frame && (frame.node || !needsNode)) action(frame);
    }]);
  }

  edit(what, { id, node }) {
    if (isThreadName(id) && what !== 'focus' && what !== 'drop') return;
    change(this.edits.with(what, methodName(id), node && node.index), true);
  }

  /* ---- the menu ---- */

  open(frame, x, y) {
    const title = make('p', '', shortName(frame.id));
    title.title = methodName(frame.id);
    this.from = focused();
    $('#tip').hidden = true;
    this.menu.replaceChildren(title, ...this.actions().filter((action) => frame.node || !action[4]).map(([key, text, tell, action]) => {
      const b = make('button', '', text);
      b.type = 'button';
      b.title = tell;
      b.tabIndex = -1;
      b.setAttribute('role', 'menuitem');
      b.append(make('kbd', '', key.toUpperCase()));
      b.addEventListener('click', () => {
        this.close();
        action(frame);
      });
      return b;
    }));
    this.menu.setAttribute('aria-label', `What to do with ${methodName(frame.id)}`);
    this.menu.hidden = false;
    this.menu.style.left = Math.max(4, Math.min(x, innerWidth - this.menu.offsetWidth - 4)) + 'px';
    this.menu.style.top = Math.max(4, Math.min(y, innerHeight - this.menu.offsetHeight - 4)) + 'px';
    this.menu.querySelector('button').focus();
  }

  /* Where FRAME stands, or at the top of the view. */
  openFor(frame) {
    const at = focused(), line = at && at.closest('tr'), g = [graph, ...this.graphs].find((one) => frame.node && one.canvas.offsetParent && one.findBox(frame.node));
    const box = line ? line.getBoundingClientRect() : (g ? g.canvas : $('main')).getBoundingClientRect(), found = !line && g && g.findBox(frame.node);
    this.open(frame, box.left + (found ? found.x : 0) + 12, (found ? box.top + g.top(found.depth) : box.top) + 20);
  }

  close() {
    if (this.menu.hidden) return;
    this.menu.hidden = true;
    if (this.from && this.from.isConnected) this.from.focus();
  }

  onMenuKey(event) {
    const items = [...this.menu.querySelectorAll('button')], at = items.indexOf(document.activeElement), { key } = event;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[key];
    event.stopPropagation();
    if (key === 'Tab' || key === 'Escape') this.close();
    else if (to !== undefined) items[(to + items.length) % items.length].focus();
    else if (key.length === 1) items.filter((b) => b.lastChild.textContent === key.toUpperCase()).forEach((b) => b.click());
    else return;
    event.preventDefault();
  }

  onKey(event) {
    if (!(event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) || event.target === $('#search') || !this.menu.hidden) return;
    const frame = this.frame();
    if (!frame) return;
    event.preventDefault();
    this.openFor(frame);
  }

  onContext(event) {
    const frame = this.menu.contains(event.target) ? null : this.frameAt(event.target, event.offsetX, event.offsetY);
    if (!this.menu.hidden) event.preventDefault(); /* the key has opened it */
    if (!frame || event.shiftKey) return;
    event.preventDefault();
    this.open(frame, event.clientX, event.clientY);
  }

  /* Some browsers tell nothing of a long press. */
  watchPress() {
    let timer = 0, opened = false;
    const stop = () => clearTimeout(timer);
    addEventListener('pointerdown', (event) => {
      stop();
      opened = false;
      if (event.pointerType !== 'touch' || !this.graphAt(event.target)) return;
      const { target, offsetX, offsetY, clientX, clientY } = event;
      timer = setTimeout(() => {
        const frame = this.frameAt(target, offsetX, offsetY);
        opened = Boolean(frame && this.menu.hidden);
        if (opened) this.open(frame, clientX, clientY);
      }, LONG_PRESS_MS);
    });
    for (const what of ['pointerup', 'pointercancel', 'contextmenu', 'scroll']) addEventListener(what, stop, true);
    addEventListener('click', (event) => {
      if (opened && this.graphAt(event.target)) event.stopPropagation(); /* else it zooms at the end of the press */
      opened = false;
    }, true);
  }

  /* ---- what is drawn ---- */

  draw() {
    const { list } = this.edits, unedited = UNEDITED[state.tab], root = new CalleeNode(0, null), left = selfOf(root, state.unit);
    this.bar.hidden = !list.length;
    this.bar.classList.toggle('unused', Boolean(unedited));
    if (list.length) {
      this.bar.replaceChildren(...list.map(({ what, name }, at) => {
        const id = D.names.findIndex((_, i) => methodName(i) === name), known = id >= 0;
        const b = make('button', known ? '' : 'none', `${EDITS[what].label}: ${known ? shortName(id) : name}  ✕`);
        b.type = 'button';
        b.title = `${name}. ${EDITS[what].tell}. ${known ? '' : 'This event has none. '}Click to undo.`;
        b.addEventListener('click', () => change(this.edits.without(at), true));
        return b;
      }));
      if (unedited) this.bar.append(make('span', '', `not applied here: ${unedited}`));
      else if (left) this.bar.append(make('span', '', `${percent(left, everything())} left out`));
      if (list.length > 1) {
        const all = make('button', 'all', 'Undo all');
        all.type = 'button';
        all.addEventListener('click', () => change({ edit: '', zoom: '' }, true));
        this.bar.append(all);
      }
    }
    if (state.tab === 'graph') this.drawButton();
  }

  drawButton() {
    const b = make('button', 'what', '⋯');
    b.type = 'button';
    b.title = 'What to do with the selected frame (Shift+F10, or right click on a frame)';
    b.setAttribute('aria-label', 'What to do with the selected frame');
    b.setAttribute('aria-haspopup', 'menu');
    b.addEventListener('click', () => {
      const selected = graph.selected && graph.selected.parent ? graph.selected : zoom, frame = frameOf(selected), box = b.getBoundingClientRect();
      if (frame) this.open(frame, box.left, box.bottom + 4);
      else tellFor('Click a frame, or walk to one by the arrow keys, to say which.');
    });
    $('#status').before(b);
  }
}

/* TEXT at the bottom for a moment, and to a screen reader. */
let telling = 0;
function tellFor(text) {
  let told = $('#told');
  if (!told) {
    told = make('div');
    told.id = 'told';
    told.setAttribute('role', 'status');
    document.body.append(told);
  }
  told.textContent = text;
  clearTimeout(telling);
  telling = setTimeout(() => { told.textContent = ''; }, 4000);
}

/* ---- text ---- */

/* The way from the root to NODE, a line each, below what it has. */
function stackText(node) {
  const way = [];
  for (let n = node; n && n.name >= 0; n = n.parent) way.push(nameOf(n.name));
  if (!(node instanceof CallerNode)) way.reverse();
  return [`${tipValue(node.samples, node.weight)} · ${$('#title').textContent}`, ...way].join('\n') + '\n';
}

/* Into the clipboard; where there is none for a page, into a window to copy it from. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    tellFor('Copied.');
  } catch (error) { /* not from a file in some browsers, or not allowed */
    copyBySelection(text);
  }
}

function copyBySelection(text) {
  const dialog = make('dialog'), area = make('textarea'), close = make('button', '', 'Close'), before = focused();
  dialog.id = 'copied';
  area.value = text;
  area.readOnly = true;
  area.setAttribute('aria-label', 'Stack');
  close.type = 'button';
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (before && before.isConnected) before.focus();
  });
  dialog.addEventListener('keydown', (event) => event.stopPropagation());
  dialog.append(make('h2', '', 'Stack'), area, make('p', 'hint', 'Press Ctrl+C to copy it.'), close);
  document.body.append(dialog);
  dialog.showModal();
  area.select();
  let done = false;
  try {
    done = document.execCommand('copy');
  } catch (error) { /* then by hand */ }
  if (!done) return;
  dialog.close();
  tellFor('Copied.');
}
