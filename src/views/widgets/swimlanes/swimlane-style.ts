/** Lanes are at most this high in a page, in pixels; beyond, they scroll. */
export const LANE_WINDOW = 640

/** How swimlanes answer to pointer and keyboard. */
export const SWIMLANE_STYLE = `
.flowdelta .fd-lane-window { max-height: ${LANE_WINDOW}px; overflow-y: auto; overflow-x: hidden; position: relative; }
.flowdelta .fd-lane-axis { position: sticky; bottom: 0; margin-top: -24px; background: var(--fd-back); border-top: 1px solid var(--fd-line); pointer-events: none; }
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
