/** How the timeline's ranges answer to the pointer. */
export const TIMELINE_STYLE = `
.flowdelta .fd-brush { touch-action: pan-y; user-select: none; }
.flowdelta .fd-brush-area { cursor: crosshair; }
.flowdelta .fd-brush-range { cursor: grab; }
.flowdelta .fd-brush-end { cursor: ew-resize; }
.flowdelta .fd-brush-end:focus-visible { outline: none; }
.flowdelta .fd-brush-end:focus-visible .fd-brush-grip { stroke: var(--fd-focus); stroke-width: 3; }
.flowdelta .fd-timeline-facts { min-width: min(100%, 600px); }
.flowdelta .fd-timeline-facts th.fd-amount { white-space: normal; }
.flowdelta .fd-timeline-facts th, .flowdelta .fd-timeline-facts td { padding: 3px 6px; }
`
