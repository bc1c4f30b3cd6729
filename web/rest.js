/* rest.js - the selected part of the time against the rest of it: colours tell what has another share of the selection than
 * of all that is not selected, as far as chance does not explain it (two proportions of samples, 99 %).
 */
const REST_DEVIATIONS = 2.576, REST_LEAST = 0.001;

/* Whether the page compares: a part is selected, the address asks for it, and there is a rest. */
function comparesRest() {
  return Boolean(T && T.selected && state.rest && T.other.totalSamples[0] > tree.totalSamples[0]);
}

/* What NODE has of the selection and of the rest, in UNIT. */
function restOf(node, unit) {
  return [node[unit], Math.max(0, node.on(T.other, unit) - node[unit])];
}

function restWholes(unit) {
  const key = columnOf('total', unit);
  return [tree[key][0], T.other[key][0] - tree[key][0]];
}

/* How its share of the selection differs from that of the rest, -1 … 1; 0: within chance. */
function restChange(node, unit) {
  const [here, there] = restOf(node, unit), [all, others] = restWholes(unit);
  const [n, m] = restWholes('samples'), change = (all ? here / all : 0) - (others ? there / others : 0);
  const pooled = Math.min(1, Math.max(0, (here + there) / (all + others || 1)));
  const chance = REST_DEVIATIONS * Math.sqrt(pooled * (1 - pooled) * (1 / Math.max(n, 1) + 1 / Math.max(m, 1)));
  return Math.abs(change) > Math.max(chance, REST_LEAST) ? change : 0;
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
