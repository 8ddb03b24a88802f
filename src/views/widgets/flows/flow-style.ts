/** How flow comparisons answer to pointer and keyboard. */
export const FLOW_STYLE = `
.flowdelta .fd-flow-set { display: inline-flex; align-items: center; gap: 0; border: 0; padding: 0; margin: 0; min-width: 0; }
.flowdelta .fd-flow-set button { border-radius: 0; margin-left: -1px; }
.flowdelta .fd-flow-set button:first-child { border-radius: 4px 0 0 4px; margin-left: 0; }
.flowdelta .fd-flow-set button:last-child { border-radius: 0 4px 4px 0; }
.flowdelta .fd-flow-set button:focus-visible { position: relative; z-index: 1; }
.flowdelta .fd-flow-count { display: inline-grid; border: 1px solid var(--fd-line); border-left: 0; padding: 2px 8px; text-align: center; white-space: nowrap; }
.flowdelta .fd-flow-count > span, .flowdelta .fd-flow-count::before { grid-area: 1 / 1; }
.flowdelta .fd-flow-count::before { content: attr(data-widest) / ""; visibility: hidden; }
.flowdelta .fd-flow-slider input { width: min(260px, 40vw); }
.flowdelta .fd-flow-surface { border: 1px solid var(--fd-line); border-radius: 4px; cursor: grab; touch-action: none; max-width: none; }
.flowdelta .fd-flow-surface:active { cursor: grabbing; }
.flowdelta .fd-flow-surface text { cursor: text; user-select: text; text-rendering: geometricPrecision; }
.flowdelta .fd-flow-far text { display: none; }
.flowdelta .fd-flow-window { position: relative; }
.flowdelta .fd-flow-beyond { position: absolute; top: 8px; box-shadow: 0 1px 4px rgb(0 0 0 / 25%); }
.flowdelta .fd-flow-thing { cursor: pointer; }
.flowdelta .fd-flow-thing:focus { outline: none; }
.flowdelta .fd-flow-thing:hover .fd-flow-box { stroke-width: 3.2; }
.flowdelta .fd-flow-thing:focus-visible .fd-flow-box { stroke: var(--fd-focus); stroke-width: 4; }
.flowdelta .fd-flow-thing:hover .fd-flow-label { text-decoration: underline; }
.flowdelta .fd-flow-details { min-height: 4.5em; margin-top: 8px; }
.flowdelta .fd-flow-details strong { overflow-wrap: anywhere; }
.flowdelta .fd-flow-changed { color: var(--fd-change-ink); }
.flowdelta .fd-flow-edges { margin: 4px 0; padding-left: 18px; }
.flowdelta .fd-flow-edges li { margin: 2px 0; overflow-wrap: anywhere; }
.flowdelta .fd-flow-details button { white-space: normal; overflow-wrap: anywhere; text-align: left; }
`
