// Turns notebooks that have run into HTML pages that need nothing but a browser.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import hljs from 'highlight.js/lib/core'
import json from 'highlight.js/lib/languages/json'
import shell from 'highlight.js/lib/languages/shell'
import typescript from 'highlight.js/lib/languages/typescript'
import { Marked } from 'marked'
import { PAGE_STYLE } from './notebooks/page-style.mjs'

hljs.registerLanguage('typescript', typescript)
hljs.registerLanguage('ts', typescript)
hljs.registerLanguage('json', json)
hljs.registerLanguage('sh', shell)

/** Renderings of a value a page can hold, best first. */
const RENDERERS = {
  'text/html': (/** @type {string} */ html) => html,
  'image/svg+xml': svgImage,
  'image/png': (/** @type {string} */ png, /** @type {string} */ text) =>
    `<img alt="${escapeHtml(text)}" src="data:image/png;base64,${png.trim()}">`,
  'text/markdown': (/** @type {string} */ markdown) => new Marked().parse(markdown),
  'text/plain': (/** @type {string} */ text) => `<pre>${escapeHtml(text)}</pre>`,
}

const IMAGE_TYPES = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.svg': 'image/svg+xml',
  '.gif': 'image/gif',
}

/** @typedef {Awaited<ReturnType<typeof import('./notebook-runner.mjs').runNotebook>>} NotebookRun */

/**
 * A notebook that has run, as one HTML page without any reference outside of it.
 *
 * @param {NotebookRun} run
 * @returns {string}
 */
export function notebookPage({ path, title, cells }) {
  const markdown = markdownRenderer(dirname(path))
  const body = cells.map((cell) => renderCell(cell, markdown)).join('\n')
  const footer = `<footer>${escapeHtml(basename(path))}, run by flowdelta · <a href="index.html">all notebooks</a></footer>`
  return page(title, keepFirstRuntime(body) + footer)
}

/**
 * The page that links the others: a card for each, with what it asks, how long it takes, a picture.
 *
 * @param {readonly import('./notebooks/book.mjs').Chapter[]} chapters
 */
export function indexPage(chapters) {
  const cards = chapters.map(({ name, title, question, minutes, picture }) => {
    const text = `<b>${name.slice(0, 2)} ${escapeHtml(title)}</b><span>${escapeHtml(question)}</span><small>${minutes} minutes</small>`
    return `<a class="card" href="${escapeHtml(encodeURI(pageName(name)))}">${picture === undefined ? '' : svgImage(picture, '')}${text}</a>`
  })
  return page(
    'flowdelta: notebooks',
    `<h1>flowdelta: notebooks</h1><div class="cards">${cards.join('')}</div>`,
  )
}

/** @param {string} notebook */
export function pageName(notebook) {
  return `${basename(notebook, '.ipynb')}.html`
}

/**
 * @param {string} svg
 * @param {string} text
 */
function svgImage(svg, text) {
  return `<img alt="${escapeHtml(text)}" src="data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}">`
}

/**
 * @param {string} title
 * @param {string} body
 */
function page(title, body) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}

/**
 * @param {NotebookRun['cells'][number]} cell
 * @param {Marked} markdown
 */
function renderCell({ type, source, outputs }, markdown) {
  if (type === 'markdown') return `<section class="prose">${markdown.parse(source)}</section>`
  if (type === 'raw' || source.trim() === '') return ''
  const shown = outputs.map(renderOutput).filter((html) => html !== '')
  const below = shown.length === 0 ? '' : `<div class="outputs">${shown.join('\n')}</div>`
  return `<section class="cell"><pre class="source" tabindex="0"><code>${highlight(source, 'typescript')}</code></pre>${below}</section>`
}

/** @param {import('./notebooks/outputs.mjs').Output} output */
function renderOutput({ output_type, name, text = '', data = {}, ename, evalue, traceback }) {
  if (output_type === 'stream') return block(name ?? 'stdout', pre(text))
  if (output_type === 'error') {
    return block('error', pre(traceback?.join('\n') ?? `${ename}: ${evalue}`))
  }
  for (const [mime, render] of Object.entries(RENDERERS)) {
    const value = data[mime]
    if (typeof value === 'string')
      return block('value', render(value, String(data['text/plain'] ?? '')))
  }
  return block('value', pre(JSON.stringify(data, null, 2)))
}

/**
 * @param {string} kind
 * @param {string | Promise<string>} html
 */
function block(kind, html) {
  return `<div class="output ${kind}">${html}</div>`
}

/** @param {string} text */
function pre(text) {
  return `<pre>${escapeHtml(stripVTControlCharacters(text))}</pre>`
}

/**
 * Runtimes are large and a page needs each once; an output that was shown a second time may have
 * brought one again.
 *
 * @param {string} body
 */
function keepFirstRuntime(body) {
  const seen = new Set()
  return body.replace(
    /<script type="module" data-flowdelta-runtime="(\w+)">[\s\S]*?<\/script>/g,
    (script, runtime) => {
      if (seen.has(runtime)) return ''
      seen.add(runtime)
      return script
    },
  )
}

/** Markdown whose pictures are inside the page and whose links lead to other pages. */
function markdownRenderer(/** @type {string} */ folder) {
  return new Marked({
    gfm: true,
    walkTokens(token) {
      if (token.type === 'image') token.href = inlineImage(token.href, folder)
      if (token.type === 'link' && !/^[a-z]+:/i.test(token.href)) {
        token.href = token.href
          .replace(/\.ipynb(?=$|#)/, '.html')
          .replace(/^README\.md$/, 'index.html')
      }
    },
    renderer: {
      code({ text, lang }) {
        return `<pre><code>${highlight(text, lang ?? '')}</code></pre>`
      },
    },
  })
}

/**
 * @param {string} href
 * @param {string} folder
 */
function inlineImage(href, folder) {
  const type = IMAGE_TYPES[/** @type {keyof typeof IMAGE_TYPES} */ (extname(href).toLowerCase())]
  const file = join(folder, decodeURI(href))
  if (type === undefined || /^[a-z]+:/i.test(href) || !existsSync(file)) return href
  return `data:${type};base64,${readFileSync(file).toString('base64')}`
}

/**
 * @param {string} code
 * @param {string} language
 */
function highlight(code, language) {
  if (hljs.getLanguage(language) === undefined) return escapeHtml(code)
  return hljs.highlight(code, { language }).value
}

/** @param {string} text */
function escapeHtml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
