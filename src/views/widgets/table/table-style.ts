/** Styles tables that can be sorted and filtered. */
export const TABLE_STYLE = `
.fd-sort { background: none; border: 0; padding: 0; font-weight: 600; white-space: nowrap; }
.fd-arrow { margin-left: 4px; font-size: 10px; color: var(--fd-focus); }
.fd-arrow-off { color: var(--fd-soft); opacity: 0.6; }
.fd-long { min-width: 16em; overflow-wrap: anywhere; }
.fd-sum { vertical-align: bottom; font-size: 11px; line-height: 1.3; white-space: nowrap; min-width: 104px; }
.fd-sum-number { text-align: right; }
.fd-sum-number svg { margin-left: auto; }
.fd-sum .fd-top { display: flex; justify-content: space-between; gap: 10px; width: 100%; min-width: 120px; white-space: nowrap; font-size: 11px; line-height: 1.3;
  border: 0; border-radius: 0; margin: 0 0 1px; padding: 0 3px; text-align: left;
  background: linear-gradient(90deg, var(--fd-selected) var(--fd-share), var(--fd-raised) var(--fd-share), var(--fd-raised) var(--fd-all), transparent var(--fd-all)); }
.fd-filters td { padding-top: 4px; padding-bottom: 6px; border-bottom: 2px solid var(--fd-line); vertical-align: top; }
.fd-filters input, .fd-filters select { width: 100%; min-width: 64px; font-size: 12px; }
input::placeholder { color: var(--fd-soft); opacity: 1; }
input[aria-invalid="true"] { border-color: var(--fd-change); }
.fd-problem { color: var(--fd-change); font-size: 11px; }
.fd-pager { margin-top: 8px; }
.fd-pages { display: inline-flex; gap: 4px; }
button:disabled { opacity: 0.45; cursor: default; }
.fd-sum .fd-top:disabled { opacity: 1; color: inherit; }
.fd-columns { position: relative; }
.fd-columns summary { cursor: pointer; }
.fd-choices { position: absolute; z-index: 2; display: grid; gap: 2px; padding: 8px 10px; margin-top: 4px; max-height: 20em; overflow: auto;
  white-space: nowrap; background: var(--fd-back); border: 1px solid var(--fd-line); border-radius: 4px; }
`
