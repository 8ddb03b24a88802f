/** How swimlanes answer to pointer and keyboard. */
export const SWIMLANE_STYLE = `
.flowdelta .fd-lane-item { cursor: default; }
.flowdelta .fd-lane-item:focus { outline: none; }
.flowdelta .fd-lane-item:hover .fd-lane-line, .flowdelta .fd-lane-item:focus .fd-lane-line { stroke-width: 3; }
.flowdelta .fd-lane-item:focus-visible .fd-lane-line { stroke: var(--fd-focus); stroke-width: 4; }
.flowdelta .fd-lane-item:hover > rect:first-of-type { fill: var(--fd-selected); }
.flowdelta .fd-lane-item:focus > rect:first-of-type { fill: var(--fd-selected); stroke: var(--fd-text); stroke-width: 1; }
.flowdelta .fd-lane-item:focus-visible > rect:first-of-type { stroke: var(--fd-focus); stroke-width: 2; }
.flowdelta .fd-lane-plot { cursor: crosshair; touch-action: pan-y; }
.flowdelta .fd-lane-words { min-height: 3em; }
`
