/* more.js - what main.js calls of what pages of the command have beside: menu and edits, and views of recordings. */
class MoreViews {
  constructor() {
    const style = make('style', '', [
      '#latency .bars { display: flex; align-items: flex-end; height: 20px; width: 180px; background: var(--ground); }',
      '#latency .bars i { flex: 1; background: var(--accent); }',
      'button.slow { border: 1px solid var(--line); background: var(--paper); border-radius: 7px; padding: 0 8px; color: var(--accent); }',
      '#latency .list, #events-table .list { padding: 4px 16px 24px; }',
      '#latency .list th { position: static; color: var(--pale); }',
      '#latency .list td:not(:last-child), #events-table .list td:not(:last-child) { width: 1%; }',
      '#latency tr.chosen { background: var(--accent-soft); }',
      '#locks .list, #memory .list { padding: 4px 16px 24px; } #locks .list th, #memory .list th { position: static; color: var(--pale); } #locks tr.chosen, #memory tr.chosen { background: var(--accent-soft); }',
      '#locks .list td:not(:last-child), #memory .list td:not(:last-child) { width: 1%; } #memory button.slow { margin: 8px 12px; } #memory .inside > td { width: auto; max-width: none; padding: 0 0 8px 36px; } #memory .inside:hover { background: none; } #memory .inside h2 { font-size: 13px; margin-top: 6px; } #locks td bdi, #memory td:not(:last-child) bdi { display: inline-block; max-width: 34ch; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; } #locks td:last-child bdi { max-width: 100%; }',
      '#locks .list td:last-child { min-width: 160px; } #locks .list > section td:first-child bdi { max-width: max(24ch, 24vw); } #locks .list > section td:nth-last-child(-n + 3):not(:last-child) bdi { max-width: max(16ch, 13vw); }',
      '#locks .lock td:nth-last-child(-n + 2) { white-space: normal; overflow-wrap: anywhere; width: auto; max-width: none; min-width: 60px; } #locks .lock td bdi { max-width: 100%; } #locks .whole { margin: 6px 12px; padding: 4px 10px; border-radius: 7px; background: var(--accent-soft); font-weight: 600; }',
      '#locks .lock { display: flex; flex-wrap: wrap; gap: 0 24px; } #locks .lock > section { flex: 1 1 420px; min-width: 0; }',
      '#locks h3 { font-size: 13px; margin: 10px 12px 2px; color: var(--pale); } #locks .lock button { margin: 8px 12px; }',
      '.stacks { margin: 0 12px; font-size: 12px; } .stacks div { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; } .stacks summary { color: var(--pale); cursor: pointer; }',
      '#events-table th { text-align: right; } #events-table th:nth-last-child(-n + 2) { text-align: left; }',
    ].join('\n'));
    document.head.append(style);
    this.tabs = [];
    this.frames = new FrameMenu();
    this.packages = new Packages();
    this.keys = [['Shift+F10', 'What can be done with the selected frame; right click', null], ...this.frames.keys(), ['p', 'Colours by kind of code or by package', () => this.packages.toggle()]];
    this.sandwich = this.tab('sandwich', 'Sandwich', 'One method: its callers above, what it calls below', Sandwich);
    if (when) this.chart = this.tab('chart', 'Chart', 'One thread: its stacks in the order of time', Chart);
    this.frames.graphs = [...this.sandwich.halves, ...(this.chart ? [this.chart] : [])];
    addEventListener('beforeprint', () => beforePrint());
    addEventListener('afterprint', () => afterPrint());
    if (LOCKS) this.locks = this.tab('locks', 'Locks', 'What threads waited for, who had it, and who waited', Locks);
    if (D.memory) this.memory = this.tab('memory', 'Memory', 'Classes, who asked for memory, and what grows', Memory);
    if (M.spans.length) this.latency = this.tab('latency', 'Latency', 'Spans of the program: how long they lasted', Latency);
    if (M.events.length) this.events = this.tab('events-table', 'Events', 'All other events of the recording', OtherEvents);
    if (when && M.shown.length) this.rows = new MarkRows();
    if (when && M.rows && ROWS_SHOWN.some(({ key }) => M.rows[key] && M.rows[key].count)) this.overview = new OverviewRows();
  }

  tab(id, text, title, View) {
    this.tabs.push(id);
    return new View(addTab(id, text, title));
  }

  /* Before anything is drawn. */
  follow(words) {
    if (this.frames.canEdit) this.frames.edits.follow(words.edit);
  }

  sayCover(part, strip) {
    if (M.spans.length) sayCover(part, strip);
  }

  packageColours(name) {
    return this.packages.of(name);
  }

  render(match) {
    this.frames.draw();
    this.packages.draw();
    if (state.tab === 'sandwich') this.sandwich.show(match);
    if (state.tab === 'chart') this.chart.showThread(match);
    if (state.tab === 'chart') $('#units').hidden = true;
    if (state.tab === 'locks') this.locks.show(match);
    if (state.tab === 'memory') this.memory.show(match);
    if (state.tab === 'latency') this.latency.show(match);
    if (state.tab === 'events-table') this.events.show(match);
    if (this.rows) this.rows.draw();
    if (this.overview) this.overview.draw();
  }
}
