/** How the explorer of logs lies in a page. */
export const LOGS_STYLE = `
.flowdelta .fd-logs-slider input { width: 190px; accent-color: var(--fd-change); }
.flowdelta .fd-logs-slider { flex-wrap: wrap; }
.flowdelta .fd-logs-slider output { min-width: 13em; }
.flowdelta .fd-logs-sides { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: flex-start; }
.flowdelta .fd-logs-list { flex: 0 0 auto; border: 0; margin: 0; padding: 0; display: grid; gap: 2px; max-width: 100%; }
.flowdelta .fd-logs-list p { margin: 6px 0 2px; font-size: 12px; }
.flowdelta .fd-logs-list button { display: grid; grid-template-columns: 15em 4em 70px; gap: 8px; align-items: center; width: 100%; text-align: left; }
.flowdelta .fd-logs-list button[aria-pressed="false"] { background: none; border-color: transparent; }
.flowdelta .fd-logs-list button[aria-pressed="false"]:hover { background: var(--fd-raised); }
.flowdelta .fd-logs-graph { flex: 1 1 420px; min-width: 0; }
.flowdelta .fd-logs-drawing { overflow: auto; max-height: 560px; }
.flowdelta .fd-logs-drawing svg { max-width: none; }
.flowdelta .fd-logs-variable { cursor: pointer; }
.flowdelta .fd-logs-variable:focus { outline: none; }
.flowdelta .fd-logs-variable:hover .fd-logs-name { fill: var(--fd-raised); }
.flowdelta .fd-logs-variable:focus-visible .fd-logs-name { stroke: var(--fd-focus); stroke-width: 2; }
.flowdelta .fd-logs-rows { max-height: 300px; margin-top: 6px; }
.flowdelta .fd-logs-rows button { white-space: normal; text-align: left; overflow-wrap: anywhere; }
.flowdelta .fd-logs-others { line-height: 2; }
.flowdelta .fd-logs-others button { white-space: normal; text-align: left; overflow-wrap: anywhere; }
.flowdelta .fd-logs-details { border-top: 1px solid var(--fd-line); margin-top: 10px; padding-top: 10px; }
.flowdelta .fd-logs-details h3 { overflow-wrap: anywhere; }
.flowdelta .fd-logs-details th[scope="row"] { font-weight: 400; min-width: 11em; max-width: 15em; position: static; }
.flowdelta .fd-logs-details th[scope="row"] div { font-size: 11.5px; }
.flowdelta .fd-logs-strip { width: 300px; }
.flowdelta .fd-logs-ends { display: flex; justify-content: space-between; font-size: 11px; }
`
