/** How the plots of variation lie beside each other. */
export const VARIATION_STYLE = `
.flowdelta .fd-variation { display: flex; flex-wrap: wrap; }
.flowdelta .fd-variation svg { touch-action: pan-y; }
.flowdelta .fd-scatter { cursor: crosshair; user-select: none; }
.flowdelta .fd-curves { cursor: pointer; }
`
