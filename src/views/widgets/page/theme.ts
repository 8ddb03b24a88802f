import { INK, type Palette, paletteVariables } from '../../drawing/figure.tsx'
import { type AnyWidget, setWidgetStyle } from '../define-widget.ts'
import * as WIDGETS from './views.ts'

const DEFINITIONS: readonly AnyWidget[] = Object.values(WIDGETS)
const PALETTES: readonly Palette[] = [INK, ...DEFINITIONS.flatMap(({ palettes = [] }) => palettes)]

function variables(theme: 'light' | 'dark'): string {
  return PALETTES.map((palette) => paletteVariables(palette[theme])).join(';')
}

/** Darkens the right edge of what is scrolled; at its end, a cover that scrolls along hides that. */
const EDGE_SHADOW = `background:
  linear-gradient(270deg, var(--fd-back) 40%, transparent) local 100% 0 / 36px 100% no-repeat,
  linear-gradient(270deg, color-mix(in srgb, var(--fd-text) 25%, transparent), transparent) scroll 100% 0 / 12px 100% no-repeat;`

const STYLES = DEFINITIONS.map(({ name, style = '' }) => `.flowdelta.fd-${name} {${style}}`)

/** For forced colors: choices get a system color and an outline; drawings keep their colors. */
const FORCED_COLORS = `
@media (forced-colors: active) {
  .flowdelta {
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

/** Within widgets: colors of their scheme, and all else. */
const WIDGET_STYLE = `
:host { ${variables('light')} }
:host([data-scheme="dark"]) { ${variables('dark')} }
.flowdelta {
  all: initial; display: block; --fd-change-ink: var(--fd-change-text);
  color: var(--fd-text); background: var(--fd-back); border: 1px solid var(--fd-line);
  border-radius: 6px; padding: 10px 12px; font: 13px/1.45 system-ui, sans-serif; max-width: 100%;
  box-sizing: border-box; text-align: left; font-variant-numeric: tabular-nums;
}
.flowdelta *, .flowdelta *::before { box-sizing: border-box; }
.flowdelta h3 { font-size: 15px; margin: 0 0 4px; }
.flowdelta p { margin: 2px 0 8px; }
.flowdelta section + section { margin-top: 12px; }
.flowdelta .fd-soft { color: var(--fd-soft); }
.flowdelta .fd-bar { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin: 8px 0; }
.flowdelta .fd-choice { display: inline-flex; gap: 4px; border: 0; margin: 0; padding: 0; }
.flowdelta label { display: inline-flex; gap: 6px; align-items: center; }
.flowdelta button, .flowdelta select, .flowdelta input[type="text"], .flowdelta input[type="search"], .flowdelta input[type="number"] {
  font: inherit; color: inherit; background: var(--fd-raised); border: 1px solid var(--fd-line);
  border-radius: 4px; padding: 2px 8px; margin: 0;
}
.flowdelta input[type="range"] { accent-color: var(--fd-focus); vertical-align: middle; }
.flowdelta button { cursor: pointer; }
.flowdelta button[aria-pressed="true"], .flowdelta button[aria-selected="true"] { background: var(--fd-selected); border-color: var(--fd-focus); }
.flowdelta :focus-visible { outline: 2px solid var(--fd-focus); outline-offset: 1px; }
.flowdelta table { border-collapse: collapse; font-size: 12.5px; margin: 0; }
.flowdelta th, .flowdelta td { padding: 3px 8px; text-align: left; border-bottom: 1px solid var(--fd-line); background: none; color: inherit; }
.flowdelta th { font-weight: 600; position: sticky; top: 0; background: var(--fd-back); }
.flowdelta .fd-amount { text-align: right; white-space: nowrap; }
.flowdelta .fd-scroll { overflow: auto; max-width: 100%; ${EDGE_SHADOW} }
.flowdelta thead th { z-index: 2; }
.flowdelta :where(.fd-scroll tr:not(.fd-open)) > :first-child { position: sticky; left: 0; z-index: 1; background: var(--fd-back); }
.flowdelta :where(.fd-scroll thead tr) > th:first-child { z-index: 3; }
.flowdelta .fd-beside { display: flex; flex-wrap: wrap; gap: 8px 32px; align-items: flex-start; }
.flowdelta .fd-beside > * { flex: 1 1 440px; min-width: 0; }
.flowdelta .fd-fold { margin: 6px 0; }
.flowdelta .fd-fold > summary { cursor: pointer; font-weight: 600; }
.flowdelta .fd-fold-mark { display: inline-block; flex: none; width: 18px; padding: 0; border: 0; background: none; text-align: center; text-indent: 0; }
.flowdelta .fd-chart { contain: inline-size; }
.flowdelta .fd-name { white-space: nowrap; }
.flowdelta tr[aria-selected="true"] td { background: var(--fd-selected); }
.flowdelta svg { display: block; max-width: 100%; }
.flowdelta td svg { max-width: none; }
.flowdelta svg [tabindex] { cursor: pointer; outline: none; }
.flowdelta .fd-with-bar { display: grid; grid-template-columns: 1fr auto; gap: 8px; align-items: center; text-align: right; white-space: nowrap; }
.flowdelta .fd-openable { cursor: pointer; }
.flowdelta .fd-openable[aria-selected="false"]:hover td { background: var(--fd-raised); }
.flowdelta .fd-open > td { padding: 4px 12px 12px; border-left: 3px solid var(--fd-focus); }
.flowdelta th .fd-sort { background: none; border: 0; padding: 0; font-weight: 600; white-space: nowrap; }
.flowdelta .fd-more { margin-top: 6px; }
.flowdelta td button { white-space: nowrap; }
.flowdelta svg:where(:not(.marks)) text { fill: var(--fd-text); }
.flowdelta svg text.fd-soft { fill: var(--fd-soft); }
.flowdelta .fd-code { display: flex; gap: 8px; align-items: center; margin-top: 8px; padding-top: 8px; border-top: 1px solid var(--fd-line); }
.flowdelta .fd-code code { font: 12px/1.4 ui-monospace, monospace; background: var(--fd-raised); padding: 3px 6px; border-radius: 4px; user-select: all; overflow-wrap: anywhere; color: inherit; direction: ltr; unicode-bidi: isolate; }
${STYLES.join('\n')}
${FORCED_COLORS}`

export function addTheme(): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(WIDGET_STYLE)
  setWidgetStyle(sheet)
}
