/** How tables look that can be sorted and filtered. */
export const TABLE_STYLE = `
.flowdelta .fd-sort { background: none; border: 0; padding: 0; font-weight: 600; white-space: nowrap; }
.flowdelta .fd-arrow { margin-left: 4px; font-size: 10px; color: var(--fd-focus); }
.flowdelta .fd-arrow-off { color: var(--fd-soft); opacity: 0.6; }
.flowdelta .fd-long { min-width: 16em; overflow-wrap: anywhere; }
.flowdelta .fd-sum { vertical-align: bottom; font-size: 11px; line-height: 1.3; white-space: nowrap; min-width: 104px; }
.flowdelta .fd-sum-number { text-align: right; }
.flowdelta .fd-sum-number svg { margin-left: auto; }
.flowdelta .fd-sum .fd-top { display: flex; justify-content: space-between; gap: 10px; width: 100%; min-width: 120px; white-space: nowrap; font-size: 11px; line-height: 1.3;
  border: 0; border-radius: 0; margin: 0 0 1px; padding: 0 3px; text-align: left;
  background: linear-gradient(90deg, var(--fd-selected) var(--fd-share), var(--fd-raised) var(--fd-share), var(--fd-raised) var(--fd-all), transparent var(--fd-all)); }
.flowdelta .fd-filters td { padding-top: 4px; padding-bottom: 6px; border-bottom: 2px solid var(--fd-line); vertical-align: top; }
.flowdelta .fd-filters input, .flowdelta .fd-filters select { width: 100%; min-width: 64px; font-size: 12px; }
.flowdelta input::placeholder { color: var(--fd-soft); opacity: 1; }
.flowdelta input[aria-invalid="true"] { border-color: var(--fd-change); }
.flowdelta .fd-problem { color: var(--fd-change); font-size: 11px; }
.flowdelta .fd-pager { margin-top: 8px; }
.flowdelta .fd-pages { display: inline-flex; gap: 4px; }
.flowdelta button:disabled { opacity: 0.45; cursor: default; }
.flowdelta .fd-sum .fd-top:disabled { opacity: 1; color: inherit; }
.flowdelta .fd-columns { position: relative; }
.flowdelta .fd-columns summary { cursor: pointer; }
.flowdelta .fd-choices { position: absolute; z-index: 2; display: grid; gap: 2px; padding: 8px 10px; margin-top: 4px; max-height: 20em; overflow: auto;
  white-space: nowrap; background: var(--fd-back); border: 1px solid var(--fd-line); border-radius: 4px; }
`
