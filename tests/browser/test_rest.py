"""Comparison of a part of the time with the rest: what chance does is grey, what differs is coloured."""
import pytest

# Of each box that is drawn: its colour, and how many samples it has. The seed moves samples to each other's times.
SHUFFLE = """
    const T = jstrobe.time;
    let seed = arguments[0];
    const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
    for (let i = T.count - 1; i > 0; i--) {
      const k = Math.floor(random() * (i + 1));
      for (const column of [T.place, T.samples, T.weight]) [column[i], column[k]] = [column[k], column[i]];
    }
    T.span.fill(0);
    jstrobe.change({ sel: '', rest: '' });"""
COLOURED = """
    jstrobe.change({ sel: arguments[0], rest: '1', view: arguments[1], unit: arguments[2], zoom: '' });
    const g = jstrobe.graph, cases = new Set(), names = new Set();
    for (const { node } of g.rows.flat()) {
      if (!node || !node.parent) continue;
      const hue = (/^hsl\\((8|214) /.exec(g.colour({ node })) || [])[1];
      if (!hue) continue;
      cases.add(node.samples + ' ' + node.weight);
      names.add((hue === '8' ? '+' : '-') + jstrobe.data.names[node.name]);
    }
    return [cases.size, [...names], jstrobe.root.samples];"""
PARTS = ("100-120", "1000-1100", "2000-2500", "3000-5000", "1000-9000")


@pytest.mark.parametrize("view", ["callees", "callers"])
def test_chance_is_grey(page, view):
    """The same samples at times by lot: no part of the time differs from another."""
    p = page("large-time", stacks=1500)
    found = []
    for seed in (1, 2, 3):
        p.js(SHUFFLE, seed)
        for part in PARTS:
            for unit in ("samples", "weight"):
                cases, names, samples = p.js(COLOURED, part, view, unit)
                assert samples
                found.append(cases)
    assert sum(found) <= 2, found


@pytest.mark.parametrize("view", ["callees", "callers"])
def test_a_difference_shows(page, view):
    """All samples of one place are in a part, and nothing else is: the place is red there, also where it is a hundredth."""
    p = page("large-time", stacks=1500)
    p.js(SHUFFLE, 1)
    name = p.js("""
        const T = jstrobe.time, tree = jstrobe.tree, sums = new Map();
        for (let i = 0; i < T.count; i++) sums.set(T.node[T.place[i]], (sums.get(T.node[T.place[i]]) || 0) + T.samples[i]);
        const all = [...sums.values()].reduce((a, b) => a + b), [node] = [...sums].filter(([, n]) => n < all / 50).sort((a, b) => b[1] - a[1])[0];
        let free = T.at.findIndex((at) => at * T.step >= 3e9);
        for (let i = 0; i < T.count; i++) {
          if (T.node[T.place[i]] !== node || (T.at[i] * T.step >= 3e9 && T.at[i] * T.step < 5e9)) continue;
          while (T.node[T.place[free]] === node) free++;
          for (const column of [T.place, T.samples, T.weight]) [column[i], column[free]] = [column[free], column[i]];
          free++;
        }
        return jstrobe.data.names[tree.name[node]];""")
    for unit in ("samples", "weight"):
        _, names, _ = p.js(COLOURED, "3000-5000", view, unit)
        assert "+" + name in names, names


def test_callers_are_compared_with_all(page):
    """A method's share of the rest has stacks in it that the selection has none of."""
    p = page("large-time", stacks=1500)
    p.js("jstrobe.change({ sel: '100-120', rest: '1', view: 'callers', unit: 'samples' })")
    wrong = p.js("""
        const T = jstrobe.time, tree = jstrobe.tree, all = new Map();
        for (let i = 1; i <= tree.count; i++) all.set(tree.name[i], (all.get(tree.name[i]) || 0) + T.other.selfSamples[i]);
        return jstrobe.graph.rows[1].filter((b) => b.node && b.node.on(T.other, 'samples') !== all.get(b.node.name)).length;""")
    assert wrong == 0
