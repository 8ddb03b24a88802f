import { EXPLANATION_STYLE } from '../explanation/explanation-view.tsx'

/** How the ranking browser looks, beyond what tables have. */
import { TABLE_STYLE } from '../table/table-style.ts'

export const RANKING_STYLE = `
.flowdelta.fd-ranking {${TABLE_STYLE}}
.flowdelta .fd-openable { cursor: pointer; }
.flowdelta .fd-openable[aria-selected="false"]:hover td { background: var(--fd-raised); }
.flowdelta .fd-with-bar { display: grid; grid-template-columns: 1fr auto; gap: 8px; align-items: center; text-align: right; white-space: nowrap; }
.flowdelta .fd-open > td { padding: 4px 12px 12px; border-left: 3px solid var(--fd-focus); }
.flowdelta .fd-fit { container-type: inline-size; }
.flowdelta .fd-mutation { position: sticky; left: 12px; width: calc(100cqw - 30px); }
.flowdelta .fd-mutation h3 { font-size: 13px; margin: 10px 0 4px; }
.flowdelta .fd-side { display: flex; flex-wrap: wrap; gap: 0 32px; align-items: flex-start; }
.flowdelta .fd-side > div { flex: 1 1 320px; min-width: 0; max-width: 520px; }
.flowdelta .fd-few { max-height: 170px; }
.flowdelta .fd-changed td { font-weight: 600; }
.flowdelta .fd-changed td:first-child { box-shadow: inset 3px 0 var(--fd-change); }
.flowdelta .fd-more { margin-top: 6px; }
.flowdelta .fd-key { display: inline-block; width: 14px; height: 3px; vertical-align: middle; margin: 0 2px 2px 6px; }
.flowdelta .fd-key-before { background: var(--fd-before); }
.flowdelta .fd-key-after { background: var(--fd-after); }
.flowdelta .fd-exemplars ul { margin: 2px 0 6px; padding-left: 20px; }
.flowdelta .fd-exemplars code, .flowdelta .fd-mutation p code { font: 12px/1.4 ui-monospace, monospace; color: inherit; background: none; }
.flowdelta a { color: var(--fd-focus); }
.flowdelta {${EXPLANATION_STYLE}}
`
