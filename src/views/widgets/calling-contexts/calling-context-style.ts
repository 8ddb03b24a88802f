import { colourVariables } from './calling-context-colours.ts'

/** So many rows of frames are in sight at once in a page; deeper ones are scrolled to. */
export const ROWS_IN_SIGHT = 28

/** How calling contexts look and answer to pointer and keyboard. */
export const CALLING_CONTEXT_STYLE = `
.flowdelta { ${colourVariables('light')} }
@media (prefers-color-scheme: dark) { .flowdelta { ${colourVariables('dark')} } }
[data-jp-theme-light="true"] .flowdelta { ${colourVariables('light')} }
[data-jp-theme-light="false"] .flowdelta { ${colourVariables('dark')} }
.flowdelta .fd-choice { display: inline-flex; gap: 4px; border: 0; margin: 0; padding: 0; }
.flowdelta .fd-frames { max-height: ${ROWS_IN_SIGHT * 22 + 11}px; overflow-y: auto; overflow-x: hidden; }
.flowdelta .fd-frame { cursor: pointer; }
.flowdelta .fd-frame:focus { outline: none; }
.flowdelta .fd-frame:hover rect, .flowdelta .fd-frame:focus rect { stroke: var(--fd-text); stroke-width: 1.5; }
.flowdelta .fd-frame:focus-visible rect { stroke: var(--fd-focus); stroke-width: 3; }
.flowdelta .fd-crumbs { display: flex; flex-wrap: wrap; gap: 2px 4px; align-items: center; margin: 4px 0; }
.flowdelta .fd-crumbs button { max-width: 24em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.flowdelta .fd-frame-details { min-height: 11.5em; margin-top: 8px; }
`
