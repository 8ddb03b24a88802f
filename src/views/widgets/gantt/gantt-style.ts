/** How the rows of a Gantt chart are laid out and answer to pointer and keyboard. */
export const GANTT_STYLE = `
.flowdelta .fd-gantt-row { display: grid; grid-template-columns: minmax(130px, 34%) 1fr 64px; align-items: center; height: 22px; }
.flowdelta .fd-gantt-row > svg { height: 22px; width: 100%; overflow: visible; }
.flowdelta .fd-gantt-row[role="treeitem"]:hover { background: var(--fd-raised); }
.flowdelta .fd-gantt-row[aria-selected="true"] { background: var(--fd-selected); }
.flowdelta .fd-gantt-row:focus-visible { outline-offset: -2px; }
.flowdelta .fd-gantt-row.fd-dim { opacity: 0.45; }
.flowdelta .fd-gantt-row.fd-found .fd-gantt-name { font-weight: 600; text-decoration: underline; text-decoration-color: var(--fd-change); text-underline-offset: 2px; }
.flowdelta .fd-gantt-name { display: flex; gap: 4px; min-width: 0; white-space: nowrap; padding-right: 8px; }
.flowdelta .fd-gantt-text { overflow: hidden; text-overflow: ellipsis; }
.flowdelta .fd-gantt-fold { border: 0; background: none; padding: 0; width: 18px; flex: none; text-align: center; }
.flowdelta .fd-gantt-length { text-align: right; white-space: nowrap; color: var(--fd-soft); font-size: 12px; }
.flowdelta .fd-gantt-axis { cursor: crosshair; touch-action: pan-y; user-select: none; }
.flowdelta .fd-gantt-rows { max-height: 640px; overflow-y: auto; overflow-x: hidden; }
.flowdelta .fd-gantt-head { position: sticky; top: 0; background: var(--fd-back); z-index: 1; }
.flowdelta .fd-gantt-details { min-height: 9em; margin-top: 8px; }
.flowdelta .fd-gantt-details td { overflow-wrap: anywhere; vertical-align: top; }
`
