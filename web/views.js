/* views.js - what the graph can show: the tree from the root, or the callers of what is on top.
 *
 * Both are trees of small objects made only where they are looked at: the caller tree of a large profile
 * would be many times its size. A node has name, kind, samples, weight, its own samples and weight, and
 * children(unit), heaviest first.
 */

/* Whether node I has more than waits for work that are left out. */
function isShown(i) {
  return SHOWS_IDLE || isSomething('total', i);
}

/* Whether node I has anything (KIND: of its own, or in total), here or in what it is compared with: who merges nodes needs them all. */
function isSomething(kind, i) {
  const has = (side) => side[kind + 'Samples'][i] > 0 || side[kind + 'Weight'][i] > 0;
  return has(tree) || (D.diff ? SIDES.some(has) : comparesRest() && has(T.other));
}

/* The tree as it was sampled. */
class CalleeNode {
  constructor(index, parent) {
    this.index = index;
    this.parent = parent;
    this.depth = parent ? parent.depth + 1 : 0;
    this.name = tree.name[index];
    this.kind = tree.kind[index];
    this.samples = tree.totalSamples[index];
    this.weight = tree.totalWeight[index];
    this.selfSamples = tree.selfSamples[index];
    this.selfWeight = tree.selfWeight[index];
    this.below = null;
  }

  /* Its amount on a side of a difference. */
  on(side, unit) { return side[columnOf('total', unit)][this.index]; }

  /* Of samples of objects: how many there are with all below. */
  get objects() { return objects.total[this.index]; }

  /* Of a trace: its own invocations, and CPU time with all below. */
  get calls() { return this.selfSamples; }
  get cpu() { return cpuTimes.total[this.index]; }
  get selfCpu() { return cpuTimes.self[this.index]; }

  children(unit) {
    if (!this.below || this.unit !== unit) {
      const below = [], end = tree.end[this.index];
      if (this.below) below.push(...this.below);
      else for (let i = this.index + 1; i < end; i = tree.end[i]) if (SHOWS_IDLE || tree.totalSamples[i] > 0 || tree.totalWeight[i] > 0) below.push(new CalleeNode(i, this));
      this.below = heaviest(below, unit);
      this.unit = unit;
    }
    return this.below;
  }

  kinds() {
    return tree.mixed.get(this.index) || [[this.kind, this.samples]];
  }
}

/* Stacks merged from the top down to the root: a node holds the frames that it stands for, and for each the
 * node that it came from, which says what it is worth: VALUES has the numbers of all nodes of the tree. */
class CallerNode {
  constructor(name, parent, frames, origins, values) {
    this.name = name;
    this.parent = parent;
    this.depth = parent ? parent.depth + 1 : 0;
    this.frames = frames;
    this.origins = origins;
    this.values = values;
    this.samples = this.weight = 0;
    this.selfSamples = this.selfWeight = 0;
    for (let i = 0; i < frames.length; i++) {
      this.samples += values.samples[origins[i]];
      this.weight += values.weight[origins[i]];
      if (tree.parent[frames[i]] <= 0 && parent) { /* it has no caller: the stack ends here */
        this.selfSamples += values.samples[origins[i]];
        this.selfWeight += values.weight[origins[i]];
      }
    }
    this.below = null;
    this.kindSamples = null;
  }

  on(side, unit) {
    const column = side[columnOf(this.values.kind, unit)];
    return unit === 'most' ? this.origins.reduce((most, i) => Math.max(most, column[i]), 0) : this.sum(column);
  }

  get calls() { return this.sum(tree.selfSamples); }
  get cpu() { return this.sum(this.values.cpu); }

  sum(column) {
    return this.origins.reduce((sum, i) => sum + column[i], 0);
  }

  /* Only for nodes that are drawn: there are thousands of others. */
  sumKinds() {
    if (!this.kindSamples) {
      this.kindSamples = new Float64Array(KINDS.length);
      this.frames.forEach((frame, i) => { this.kindSamples[tree.kind[frame]] += this.values.samples[this.origins[i]]; });
    }
    return this.kindSamples;
  }

  get kind() {
    const sums = this.sumKinds();
    return this.parent ? sums.indexOf(Math.max(...sums)) : KIND_OTHER;
  }

  children(unit) {
    if (!this.below) this.below = this.group();
    if (this.unit !== unit) {
      heaviest(this.below, unit);
      this.unit = unit;
    }
    return this.below;
  }

  group() {
    const groups = new Map();
    for (let i = 0; i < this.frames.length; i++) {
      const frame = this.parent ? tree.parent[this.frames[i]] : this.frames[i];
      if (frame <= 0) continue;
      const name = tree.name[frame];
      let group = groups.get(name);
      if (!group) groups.set(name, group = [[], []]);
      group[0].push(frame);
      group[1].push(this.origins[i]);
    }
    return [...groups].map(([name, g]) => new CallerNode(name, this, g[0], g[1], this.values)).filter((node) => node.samples || node.weight);
  }

  kinds() {
    const seen = [];
    this.sumKinds().forEach((n, kind) => n && seen.push([kind, n]));
    return seen;
  }
}

function heaviest(nodes, unit) {
  return nodes.sort((a, b) => b[unit] - a[unit] || (nameOf(a.name) < nameOf(b.name) ? -1 : 1));
}

/* The root of a view: everything; everything by what is on top; or the callers of one method. */
function makeRoot(view, focus) {
  if (view !== 'callers') return new CalleeNode(0, null);
  const frames = [], cpu = cpuTimes ? cpuTimes[focus === null ? 'self' : 'total'] : null;
  for (let i = 1; i <= tree.count;) {
    if (focus === null) {
      if (isSomething('self', i)) frames.push(i);
      i++;
    } else if (methodOf[tree.name[i]] === focus) {
      if (isShown(i)) frames.push(i); /* the outermost: recursion counts once */
      i = tree.end[i];
    } else {
      i++;
    }
  }
  return new CallerNode(NO_NAME, null, frames, frames, focus === null ?
    { kind: 'self', samples: tree.selfSamples, weight: tree.selfWeight, cpu } : { kind: 'total', samples: tree.totalSamples, weight: tree.totalWeight, cpu });
}

/* The way from the root to NODE as a word for the address, and back. */
function nodePath(node) {
  if (!node.parent) return '';
  if (node.index !== undefined) return 'i' + node.index;
  const names = [];
  for (let n = node; n.parent; n = n.parent) names.push(n.name);
  return names.reverse().join('.');
}

function findNode(root, path, unit) {
  const index = /^i(\d+)$/.exec(path);
  if (!path) return root;
  if (index) {
    const way = [];
    if (root.index !== 0 || +index[1] > tree.count) return root;
    for (let i = +index[1]; i > 0; i = tree.parent[i]) way.push(i);
    return way.reverse().reduce((node, i) => node && node.children(unit).find((c) => c.index === i), root) || root;
  }
  return path.split('.').reduce((node, name) => node && node.children(unit).find((c) => c.name === +name), root) || root;
}
