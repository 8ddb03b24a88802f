// The public API as Markdown, from the declarations of the build and the docstrings in them.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from '@babel/parser'

/** @typedef {{ name: string, code: string, comment: string, members: { code: string, comment: string }[] }} Declared */

/**
 * Returns a page with each public function, class and type: its docstring and its declaration.
 *
 * @param {string} types folder of declarations
 */
export function apiMarkdown(types) {
  const parts = [
    ['flowdelta', 'index.d.ts'],
    ['flowdelta/stats', 'stats/index.d.ts'],
  ].map(([name = '', entry = '']) => {
    const declared = publicNames(join(types, entry))
    const values = declared.filter(({ code }) => !/^(interface|type) /.test(code))
    const typesOnly = declared.filter(({ code }) => /^(interface|type) /.test(code))
    return [
      `## ${name}`,
      ...values.map(section),
      `## Types of ${name}`,
      ...typesOnly.map(section),
    ].join('\n\n')
  })
  return `# API

Every public name with its docstring and declaration, made from the code. [Options](../options.md) are in tables of their own.

${parts.join('\n\n')}
`
}

/**
 * Follows the exports of an entry to where each is declared.
 *
 * @param {string} entry
 * @returns {Declared[]}
 */
export function publicNames(entry) {
  /** @type {Map<string, Declared>} */
  const found = new Map()
  for (const node of programOf(entry).body) {
    if (node.type === 'ExportAllDeclaration') {
      for (const one of publicNames(fileOf(entry, node.source.value))) found.set(one.name, one)
    }
    if (node.type !== 'ExportNamedDeclaration') continue
    if (node.declaration != null) {
      for (const one of declarationsOf(entry)) if (one.exported) found.set(one.name, one)
    }
    for (const one of node.specifiers) {
      if (one.type !== 'ExportSpecifier' || one.exported.type !== 'Identifier') continue
      const from = node.source == null ? entry : fileOf(entry, node.source.value)
      const declared = find(from, one.local.name)
      if (declared === undefined) throw new Error(`${one.local.name} is not declared in ${from}`)
      found.set(one.exported.name, { ...declared, name: one.exported.name })
    }
  }
  return [...found.values()].sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
}

/**
 * @param {string} file
 * @param {string} name
 * @returns {Declared | undefined}
 */
function find(file, name) {
  const own = declarationsOf(file).find((one) => one.name === name)
  if (own !== undefined) return own
  for (const node of programOf(file).body) {
    const isAll = node.type === 'ExportAllDeclaration'
    if (!isAll && node.type !== 'ExportNamedDeclaration' && node.type !== 'ImportDeclaration')
      continue
    if (node.source == null) continue
    const from = fileOf(file, node.source.value)
    if (isAll) {
      const there = find(from, name)
      if (there !== undefined) return there
      continue
    }
    for (const one of node.specifiers) {
      if (
        one.type === 'ExportSpecifier' &&
        one.exported.type === 'Identifier' &&
        one.exported.name === name
      )
        return find(from, one.local.name)
      if (
        one.type === 'ImportSpecifier' &&
        one.local.name === name &&
        one.imported.type === 'Identifier'
      )
        return find(from, one.imported.name)
    }
  }
  return undefined
}

/** @type {Map<string, import('@babel/types').Program>} */
const programs = new Map()

/** @param {string} file */
function programOf(file) {
  const known = programs.get(file)
  if (known !== undefined) return known
  const plugins = /** @type {import('@babel/parser').ParserPlugin[]} */ ([
    ['typescript', { dts: true }],
  ])
  const { program } = parse(readFileSync(file, 'utf8'), { sourceType: 'module', plugins })
  programs.set(file, program)
  return program
}

/**
 * @param {string} file
 * @param {string} from
 */
function fileOf(file, from) {
  return join(dirname(file), from.replace(/\.js$/, '.d.ts'))
}

/**
 * @param {string} file
 * @returns {(Declared & { exported: boolean })[]}
 */
function declarationsOf(file) {
  const text = readFileSync(file, 'utf8')
  return programOf(file).body.flatMap((node) => {
    const exported = node.type === 'ExportNamedDeclaration'
    const declaration = exported ? node.declaration : node
    if (declaration == null || declaration.start == null || declaration.end == null) return []
    const comment = docOf(node.leadingComments)
    const code = text.slice(declaration.start, declaration.end).replace(/^declare /, '')
    const named =
      declaration.type === 'VariableDeclaration' ? declaration.declarations : [declaration]
    return named.flatMap((one) => {
      if (!('id' in one) || one.id == null || one.id.type !== 'Identifier') return []
      return [{ name: one.id.name, code, comment, exported, members: [] }]
    })
  })
}

/** @param {readonly import('@babel/types').Comment[] | null | undefined} comments */
function docOf(comments) {
  const last = comments?.filter(
    ({ type, value }) => type === 'CommentBlock' && value.startsWith('*'),
  )
  return (last?.at(-1)?.value ?? '')
    .replace(/^\*/, '')
    .replace(/^ *\* ?/gm, '')
    .trim()
}

/** @param {Declared} declared */
function section({ name, code, comment }) {
  const [words = '', ...tags] = comment.split(/^@/m)
  const told = tags.map((tag) => {
    const [kind = '', rest = ''] = splitAt(tag, /\s/)
    if (kind === 'example') return `\`\`\`ts\n${rest.trim()}\n\`\`\``
    const what = kind === 'param' ? rest.replace(/^(\S+)/, '`$1`') : rest
    return `*${kind}* ${what.trim()}`
  })
  return [`### ${name}`, words.trim(), ...told, `\`\`\`ts\n${code}\n\`\`\``]
    .filter((part) => part !== '')
    .join('\n\n')
}

/**
 * @param {string} text
 * @param {RegExp} at
 */
function splitAt(text, at) {
  const place = text.search(at)
  return place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place + 1)]
}
