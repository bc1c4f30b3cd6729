/* diff.js - the page of a difference (src/profile/writers/page/diff_page.c): the tree is that of two profiles, and each node has
 * what it was worth in either. One side is shown, the one after unless the address says otherwise. Colours are of what has
 * changed beyond chance, the fuller the larger the difference of the rates (by time, by unit of work, or the share of each
 * file's whole); the rest is grey. Which methods have changed is known from all their samples (profile/model/compare/compare.h); of
 * their nodes those are coloured whose own change is beyond chance, too.
 */
const BEFORE = 0, AFTER = 1;
const SIDE = new URLSearchParams(location.hash.slice(1)).get('side') === 'before' ? BEFORE : AFTER;

/* [before, after], each with the columns that a tree has. */
const SIDES = D.diff ? splitSides() : null;
if (SIDES) Object.assign(tree, SIDES[SIDE]);

function splitSides() {
  const samples = unpackColumn(D.diff.samples), weight = unpackColumn(D.diff.weight);
  const before = { selfSamples: samples.self, selfWeight: weight.self, totalSamples: samples.total, totalWeight: weight.total };
  const rest = (key) => tree[key].map((both, i) => both - before[key][i]);
  return [before, Object.fromEntries(Object.keys(before).map((key) => [key, rest(key)]))];
}

const columnOf = (kind, unit) => kind + unit[0].toUpperCase() + unit.slice(1);

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

/* AMOUNT of SIDE by what it is compared by. */
function rateOf(side, amount, unit) {
  return amount / (D.diff.byShare ? wholeOf(side, unit) || 1 : D.diff.per[side]);
}

function rateChange(values, unit) {
  return rateOf(AFTER, values[AFTER], unit) - rateOf(BEFORE, values[BEFORE], unit);
}

const changedSelf = new Set(D.diff ? D.diff.changedSelf : []), changedTotal = new Set(D.diff ? D.diff.changedTotal : []);

/* Whether the change of VALUES, of so many SAMPLES on either side, is more than chance does. */
function isBeyond(values, samples, unit) {
  let variance = 0;
  for (const side of [BEFORE, AFTER]) {
    const rate = rateOf(side, values[side], unit), one = rateOf(side, wholeOf(side, unit) / (wholeOf(side, 'samples') || 1), unit);
    variance += D.diff.spread * one * one * (samples[side] + 1) + (D.diff.runs * rate) ** 2;
  }
  return Math.abs(rateChange(values, unit)) > D.diff.deviations * Math.sqrt(variance);
}

/* Of a node: its method has changed, and it has. */
function nodeChanged(node, unit) {
  const name = nameOf(node.name);
  return (changedSelf.has(name) || changedTotal.has(name)) && isBeyond(sidesOf(node, unit), sidesOf(node, 'samples'), unit);
}

/* Of a row of methods; groups (BY) of them are looked at as they are. */
function rowChanged(row, kind, unit, by) {
  const of = (column) => row.changes[kind].map((v) => v[column]);
  return by ? isBeyond(of(unit === 'weight' ? 1 : 0), of(0), unit) : (kind === 'self' ? changedSelf : changedTotal).has(nameOf(row.id));
}

/* The largest change of all that stands below the root. */
const largest = {};
function largestChange(unit) {
  if (largest[unit]) return largest[unit];
  const key = columnOf('total', unit);
  let most = 0;
  for (let i = 1; i <= tree.count; i++) most = Math.max(most, Math.abs(rateChange(SIDES.map((side) => side[key][i]), unit)));
  return (largest[unit] = most || 1);
}

/* Red: more than before, blue: less; null: within chance. */
function changeColour(node, unit) {
  if (!nodeChanged(node, unit)) return null;
  const change = rateChange(sidesOf(node, unit), unit);
  return differenceColour(change > 0, Math.sqrt(Math.min(1, Math.abs(change) / largestChange(unit))));
}

/* PART: how full, 0 … 1. */
function differenceColour(more, part) {
  const hue = more ? 8 : 214;
  return isDark() ? `hsl(${hue} ${25 + 35 * part}% ${28 + 14 * part}%)` : `hsl(${hue} ${45 + 40 * part}% ${89 - 21 * part}%)`;
}

/* "+12.3 ms", "−400", "=" */
/** @param {number[]} sides @param {string} unit */
function changeText([before, after], unit) {
  const size = Math.abs(after - before);
  if (!size) return '=';
  return (after > before ? '+' : '−') + (unit === 'weight' ? amount(size) : count(size));
}

/* "+1.25 points": of the share. */
function pointsText(values, unit) {
  return pointsOf(100 * shareChange(values, unit));
}

function pointsOf(points) {
  return (points > 0 ? '+' : points < 0 ? '−' : '') + Math.abs(points).toFixed(2);
}

/* Columns of a table, for rows whose amounts VALUES gives by 'self' and 'total'; BEYOND: whether that is no chance. */
function changeColumns(values, kinds, unit, beyond) {
  return kinds.flatMap((kind) => [
    ['change-' + kind, kind === 'self' ? 'Self changed' : 'Total changed', 2, (row) => Math.abs(values(row, kind)[1] - values(row, kind)[0]),
      (row) => [changeCell(values(row, kind), unit, beyond(row, kind)), numberCell(pointsText(values(row, kind), unit))]],
  ]);
}

function changeCell(values, unit, beyond) {
  const cell = numberCell(changeText(values, unit)), change = rateChange(values, unit);
  cell.classList.add(beyond && change > 0 ? 'more-than' : beyond && change < 0 ? 'less-than' : 'same-as');
  return cell;
}

/* What stands in the place of the kinds of code: MORE than elsewhere, or less. */
function changeLegend(more) {
  const legend = make('div', 'legend'), swatch = (css, text) => {
    const item = make('span');
    item.append(make('i', 'swatch ' + css), text);
    legend.append(item);
  };
  swatch('grown', more);
  swatch('shrunk', 'less');
  swatch('unchanged', 'within chance');
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
