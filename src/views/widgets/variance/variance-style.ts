/** How the explorer of variance lies in a page. */
export const VARIANCE_STYLE = `
.flowdelta .fd-variance-list { max-height: 330px; margin-bottom: 8px; }
.flowdelta .fd-variance-list th button { background: none; border: none; padding: 0; font-weight: 600; }
.flowdelta .fd-variance-open { border-top: 1px solid var(--fd-line); padding-top: 10px; }
.flowdelta .fd-variance-sides { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: flex-start; }
.flowdelta .fd-variance-sides > div { flex: 2 1 460px; min-width: 0; max-width: 100%; }
.flowdelta .fd-variance-sides > div:first-child { flex: 1 1 300px; }
.flowdelta .fd-variance-sides td button { white-space: normal; text-align: left; }
.flowdelta .fd-variance-sides td:first-child { min-width: 220px; }
.flowdelta .fd-variance-wide > div, .flowdelta .fd-variance-wide > div:first-child { flex-basis: 100%; }
.flowdelta .fd-variance-flow { max-height: 620px; overflow: auto; border: 1px solid var(--fd-line); border-radius: 4px; }
.flowdelta .fd-variance-flow svg { margin: 0 auto; height: auto; }
.flowdelta .fd-variance-whole svg { max-width: none; height: auto; }
.flowdelta .fd-variance-link { cursor: pointer; }
.flowdelta .fd-variance-link:focus { outline: none; }
.flowdelta .fd-variance-link:focus-visible .fd-variance-ring { stroke: var(--fd-focus); }
.flowdelta .fd-variance-link:focus-visible .fd-variance-gap { stroke: var(--fd-back); }
.flowdelta .fd-variance-edges { max-height: 360px; }
.flowdelta .fd-variance-edge { margin-top: 10px; }
.flowdelta .fd-variance-edge .fd-choice { flex-wrap: wrap; }
.flowdelta .fd-variance-edge h3 { font-size: 13px; }
.flowdelta .fd-variance-legend { display: flex; flex-wrap: wrap; gap: 2px 14px; }
.flowdelta .fd-variance-legend span { display: inline-flex; align-items: center; gap: 5px; white-space: nowrap; }
.flowdelta .fd-variance-marks { margin-top: 8px; }
.flowdelta .fd-variance-marks pre { font: 12px/1.4 ui-monospace, monospace; background: var(--fd-raised); color: inherit; padding: 8px; margin: 6px 0; overflow: auto; max-height: 220px; user-select: all; }
`
