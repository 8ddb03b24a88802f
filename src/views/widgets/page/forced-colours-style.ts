/**
 * For readers whose system sets all colours: what is chosen is told by a system colour and an
 * outline, as backgrounds are taken away. Drawings keep the colours of periods and changes, which
 * say what nothing else does, beside the system's colours for letters and grounds.
 */
export const FORCED_COLOURS_STYLE = `
@media (forced-colors: active) {
  .flowdelta, [data-jp-theme-light="true"] .flowdelta, [data-jp-theme-light="false"] .flowdelta {
    --fd-text: CanvasText; --fd-soft: CanvasText; --fd-back: Canvas; --fd-raised: Canvas; --fd-line: GrayText;
    --fd-focus: Highlight; --fd-selected: Highlight;
  }
  .flowdelta svg { forced-color-adjust: none; background: Canvas; }
  .flowdelta button[aria-pressed="true"], .flowdelta button[aria-selected="true"] {
    forced-color-adjust: none; background: Highlight; color: HighlightText; border-color: Highlight;
    outline: 2px solid Highlight; outline-offset: 1px;
  }
  .flowdelta :focus-visible { outline: 2px solid CanvasText; outline-offset: 3px; }
  .flowdelta tr[aria-selected="true"] td { background: none; border-bottom: 2px solid Highlight; border-top: 2px solid Highlight; }
  .flowdelta tr[aria-selected="true"] td:first-child { border-left: 4px solid Highlight; }
  .flowdelta tr[aria-selected="true"] td:last-child { border-right: 4px solid Highlight; }
  .flowdelta [role="treeitem"][aria-selected="true"]:not(g) { background: none; outline: 2px solid Highlight; outline-offset: -2px; }
  .flowdelta [aria-invalid="true"] { outline: 2px dashed CanvasText; }
}
`
