/* locks.js - the locks that threads waited for: who had them meanwhile, and who waited. D.work.lockRows and what belongs to it
 * is written by src/profile/views/lock_page.c; all of it is of the whole time, without waits for work.
 */
const LOCK_FRAMES = 40; /* of a stack that are shown at once, the innermost */
const LOCK_LEAST = 0.01; /* of a tree of stacks: what has less is counted alone */
const LOCKS = D.work && D.work.lockRows.length ? unpackLocks(D.work) : null;

function unpackLocks(from) {
  const { number } = numbersOf(from.lockStacks);
  const stack = (/** @type {any[]} */ [whose, waits, weight]) => {
    const frames = Array.from({ length: number() }, () => from.lockNames[number()]);
    return { whose, waits, weight, frames, cut: number() };
  };
  return from.lockRows.map((row) => ({ ...row, waiting: row.waiting.map(stack), having: row.having.map(stack) }));
}

/* What is known of owners, by their stacks or at least by name: the rest may have had another owner, or none. */
const knownOfLock = (row) => Math.min(row.weight, row.known + row.named.reduce((sum, [, least]) => sum + least, 0));

const isOfWaits = () => D.work.lockWaits, tellsOwners = () => D.work.lockOwners; /* recordings have waits, but no owners */

/* "shop.Stock@1b2c (monitor)"; of wall time mostly no class is known. */
function nameOfLock(row) {
  const name = row.lock ? row.lock + (row.identity ? '@' + row.identity : '') : row.kind === 'monitor' ? 'a monitor' : row.kind === 'lock' ? 'a lock' : 'a class that is initialised';
  const several = row.locks > 1 && !row.identity ? `, several of ${count(row.locks)} locks` : row.several ? ', or several' : '';
  return name + (row.lock && (row.kind || several) ? ` (${(row.kind + several).replace(/^, /, '')})` : several);
}

/* Who had it, in a few words. */
function ownerOfLock(row) {
  if (row.unowned) return 'gives permits: no thread has it';
  if (!row.owners.length && row.named.length) return row.named[0][0] + (row.named.length > 1 ? ` and ${count(row.named.length - 1)} more` : '') + ', by name alone';
  if (!row.owners.length) return 'not known';
  const [whose, method, did] = row.owners[0];
  if (!isOfWaits()) return `most likely ${whose ? whose + ' in ' : 'in '}${method} (${did})`;
  return `${whose} in ${method}` + (row.owners.length > 1 ? ` and ${count(row.owners.length - 1)} more` : '');
}

/* Paths of STACKS that begin alike are one: { name, weight, below: Map }. */
function stacksAsTree(stacks) {
  const top = { name: '', weight: 0, below: new Map() };
  for (const s of stacks) {
    let at = top;
    at.weight += s.weight;
    for (const name of (s.cut ? [`… ${count(s.cut)} frames`] : []).concat(s.frames)) {
      if (!at.below.has(name)) at.below.set(name, { name, weight: 0, below: new Map() });
      at = at.below.get(name);
      at.weight += s.weight;
    }
  }
  return top;
}

/* Lines of a tree: a frame is further to the right only where paths part or end, and has its share there. Ways that have next to
 * nothing are no lines: lines.small has their number. */
function treeLines(top, lines = Object.assign([], { small: 0 }), depth = 0, all = top.weight) {
  const below = [...top.below.values()].sort((a, b) => b.weight - a.weight), parts = below.length > 1 || (below.length === 1 && below[0].weight < top.weight);
  for (const node of below) {
    if (node.weight < LOCK_LEAST * all) {
      lines.small++;
      continue;
    }
    lines.push({ name: node.name, depth: depth + (parts ? 1 : 0), share: parts || !lines.length ? roughly(node.weight, all) : '' });
    treeLines(node, lines, depth + (parts ? 1 : 0), all);
  }
  return lines;
}

