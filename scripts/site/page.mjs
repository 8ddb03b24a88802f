// How pages of the documentation look, and what their search does.
export const SITE_STYLE = `
:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
body { margin: 0; display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; box-sizing: border-box; padding: 1rem; border-right: 1px solid #8884; font-size: .9rem; }
nav > a { display: block; padding: .15rem 0; }
nav input { width: 100%; box-sizing: border-box; font: inherit; padding: .3rem .5rem; }
nav ol { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li { padding: .3rem 0; border-bottom: 1px solid #8884; }
nav small { display: block; opacity: .75; }
main { max-width: 62rem; padding: 1rem 2.5rem 4rem; box-sizing: border-box; }
a { color: #1566c0; text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
h1, h2, h3 { line-height: 1.25; margin: 1.8em 0 .5em; }
h1 { margin-top: .3em; }
pre { overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; padding: .8rem 1rem; background: #8881; border-radius: 6px; font-size: .86rem; line-height: 1.45; }
code { font-family: ui-monospace, monospace; font-size: .92em; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; height: auto; border: 1px solid #8884; border-radius: 6px; background: #fff; }
.hljs-keyword { color: #a626a4; } .hljs-string { color: #3b7d2b; } .hljs-comment { opacity: .65; }
@media (prefers-color-scheme: dark) {
  a { color: #7ab8ff; } .hljs-keyword { color: #d8a0e0; } .hljs-string { color: #9ccf86; }
}
@media (max-width: 45rem) {
  body { display: block; } nav { position: static; height: auto; border: 0; columns: 10rem; } nav input { column-span: all; margin-bottom: .5rem; } main { padding: 1rem; }
}
`

/** Runs in the page: `SEARCH` is the index. */
export const SITE_SCRIPT = `
const field = document.getElementById('search')
const found = document.getElementById('found')
field.addEventListener('input', () => {
  const results = SEARCH.search(field.value, { prefix: true, fuzzy: 0.15, boost: { title: 3 }, combineWith: 'AND' })
  found.replaceChildren(...results.slice(0, 12).map(({ id, title, page }) => {
    const link = Object.assign(document.createElement('a'), { href: id, textContent: title })
    const item = document.createElement('li')
    item.append(link, Object.assign(document.createElement('small'), { textContent: page }))
    return item
  }))
})
`
