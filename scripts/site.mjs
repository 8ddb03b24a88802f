// npm run site: writes the documentation as a static site under out/site, which needs no network.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import hljs from 'highlight.js/lib/core'
import json from 'highlight.js/lib/languages/json'
import shell from 'highlight.js/lib/languages/shell'
import typescript from 'highlight.js/lib/languages/typescript'
import { Marked } from 'marked'
import MiniSearch from 'minisearch'
import { apiMarkdown } from './site/api.mjs'
import { SITE_SCRIPT, SITE_STYLE } from './site/page.mjs'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

hljs.registerLanguage('ts', typescript)
hljs.registerLanguage('sh', shell)
hljs.registerLanguage('json', json)

/** Markdown of the repository that is a page, beside `docs/guide`. */
const OTHER_PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/formats.md',
  'docs/measured.md',
  'docs/options.md',
  'docs/stores.md',
  'docs/log-formats.md',
  'docs/dependencies.md',
  'docs/skill/SKILL.md',
]
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/

/** @typedef {{ source: string, file: string, title: string, html: string, ids: string[], links: string[] }} Page */

/**
 * Reads every page. The page of the API is made from the declarations of the build.
 *
 * @returns {Page[]}
 */
export function sitePages() {
  const guide = readdirSync(join(ROOT, 'docs/guide')).filter((name) => name.endsWith('.md'))
  const first = [...guide].sort(
    (a, b) => Number(b === 'index.md') - Number(a === 'index.md') || (a < b ? -1 : 1),
  )
  const sources = [...first.map((name) => `docs/guide/${name}`), ...OTHER_PAGES]
  const texts = sources.map((source) => [source, readFileSync(join(ROOT, source), 'utf8')])
  const all = [...texts, ['docs/guide/api.md', apiMarkdown(join(ROOT, 'dist/types'))]]
  const files = new Map(all.map(([source = '']) => [source, fileOf(source)]))
  return all.map(([source = '', text = '']) =>
    pageOf(source, text.replace(FRONT_MATTER, ''), files),
  )
}

/** @param {string} source */
function fileOf(source) {
  const name = basename(source, '.md').toLowerCase()
  return `${name}.html`
}

/**
 * @param {string} source
 * @param {string} text
 * @param {Map<string, string>} files
 * @returns {Page}
 */
function pageOf(source, text, files) {
  /** @type {string[]} */
  const ids = []
  /** @type {string[]} */
  const links = []
  const file = fileOf(source)
  const marked = new Marked({
    gfm: true,
    walkTokens(token) {
      if (token.type !== 'link' && token.type !== 'image') return
      token.href = linkFrom(source, token.href, files)
      links.push(token.href)
    },
    renderer: {
      heading({ tokens, depth, text: words }) {
        const id = slug(words, ids)
        ids.push(id)
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      code({ text: code, lang = '' }) {
        const language = lang.split(' ')[0] ?? ''
        const html = hljs.getLanguage(language)
          ? hljs.highlight(code, { language }).value
          : escapeHtml(code)
        return `<pre tabindex="0"><code>${html}</code></pre>\n`
      },
    },
  })
  const html = String(marked.parse(text.replace(/^\*\*(.+)\*\*\n: (.+)$/gm, '**$1**: $2')))
  const title = /^# (.+)$/m.exec(text)?.[1] ?? file
  return { source, file, title, html, ids, links }
}

/**
 * Where a link of the repository leads in the site; what is no page keeps its place in the clone.
 *
 * @param {string} source
 * @param {string} href
 * @param {Map<string, string>} files
 */
function linkFrom(source, href, files) {
  if (/^[a-z]+:/i.test(href) || href.startsWith('#')) return href
  const [path = '', hash] = href.split('#')
  const target = posix.normalize(posix.join(dirname(source), path))
  const anchor = hash === undefined ? '' : `#${hash}`
  const page = files.get(target)
  if (page !== undefined) return page + anchor
  return /\.(png|svg)$/.test(target) ? `images/${basename(target)}` : `../../${target}${anchor}`
}

/**
 * @param {string} words
 * @param {string[]} taken
 */
function slug(words, taken) {
  const plain = words
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const same = taken.filter((id) => id === plain || id.startsWith(`${plain}-`)).length
  return taken.includes(plain) ? `${plain}-${same}` : plain
}

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/**
 * Sections of pages, as the search finds them.
 *
 * @param {Page[]} pages
 */
function sectionsOf(pages) {
  return pages.flatMap(({ file, title, html }) =>
    html.split(/(?=<h[1-3] id=")/).map((part, i) => {
      const [, id, heading] = /^<h[1-3] id="([^"]*)">([\s\S]*?)<\/h/.exec(part) ?? []
      const text = plainText(part)
      return {
        id: `${file}#${id ?? i}`,
        title: heading === undefined ? title : plainText(heading),
        page: title,
        text,
      }
    }),
  )
}

/** @param {string} html */
function plainText(html) {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()
}

const SEARCH = { fields: ['title', 'text'], storeFields: ['title', 'page'] }

/** @param {string} out */
export function writeSite(out) {
  const pages = sitePages()
  rmSync(out, { recursive: true, force: true })
  mkdirSync(join(out, 'images'), { recursive: true })
  for (const folder of ['docs', 'docs/widgets']) {
    for (const name of readdirSync(join(ROOT, folder))) {
      if (/\.(png|svg)$/.test(name))
        copyFileSync(join(ROOT, folder, name), join(out, 'images', name))
    }
  }
  const menu = pages
    .filter(({ source }) => source.startsWith('docs/'))
    .map(({ file, title }) => `<a href="${file}">${escapeHtml(title)}</a>`)
    .join('\n')
  for (const page of pages) writeFileSync(join(out, page.file), pageHtml(page, menu))
  const search = new MiniSearch(SEARCH)
  search.addAll(sectionsOf(pages))
  // Pages opened from a folder may not fetch: the index is a script.
  const miniSearch = readFileSync(join(ROOT, 'node_modules/minisearch/dist/umd/index.js'), 'utf8')
  const index = JSON.stringify(JSON.stringify(search))
  writeFileSync(
    join(out, 'search.js'),
    `${miniSearch.replace(/^\/\/# sourceMappingURL.*$/m, '')}
const SEARCH = MiniSearch.loadJSON(${index}, ${JSON.stringify(SEARCH)})
${SITE_SCRIPT}`,
  )
  return pages
}

/**
 * @param {Page} page
 * @param {string} menu
 */
function pageHtml({ title, html }, menu) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · flowdelta</title>
<link rel="icon" href="data:,">
<style>${SITE_STYLE}</style>
</head>
<body>
<nav>
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation">
<ol id="found" aria-live="polite"></ol>
${menu}
</nav>
<main>
${html}
</main>
<script src="search.js" defer></script>
</body>
</html>
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = join(ROOT, 'out', 'site')
  const pages = writeSite(out)
  process.stdout.write(
    `${relative(process.cwd(), join(out, 'index.html'))}: ${pages.length} pages\n`,
  )
}