/* STACKS as a small tree; what all of them begin with is folded. */
function smallTree(stacks) {
  const box = make('div', 'stacks'), lines = treeLines(stacksAsTree(stacks));
  const first = lines.findIndex((line) => line.depth > 0), alone = first < 0 ? lines.length : first, folded = Math.max(0, Math.min(alone - 2, lines.length - LOCK_FRAMES, alone));
  const put = (to, { name, depth, share }) => {
    const line = make('div', '', '');
    line.style.paddingLeft = depth * 14 + 'px';
    if (share) line.append(make('b', '', share + ' '));
    line.append(make('bdi', '', name));
    line.title = name;
    to.append(line);
  };
  if (folded > 0) {
    const fold = make('details');
    fold.append(make('summary', '', `${count(folded)} frames that all have in common`));
    lines.slice(0, folded).forEach((line) => put(fold, { ...line, share: '' }));
    box.append(fold);
  }
  lines.slice(Math.max(0, folded)).forEach((line, i) => put(box, i || folded <= 0 ? line : { ...line, share: '' }));
  if (lines.small) box.append(make('p', 'hint', `${count(lines.small)} way${lines.small > 1 ? 's' : ''} below 1 % ${lines.small > 1 ? 'are' : 'is'} left out`));
  return box;
}

class Locks {
  constructor(section) {
    this.section = section;
    this.chosen = 0;
  }

  show(match) {
    const list = make('div', 'list'), all = groupRows.reduce((sum, g) => sum + g.work.weight, 0) || tree.totalWeight[0];
    const rows = LOCKS.filter((row) => !match || [nameOfLock(row), row.asked, ownerOfLock(row), ...row.groups.map(([name]) => name)].some((text) => match.test(text)));
    const chosen = rows.includes(LOCKS[this.chosen]) ? LOCKS[this.chosen] : rows[0];
    this.match = match;
    if (!chosen) list.append(make('p', 'nothing', 'Nothing matches.'));
    else list.append(...this.whole(), this.table(rows, chosen, all), ...this.more(match), this.details(chosen));
    this.section.replaceChildren(list);
  }

  table(rows, chosen, all) {
    const lines = rows.map((row) => {
      const others = row.groups.length - 1, known = tellsOwners() ? (knownOfLock(row) ? roughly(knownOfLock(row), row.weight) : '–') : '';
      const full = nameOfLock(row) + (row.asked ? ' in ' + row.asked : ''), name = nameCell(full);
      name.firstChild.textContent = full.replace(/^(?:[a-z]\w*\.)+(?=\w)/, ''); /* without package, to leave place for where */
      if (row.open) name.firstChild.append(make('span', 'pack', `, ${count(row.open)} still waiting`));
      const cells = [name, shareCell(row.weight, all), numberCell(time(row.weight)), numberCell(count(row.waits)), ...(tellsOwners() ? [numberCell(row.longest ? time(row.longest) : '')] : []),
        nameCell(row.groups.length ? (row.groups[0][0] || 'threads') + (others > 0 ? ` and ${count(others)} more` : '') : ''), ...(tellsOwners() ? [numberCell(known)] : []), nameCell(ownerOfLock(row))];
      const line = linkedLine(cells, () => {
        this.chosen = LOCKS.indexOf(row);
        this.show(this.match);
      });
      line.classList.toggle('chosen', row === chosen);
      return line;
    });
    const heads = ['Lock', 'Share', 'Waited', isOfWaits() ? 'Waits' : 'Samples', ...(tellsOwners() ? ['Longest'] : []), 'Who waited', ...(tellsOwners() ? ['Owner known'] : []), 'Who had it'];
    const part = ioTable('Locks that threads waited for', heads, lines);
    part.querySelectorAll('th').forEach((th) => th.classList.toggle('number', ['Share', 'Waited', 'Waits', 'Samples', 'Longest', 'Owner known'].includes(th.textContent)));
    return part;
  }

  /* What does not count here, where it counts elsewhere. */
  whole() {
    const part = T && T.selected, steps = 'the steps that edit the graph';
    if (!part && !state.edit) return [];
    const of = part ? (state.edit ? 'the whole time, all threads and all stacks' : 'the whole time and all threads') : 'all stacks';
    return [make('p', 'whole', `Of ${of}: ${part ? 'the selection above' + (state.edit ? ` and ${steps} do` : ' does') : steps + ' do'} not change this tab.`)];
  }

