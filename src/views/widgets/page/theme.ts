import { PALETTE } from '../../charts/palette.ts'
import { CHANGE_TEXT } from '../../drawing/ink.ts'
import { CALLING_CONTEXT_STYLE } from '../calling-contexts/calling-context-style.ts'
import { EXPLANATION_STYLE } from '../explanation/explanation-style.ts'
import { FLOW_STYLE } from '../flows/flow-style.ts'
import { GANTT_STYLE } from '../gantt/gantt-style.ts'
import { LOGS_STYLE } from '../logs/logs-style.ts'
import { RANKING_STYLE } from '../ranking/ranking-style.ts'
import { SWIMLANE_STYLE } from '../swimlanes/swimlane-style.ts'
import { TABLE_STYLE } from '../table/table-style.ts'
import { TIMELINE_STYLE } from '../timeline/timeline-style.ts'
import { VARIANCE_STYLE } from '../variance/variance-style.ts'
import { VARIATION_STYLE } from '../variation/variation-style.ts'
import { WHAT_IF_STYLE } from '../whatif/what-if-style.ts'
import { FORCED_COLOURS_STYLE } from './forced-colours-style.ts'

/** How widgets look; every rule stays within `.flowdelta`. */
export const THEME = `
.flowdelta {
  --fd-before: ${PALETTE.before}; --fd-after: ${PALETTE.after}; --fd-change: ${PALETTE.change}; --fd-change-ink: ${CHANGE_TEXT};
  --fd-text: #222; --fd-soft: #5f5f5f; --fd-back: #fff; --fd-raised: #f5f5f5; --fd-line: #d0d0d0;
  --fd-focus: #0072B2; --fd-selected: #e3eff7;
  color: var(--fd-text); background: var(--fd-back); border: 1px solid var(--fd-line);
  border-radius: 6px; padding: 10px 12px; font: 13px/1.45 system-ui, sans-serif; max-width: 100%;
  box-sizing: border-box; text-align: left; font-variant-numeric: tabular-nums;
}
@media (prefers-color-scheme: dark) {
  .flowdelta {
    --fd-text: #e8e8e8; --fd-soft: #a8a8a8; --fd-back: #1b1b1b; --fd-raised: #272727; --fd-line: #4a4a4a;
    --fd-before: #F0B429; --fd-after: #56B4E9; --fd-change: #FF7F2A; --fd-change-ink: #FF7F2A; --fd-focus: #56B4E9; --fd-selected: #1f3647;
  }
}
[data-jp-theme-light="true"] .flowdelta {
  --fd-before: ${PALETTE.before}; --fd-after: ${PALETTE.after}; --fd-change: ${PALETTE.change}; --fd-change-ink: ${CHANGE_TEXT};
  --fd-text: #222; --fd-soft: #5f5f5f; --fd-back: #fff; --fd-raised: #f5f5f5; --fd-line: #d0d0d0;
  --fd-focus: #0072B2; --fd-selected: #e3eff7;
}
[data-jp-theme-light="false"] .flowdelta {
  --fd-text: #e8e8e8; --fd-soft: #a8a8a8; --fd-back: #1b1b1b; --fd-raised: #272727; --fd-line: #4a4a4a;
  --fd-before: #F0B429; --fd-after: #56B4E9; --fd-change: #FF7F2A; --fd-change-ink: #FF7F2A; --fd-focus: #56B4E9; --fd-selected: #1f3647;
}
.flowdelta *, .flowdelta *::before { box-sizing: border-box; }
.flowdelta h3 { font-size: 15px; margin: 0 0 4px; }
.flowdelta p { margin: 2px 0 8px; }
.flowdelta .fd-soft { color: var(--fd-soft); }
.flowdelta .fd-bar { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin: 4px 0 8px; }
.flowdelta label { display: inline-flex; gap: 6px; align-items: center; }
.flowdelta button, .flowdelta select, .flowdelta input[type="text"], .flowdelta input[type="search"], .flowdelta input[type="number"] {
  font: inherit; color: inherit; background: var(--fd-raised); border: 1px solid var(--fd-line);
  border-radius: 4px; padding: 2px 8px; margin: 0;
}
.flowdelta button { cursor: pointer; }
.flowdelta button[aria-pressed="true"], .flowdelta button[aria-selected="true"] { background: var(--fd-selected); border-color: var(--fd-focus); }
.flowdelta :focus-visible { outline: 2px solid var(--fd-focus); outline-offset: 1px; }
.flowdelta table { border-collapse: collapse; font-size: 12.5px; margin: 0; }
.flowdelta th, .flowdelta td { padding: 3px 8px; text-align: left; border-bottom: 1px solid var(--fd-line); background: none; color: inherit; }
.flowdelta th { font-weight: 600; position: sticky; top: 0; background: var(--fd-back); }
.flowdelta .fd-amount { text-align: right; white-space: nowrap; }
.flowdelta .fd-scroll { overflow: auto; max-width: 100%; }
.flowdelta .fd-name { white-space: nowrap; }
.flowdelta tr[aria-selected="true"] td { background: var(--fd-selected); }
.flowdelta svg { display: block; max-width: 100%; }
.flowdelta td svg { max-width: none; }
.flowdelta td button { white-space: nowrap; }
.flowdelta svg text { fill: var(--fd-text); }
.flowdelta svg text.fd-soft { fill: var(--fd-soft); }
.flowdelta .fd-code { display: flex; gap: 8px; align-items: center; margin-top: 8px; padding-top: 8px; border-top: 1px solid var(--fd-line); }
.flowdelta .fd-code code { font: 12px/1.4 ui-monospace, monospace; background: var(--fd-raised); padding: 3px 6px; border-radius: 4px; user-select: all; overflow-wrap: anywhere; color: inherit; direction: ltr; unicode-bidi: isolate; }
${RANKING_STYLE}
${TABLE_STYLE}
${TIMELINE_STYLE}
${VARIANCE_STYLE}
${VARIATION_STYLE}${CALLING_CONTEXT_STYLE}
${EXPLANATION_STYLE}
${FLOW_STYLE}
${GANTT_STYLE}
${LOGS_STYLE}
${SWIMLANE_STYLE}
${WHAT_IF_STYLE}
${FORCED_COLOURS_STYLE}`
