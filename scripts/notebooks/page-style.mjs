/** The look of a notebook's page: one column, light or dark as the reader's system is, printable. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --muted: #59636e; --back: #fff; --soft: #f6f8fa; --line: #d1d9e0; --link: #0969da;
  --keyword: #cf222e; --string: #0a3069; --number: #0550ae; --title: #6639ba; --error: #b35900; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --muted: #9198a1; --back: #0d1117; --soft: #161b22; --line: #3d444d; --link: #58a6ff;
  --keyword: #ff7b72; --string: #a5d6ff; --number: #79c0ff; --title: #d2a8ff; --error: #ffa657; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 0.75rem; }
h1 { font-size: 1.9rem; margin-top: 0.5rem; } h2 { font-size: 1.4rem; border-bottom: 1px solid var(--line); padding-bottom: 0.25rem; } h3 { font-size: 1.15rem; }
p, ul, ol { max-width: 46rem; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.85rem; }
:not(pre) > code { background: var(--soft); padding: 0.1em 0.35em; border-radius: 4px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; line-height: 1.5; }
.prose > pre, .cell .source { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: 0.7rem 0.9rem; }
.prose > pre, .prose table { margin: 1rem 0; }
.cell { margin: 1rem 0; }
.outputs { padding: 0.5rem 0 0 0.9rem; border-left: 3px solid var(--line); margin-left: 2px; }
.output { overflow-x: auto; padding: 0.25rem 0; }
.output + .output { margin-top: 0.5rem; }
.output pre { color: var(--text); }
.stderr pre, .error pre { color: var(--error); }
.output img, .output svg { max-width: 100%; height: auto; }
.output table, .prose table { border-collapse: collapse; font-size: 0.85rem; }
.output th, .output td, .prose th, .prose td { border-bottom: 1px solid var(--line); padding: 0.15rem 0.6rem; vertical-align: top; }
.output thead th, .prose thead th { border-bottom: 2px solid var(--line); white-space: nowrap; }
.output tbody tr:hover { background: var(--soft); }
.output td { overflow-wrap: break-word; max-width: 36rem; }
.prose table { display: block; overflow-x: auto; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--muted); }
[data-flowdelta-live] { color: #1f2328; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); gap: 1rem; }
.card { display: flex; flex-direction: column; gap: 0.4rem; padding: 0.9rem; border: 1px solid var(--line); border-radius: 8px; color: inherit; text-decoration: none; line-height: 1.4; }
.card:hover, .card:focus-visible { border-color: var(--link); }
.card img { height: 9rem; object-fit: cover; object-position: left top; background: #fff; border-radius: 4px; margin-bottom: 0.3rem; }
.card b { color: var(--link); } .card small { color: var(--muted); margin-top: auto; }
footer { color: var(--muted); font-size: 0.85rem; margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 0.75rem; }
.hljs-comment { color: var(--muted); font-style: italic; } .hljs-keyword, .hljs-literal { color: var(--keyword); }
.hljs-string, .hljs-regexp { color: var(--string); } .hljs-number, .hljs-attr, .hljs-property { color: var(--number); } .hljs-title { color: var(--title); }
@media print { :root { color-scheme: light; --text: #000; --back: #fff; --soft: #f6f8fa; --line: #ccc; --muted: #555; }
  main { max-width: none; padding: 0; } .output { overflow: visible; break-inside: avoid; } .vega-embed details { display: none; } }
`
