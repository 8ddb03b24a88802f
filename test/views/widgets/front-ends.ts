/** What front ends of notebooks put around an output, with those of their rules that reach into it. */
export interface FrontEnd {
  /** Attributes of the page's body, with its theme where it has one. */
  readonly body: string
  readonly css: string
  /** The classes of the elements around an output, from the outside. */
  readonly around: readonly string[]
}

/** JupyterLab 4.6: `style/base.css` of @jupyterlab/rendermime, and its theme's variables. */
const JUPYTERLAB = `
.jp-RenderedHTMLCommon { color: var(--jp-content-font-color1); font-family: serif; font-size: 14px; line-height: 1.6; padding-right: 20px; }
.jp-RenderedHTMLCommon h3 { line-height: 1; font-weight: 500; margin: 1.2em 0 0.8em 0; font-size: 1.44em; }
.jp-RenderedHTMLCommon table { border-collapse: collapse; border-spacing: 0; border: none; color: var(--jp-ui-font-color1);
  font-size: 13px; table-layout: fixed; margin-left: auto; margin-bottom: 1em; margin-right: auto; }
.jp-RenderedHTMLCommon thead { border-bottom: 1px solid var(--jp-border-color1); vertical-align: bottom; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr { vertical-align: middle; padding: 0.5em;
  line-height: normal; white-space: normal; max-width: none; border: none; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td, :not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon tr { text-align: right; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: var(--jp-layout-color0); }
.jp-RenderedHTMLCommon tbody tr:nth-child(even) { background: var(--jp-rendermime-table-row-background); }
.jp-RenderedHTMLCommon p { text-align: left; margin: 0; margin-bottom: 1em; }
.jp-RenderedHTMLCommon svg { max-width: 100%; }
.jp-RenderedHTMLCommon code { background-color: var(--jp-layout-color2); padding: 1px 5px; }
`

/** Notebook 6.4: `style.min.css`, with what it has of Bootstrap 3. */
const NOTEBOOK = `
html { font-size: 10px; }
body { font-family: "Helvetica Neue", Helvetica, Arial, sans-serif; font-size: 13px; line-height: 1.42857143; color: #000; }
* { box-sizing: border-box; }
details, summary { display: block; }
button, input, select { color: inherit; font: inherit; margin: 0; }
label { display: inline-block; max-width: 100%; margin-bottom: 5px; font-weight: normal; }
table { border-collapse: collapse; border-spacing: 0; background-color: transparent; }
td, th { padding: 0; }
h3 { font-family: inherit; font-weight: 500; line-height: 1.1; margin-top: 18px; margin-bottom: 9px; font-size: 23px; }
code { padding: 2px 4px; font-size: 90%; color: #000; background-color: #f9f2f4; border-radius: 2px; }
.rendered_html h3 { font-size: 128.6%; margin: 1.55em 0 0 0; font-weight: bold; line-height: 1; }
.rendered_html table { margin-left: auto; margin-right: auto; border: none; color: black; font-size: 12px; table-layout: fixed; }
.rendered_html thead { border-bottom: 1px solid black; vertical-align: bottom; }
.rendered_html tr, .rendered_html th, .rendered_html td { text-align: right; vertical-align: middle; padding: 0.5em 0.5em;
  line-height: normal; white-space: normal; max-width: none; border: none; }
.rendered_html tbody tr:nth-child(odd) { background: #f5f5f5; }
.rendered_html * + table, .rendered_html * + p { margin-top: 1em; }
.rendered_html p { text-align: left; }
.rendered_html svg { max-width: 100%; height: auto; }
.rendered_html code { background-color: #eff0f1; border: 0; color: #000; font-size: 100%; }
`

/** VS Code: the page of outputs, and some of the variables that its theme sets there. */
const VSCODE = `
html { --vscode-editor-background: #1e1e1e; --vscode-foreground: #ccc; --vscode-font-size: 13px; }
body { color: var(--vscode-foreground); background: var(--vscode-editor-background); font: 16px/1.9 serif; }
table, thead, tr, th, td, tbody { border: none !important; border-color: transparent; border-spacing: 0; border-collapse: collapse; }
table, th, tr { vertical-align: middle; text-align: right; }
thead { font-weight: bold; background-color: rgba(130, 130, 130, 0.16); }
th, td { padding: 4px 8px; }
tr:nth-child(even) { background-color: rgba(130, 130, 130, 0.08); }
tbody th { font-weight: normal; }
code { color: var(--vscode-textPreformat-foreground, #d7ba7d); }
`

const LAB_OUTPUT = ['jp-OutputArea', 'jp-RenderedHTMLCommon jp-RenderedHTML jp-OutputArea-output']
const VSCODE_OUTPUT = ['output_container', 'output']

export const FRONT_ENDS = {
  notebook: {
    body: 'class="notebook_app"',
    css: NOTEBOOK,
    around: ['output_area', 'output_subarea output_html rendered_html'],
  },
  'jupyterlab, light': {
    body: 'data-jp-theme-light="true"',
    css: `${JUPYTERLAB} body { --jp-ui-font-color1: rgba(0,0,0,.87); --jp-layout-color0: white; --jp-rendermime-table-row-background: #f5f5f5; }`,
    around: LAB_OUTPUT,
  },
  'jupyterlab, dark': {
    body: 'data-jp-theme-light="false"',
    css: `${JUPYTERLAB} body { background: #111; --jp-ui-font-color1: rgba(255,255,255,.87); --jp-layout-color0: #111; --jp-rendermime-table-row-background: #424242; }`,
    around: LAB_OUTPUT,
  },
  'vscode, light': {
    body: 'class="vscode-light" data-vscode-theme-kind="vscode-light"',
    css: VSCODE.replace('#1e1e1e', '#ffffff').replace('#ccc', '#3b3b3b'),
    around: VSCODE_OUTPUT,
  },
  'vscode, dark': {
    body: 'class="vscode-dark" data-vscode-theme-kind="vscode-dark"',
    css: VSCODE,
    around: VSCODE_OUTPUT,
  },
} as const satisfies Readonly<Record<string, FrontEnd>>

/** A page without any style of its own. */
export const PLAIN: FrontEnd = { body: '', css: '', around: [''] }
