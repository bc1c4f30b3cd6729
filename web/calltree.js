/* calltree.js - the graph's tree as a table: numbers in columns, branches that open and close.
 *
 * It shows what the graph shows, callees or callers, and only makes rows for what is open. A search leaves
 * the ways to its matches. Which branches are open is kept by their ways, so that a sort or another unit
 * changes nothing.
 */
const TREE_ROWS = 1000, OPEN_SHARE = 0.05, OPEN_ROWS = 40;

class TreeTable {
  constructor(section, actions) {
    this.section = section;
    this.actions = actions;
    this.sort = 'total';
    this.open = new Set();
    this.key = null;
    this.limit = TREE_ROWS;
    this.section.addEventListener('keydown', (e) => this.onKey(e));
  }

  show(root, key, unit, match) {
    this.root = root;
    this.unit = unit;
    this.keep = match && match.any ? this.waysToMatches(match) : null;
    this.match = match;
    if (key !== this.key) {
      this.key = key;
      this.open = new Set();
      this.openHeavy(root, OPEN_ROWS);
    }
    this.draw();
  }

  callers() {
    return this.root.index !== 0;
  }

  columns() {
    const unit = this.unit, all = everything();
    const columns = [['total', this.callers() ? 'Self, by caller' : 'Total', 2, (n) => n[unit], (n) => [shareCell(n[unit], all), numberCell(value(n, unit))]]];
    if (!this.callers()) columns.push(['self', 'Self', 1, (n) => selfOf(n, unit), (n) => [numberCell(value({ samples: n.selfSamples, weight: n.selfWeight }, unit))]]);
    if (D.diff) return columns.concat(changeColumns((n) => sidesOf(n, unit), ['total'], unit, (n) => nodeChanged(n, unit)));
    if (!D.calls) return columns;
    const more = callColumns((n) => n.calls, null);
    return columns.concat(this.callers() ? more.filter(([key]) => key === 'calls') : more);
  }

  /* ---- which rows ---- */

  /* Open the heaviest branches, so that the first look tells something. */
  openHeavy(root, most) {
    const all = root[this.unit], heap = [root];
    for (let rows = 0; heap.length && rows < most;) {
      const node = heap.shift();
      this.open.add(nodePath(node));
      for (const child of node.children(this.unit)) {
        if (child[this.unit] < all * OPEN_SHARE || ++rows >= most) break;
        heap.push(child);
      }
    }
  }

  /* For each node of the tree whether it or something below it matches; the caller tree tests its own names. */
  waysToMatches(match) {
    const keep = new Uint8Array(tree.count + 1);
    for (let i = tree.count; i > 0; i--) {
      if (match.names[tree.name[i]]) keep[i] = 1;
      if (keep[i]) keep[tree.parent[i]] = 1;
    }
    return keep;
  }

  /* Callers: the first row is what is searched, or who called it as far as is open. */
  kept(node) {
    if (!this.match) return true;
    if (!this.keep) return false;
    if (node.index !== undefined) return this.keep[node.index] === 1;
    return node.depth > 1 || this.match.names[node.name] === 1;
  }

  /* A search opens the ways to what it found. */
  isOpen(node) {
    if (this.open.has(nodePath(node))) return true;
    return !!this.keep && node.index !== undefined && !this.open.has('-' + nodePath(node)) &&
      this.keep[node.index] === 1 && !this.match.names[tree.name[node.index]];
  }

  rows(columns) {
    const by = (columns.find(([key]) => key === this.sort) || columns[0])[3], rows = [];
    const add = (node) => {
      const below = node.children(this.unit).filter((n) => this.kept(n)).sort((a, b) => by(b) - by(a) || b[this.unit] - a[this.unit]);
      for (const child of below.reverse()) open.push(child);
    };
    const open = [];
    add(this.root);
    while (open.length && rows.length <= this.limit) {
      const node = open.pop();
      rows.push(node);
      if (this.isOpen(node)) add(node);
    }
    return rows;
  }

  /* ---- drawing ---- */

  draw() {
    const columns = this.columns(), rows = this.rows(columns), table = make('table'), body = make('tbody');
    for (const node of rows.slice(0, this.limit)) body.append(this.line(node, columns));
    const head = headLine([...columns, ['tree', this.callers() ? 'Method, and who called it' : 'Call tree', 1]], this.sort, (key) => {
      if (key === 'tree') return;
      this.sort = key;
      this.draw();
    });
    table.append(head, body);
    const list = make('div', 'list tree'), old = this.section.firstChild;
    list.append(table);
    if (!rows.length) list.append(make('p', 'nothing', this.match ? 'Nothing matches.' : 'No samples.'));
    if (rows.length > this.limit) list.append(make('p', 'hint', `The first ${count(this.limit)} rows; close a branch or search to see others.`));
    const scroll = old ? old.scrollTop : 0;
    this.section.replaceChildren(list);
    list.scrollTop = scroll;
  }

  line(node, columns) {
    const line = make('tr', this.match && this.match.names[node.name] ? 'match' : ''), name = make('td'), toggle = make('button', 'toggle');
    const below = node.children(this.unit).length > 0, open = below && this.isOpen(node);
    for (const column of columns) line.append(...column[4](node));
    name.style.paddingLeft = 12 + (node.depth - 1) * 16 + 'px';
    toggle.type = 'button';
    toggle.tabIndex = -1;
    toggle.textContent = !below ? '' : open ? '▾' : '▸';
    toggle.disabled = !below;
    toggle.setAttribute('aria-label', open ? 'Close' : 'Open');
    name.append(toggle, methodLabel(node.name, node.kind));
    line.append(name);
    line.tabIndex = 0;
    line.node = node;
    line.dataset.path = nodePath(node);
    line.setAttribute('aria-level', node.depth);
    if (below) line.setAttribute('aria-expanded', open);
    line.addEventListener('click', () => below && this.toggle(node, !open));
    line.addEventListener('dblclick', () => this.actions.zoom(node));
    return line;
  }

  /* Open or close NODE; a way with one child at each step opens at once. */
  toggle(node, open) {
    const path = nodePath(node);
    this.open.delete(open ? '-' + path : path);
    this.open.add(open ? path : '-' + path);
    for (let n = node; open;) {
      const below = n.children(this.unit);
      if (below.length !== 1 || n.depth > node.depth + 30) break;
      n = below[0];
      this.open.add(nodePath(n));
    }
    this.draw();
    this.focus(path);
  }

  focus(path) {
    const line = [...this.section.querySelectorAll('tbody tr')].find((l) => l.dataset.path === path);
    if (line) line.focus();
  }

  onKey(event) {
    const line = event.target.closest && event.target.closest('tbody tr');
    if (!line || event.ctrlKey || event.altKey || event.metaKey) return;
    const open = line.getAttribute('aria-expanded');
    if (event.key === 'ArrowDown' && line.nextSibling) line.nextSibling.focus();
    else if (event.key === 'ArrowUp' && line.previousSibling) line.previousSibling.focus();
    else if (event.key === 'ArrowRight' && open === 'false') this.toggle(line.node, true);
    else if (event.key === 'ArrowLeft' && open === 'true') this.toggle(line.node, false);
    else if (event.key === 'ArrowLeft' && line.node.parent) this.focus(nodePath(line.node.parent));
    else if (event.key === 'Enter') this.actions.zoom(line.node);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
