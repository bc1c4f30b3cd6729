/* diff.js - the page of a difference (src/profile/writers/page/diff_page.c): the tree is that of two profiles, and each node has what
 * it was worth in either. One side is shown, the one after unless the address says otherwise; colours compare shares of
 * each side's own whole, so that runs of different lengths can be compared.
 */
const BEFORE = 0, AFTER = 1;
const SIDE = new URLSearchParams(location.hash.slice(1)).get('side') === 'before' ? BEFORE : AFTER;
const SMALL_CHANGE = 0.0005; /* of the whole: not coloured */

/* [before, after], each with the columns that a tree has. */
const SIDES = D.diff ? splitSides() : null;
if (SIDES) Object.assign(tree, SIDES[SIDE]);

function splitSides() {
  const samples = unpackColumn(D.diff.samples), weight = unpackColumn(D.diff.weight);
  const before = { selfSamples: samples.self, selfWeight: weight.self, totalSamples: samples.total, totalWeight: weight.total };
  const rest = (key) => tree[key].map((both, i) => both - before[key][i]);
  return [before, Object.fromEntries(Object.keys(before).map((key) => [key, rest(key)]))];
}

const columnOf = (kind, unit) => kind + (unit === 'weight' ? 'Weight' : 'Samples');

/* What SIDE's whole is. */
function wholeOf(side, unit) {
  return SIDES[side][columnOf('total', unit)][0];
}

/* [before, after] of a node of the graph: amounts. */
function sidesOf(node, unit) {
  return SIDES.map((side) => node.on(side, unit));
}

/* How the share of the whole has changed: -1 … 1, in parts of one. */
function shareChange([before, after], unit) {
  return (wholeOf(AFTER, unit) ? after / wholeOf(AFTER, unit) : 0) - (wholeOf(BEFORE, unit) ? before / wholeOf(BEFORE, unit) : 0);
}

/* Red: a larger share than before, blue: a smaller one; the fuller, the more of it is new or gone. */
function changeColour(node, unit) {
  const values = sidesOf(node, unit), change = shareChange(values, unit);
  const most = Math.max(...values.map((v, i) => (wholeOf(i, unit) ? v / wholeOf(i, unit) : 0)));
  if (Math.abs(change) < SMALL_CHANGE || !most) return null;
  const part = Math.min(1, Math.abs(change) / most), hue = change > 0 ? 8 : 214;
  return isDark() ? `hsl(${hue} ${20 + 40 * part}% ${26 + 16 * part}%)` : `hsl(${hue} ${40 + 45 * part}% ${91 - 23 * part}%)`;
}

/* "+12.3 ms", "−400", "=" */
function changeText([before, after], unit) {
  const size = Math.abs(after - before);
  if (!size) return '=';
  return (after > before ? '+' : '−') + (unit === 'weight' ? amount(size) : count(size));
}

/* "+1.25 points": of the share. */
function pointsText(values, unit) {
  const points = 100 * shareChange(values, unit);
  return (points > 0 ? '+' : points < 0 ? '−' : '') + Math.abs(points).toFixed(2);
}

/* Columns of a table, for rows whose amounts VALUES gives by 'self' and 'total'. */
function changeColumns(values, kinds, unit) {
  return kinds.flatMap((kind) => [
    ['change-' + kind, kind === 'self' ? 'Self changed' : 'Total changed', 2, (row) => Math.abs(values(row, kind)[1] - values(row, kind)[0]),
      (row) => [changeCell(values(row, kind), unit), numberCell(pointsText(values(row, kind), unit))]],
  ]);
}

function changeCell(values, unit) {
  const cell = numberCell(changeText(values, unit));
  cell.classList.add(values[1] > values[0] ? 'more-than' : values[1] < values[0] ? 'less-than' : 'same-as');
  return cell;
}

/* What stands in the place of the kinds of code. */
function changeLegend() {
  const legend = make('div', 'legend'), swatch = (css, text) => {
    const item = make('span');
    item.append(make('i', 'swatch ' + css), text);
    legend.append(item);
  };
  swatch('grown', 'larger share than before');
  swatch('shrunk', 'smaller share');
  swatch('unchanged', 'no change');
  return legend;
}

/* Another side is another page over the same file. */
function showSide(side) {
  const words = new URLSearchParams(location.hash.slice(1));
  if (side === SIDE) return;
  words.delete('zoom');
  words.delete('side');
  if (side === BEFORE) words.set('side', 'before');
  location.hash = String(words);
  location.reload();
}

function renderSides() {
  $('#sides').hidden = !D.diff;
  for (const [side, text] of D.diff ? [[BEFORE, 'Before'], [AFTER, 'After']] : []) {
    const b = make('button', '', text);
    b.type = 'button';
    b.title = `Widths as in ${side === BEFORE ? D.diff.before : D.diff.after}`;
    b.dataset.side = side;
    b.setAttribute('aria-pressed', side === SIDE);
    b.addEventListener('click', () => showSide(side));
    $('#sides').append(b);
  }
}
