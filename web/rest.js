/* rest.js - the selected part of the time against the rest of it: colours tell what has another share of the selection than
 * of all that is not selected, as far as chance does not explain it.
 *
 * Chance: each sample could as well have been at any other time, so it is in the selection with the probability that one of
 * all samples is. How far a share moves then is bounded by Bennett's inequality, which holds for a handful of samples and for
 * weights that differ, too. There are many boxes: the bound is so that with 95 % certainty not one of them is coloured by chance
 * (Bonferroni). A box that has the same samples as the one above it is no other case, and those of fewer than five say nothing.
 */
const REST_CHANCE = 0.05, REST_LEAST = 0.001, REST_SAMPLES = 5;
const restSpreads = new WeakMap();

/* Whether the page compares: a part is selected, the address asks for it, and there is a rest. */
function comparesRest() {
  return Boolean(T && T.selected && state.rest && T.other.totalSamples[0] > tree.totalSamples[0]);
}

/* Of all that is compared: by node the sum of squares of its samples' weights and the largest weight; how many cases it has. */
function restSpread() {
  if (restSpreads.has(T.other)) return restSpreads.get(T.other);
  const column = () => new Float64Array(tree.count + 1), of = { selfSquares: column(), selfMost: column(), cases: 0 }, { totalSamples } = T.other;
  (T.selected.eachOther || ((fn) => eachMoment(0, T.steps, null, fn)))((i, { samples, weight }) => {
    const node = T.drawn[T.place[i]];
    of.selfSquares[node] += weight * weight / samples;
    of.selfMost[node] = Math.max(of.selfMost[node], weight / samples);
  });
  of.totalSquares = of.selfSquares.slice();
  of.totalMost = of.selfMost.slice();
  for (let i = tree.count; i > 0; i--) {
    const up = tree.parent[i];
    of.totalSquares[up] += of.totalSquares[i];
    of.totalMost[up] = Math.max(of.totalMost[up], of.totalMost[i]);
    if (totalSamples[i] >= REST_SAMPLES && totalSamples[i] !== totalSamples[up]) of.cases++;
  }
  restSpreads.set(T.other, of);
  return of;
}

/* What NODE has of the selection and of the rest, in UNIT. */
function restOf(node, unit) {
  return [node[unit], Math.max(0, node.on(T.other, unit) - node[unit])];
}

function restWholes(unit) {
  const key = columnOf('total', unit);
  return [tree[key][0], T.other[key][0] - tree[key][0]];
}

/* Whether NODE has so much more or less of the selection than its SHARE of all that chance does not explain it. */
function restBeyond(node, unit, moved, share) {
  const samples = node.on(T.other, 'samples'), of = restSpread(), all = T.other.totalSamples[0], part = tree.totalSamples[0] / all;
  if (samples < REST_SAMPLES) return false;
  const weighs = unit === 'weight', squares = weighs ? node.on(of, 'squares') : samples, rest = (weighs ? of.totalSquares[0] : all) - squares;
  const most = Math.max((1 - share) * (weighs ? node.on(of, 'most') : 1), share * (weighs ? of.totalMost[0] : 1)) * Math.max(part, 1 - part);
  const variance = part * (1 - part) * ((1 - share) ** 2 * squares + share ** 2 * Math.max(0, rest)), far = most * Math.abs(moved) / variance;
  return variance / most ** 2 * ((1 + far) * Math.log1p(far) - far) > Math.log(2 * Math.max(1, of.cases) / REST_CHANCE);
}

/* How its share of the selection differs from that of the rest, -1 … 1; 0: within chance. */
function restChange(node, unit) {
  const known = node.changes || (node.changes = {});
  if (unit in known) return known[unit];
  const [here, there] = restOf(node, unit), [all, others] = restWholes(unit), share = (here + there) / (all + others || 1);
  const change = (all ? here / all : 0) - (others ? there / others : 0);
  return (known[unit] = share < 1 && Math.abs(change) > REST_LEAST && restBeyond(node, unit, here - share * all, share) ? change : 0);
}

/* Red: more than in the rest, blue: less; null: within chance. */
function restColour(node, unit) {
  const change = restChange(node, unit);
  return change ? differenceColour(change > 0, Math.sqrt(Math.min(1, Math.abs(change)))) : null;
}

/* What the tip says of a node. */
function restRows(row, node, unit) {
  const [here, there] = restOf(node, unit), [all, others] = restWholes(unit);
  row('in the rest', percent(there, others));
  row('difference', restChange(node, unit) ? pointsOf(100 * (here / all - there / others)) + ' points' : 'within chance');
}