  more(match) {
    const [n, weight] = D.work.lockMore, hints = [];
    if (n && !match) hints.push(`${count(n)} more locks, ${time(weight)}, are in JSON alone.`);
    if (isOfWaits() && !tellsOwners()) hints.push('A recording says neither which lock of its class it was, nor who had it: the page of the session itself does (record -e lock -f x.html).');
    if (!isOfWaits()) hints.push(PROFILES.some((p) => p.event === 'lock') ? 'Concluded from wall time; event lock has the waits themselves.' : 'Concluded from wall time: -e lock records the waits, with their owners.');
    return hints.map((text) => make('p', 'hint', text));
  }

  /* Of ROW: who had it, and who waited. */
  details(row) {
    const box = make('div', 'lock');
    box.append(this.having(row), this.waiting(row));
    return box;
  }

  having(row) {
    const part = make('section', 'io'), unknown = row.weight - knownOfLock(row), table = make('table'), body = make('tbody');
    part.append(make('h2', '', `Who had ${nameOfLock(row)}`));
    if (row.unowned || !isOfWaits() || !(row.owners.length + row.named.length)) {
      const text = row.unowned ? 'It gives permits: no thread has it.' : row.owners.length ? `${ownerOfLock(row)}: it was there while others waited.` : tellsOwners() ? 'It is not known who had it: the lock was just passed on, keeps no owner, or one of which no stack was taken.' : 'It is not known who had it.';
      part.append(make('p', 'hint', text[0].toUpperCase() + text.slice(1)));
      return part;
    }
    for (const [whose, method, waits, weight] of row.owners) body.append(linkedLine([shareCell(weight, row.weight), numberCell(time(weight)), numberCell(count(waits)), make('td', '', whose), make('td', '', method)]));
    for (const [whose, least, most] of row.named) body.append(linkedLine([shareCell(least, row.weight), numberCell((most > least ? 'at least ' : '') + time(least)), numberCell(''), make('td', '', whose), make('td', 'pack', 'by name alone: no stack of it was taken' + (most > least ? `; at most ${time(most)}` : ''))]));
    if (unknown) body.append(linkedLine([shareCell(unknown, row.weight), numberCell(time(unknown)), numberCell(''), make('td', 'pack', 'unknown'), make('td', 'pack', 'no stack of an owner was taken, and no name is sure')]));
    table.append(body);
    part.append(table);
    if (row.having.length) part.append(make('h3', '', 'What they did when others began to wait'), smallTree(row.having));
    if (row.more[1]) part.append(make('p', 'hint', `and ${count(row.more[1])} more stacks`));
    return part;
  }

  waiting(row) {
    const part = make('section', 'io'), table = make('table'), body = make('tbody'), show = make('button', 'slow', 'In the graph');
    show.type = 'button';
    show.addEventListener('click', () => this.inGraph(row));
    part.append(make('h2', '', 'Who waited'));
    for (const [name, threads, waits, weight] of row.groups) body.append(linkedLine([shareCell(weight, row.weight), numberCell(time(weight)), numberCell(count(waits)), numberCell(threads ? `${count(threads)} thread${threads > 1 ? 's' : ''}` : ''), make('td', '', name || 'threads')]));
    table.append(body);
    part.append(table, make('h3', '', 'Where'), smallTree(row.waiting));
    if (row.more[0]) part.append(make('p', 'hint', `and ${count(row.more[0])} more stacks`));
    part.append(show);
    return part;
  }

  /* All stacks that wait for it, or for locks of its class: its class is on top of them; of wall time what asks for it. */
  inGraph(row) {
    const spelled = (name) => name.replace(/\//g, '.'), id = isOfWaits() ? D.names.findIndex((name) => spelled(name) === row.lock) : -1;
    if (id >= 0) change({ tab: 'graph', view: 'callers', focus: String(methodOf[id]), zoom: '' }, true);
    else change({ tab: 'graph', view: 'callees', focus: '', zoom: '', q: exactly(D.names.find((name) => name && spelled(name) === row.asked) || row.asked) + '$' }, true);
  }
}
