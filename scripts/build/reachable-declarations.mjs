// What entries of declarations need, statement by statement: the exports of a module that nobody asks for go.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from '@babel/parser'

/** @typedef {import('@babel/types').Statement} Statement */

/**
 * A file of declarations: where each name in it comes from, and what of it is needed.
 *
 * @typedef {object} Module
 * @property {string} path
 * @property {string} text
 * @property {Statement[]} statements
 * @property {Map<string, Statement[]>} declared statements by the names that they declare
 * @property {Map<string, { statement: Statement, from: string, name: string }>} imported by name here
 * @property {Map<string, { statement: Statement, from: string | undefined, name: string }>} exported
 *   names that another statement exports, or from another module
 * @property {Set<Statement>} kept
 * @property {Set<string>} named names of kept imports and exports
 */

/**
 * The texts of files whose declarations entries need, all of those of an entry.
 *
 * @param {string[]} entries paths of declarations, which import each other as `./name.js`
 * @returns {Map<string, string>} texts by path
 */
export function reachableDeclarations(entries) {
  /** @type {Map<string, Module>} */
  const modules = new Map()
  const moduleOf = (/** @type {string} */ path) => {
    const known = modules.get(path)
    if (known !== undefined) return known
    const read = readModule(path)
    modules.set(path, read)
    return read
  }
  /** @type {(module: Module, from: string, name: string) => void} */
  const needFrom = (module, from, name) => {
    const path = join(dirname(module.path), from.replace(/\.js$/, '.d.ts'))
    if (from.startsWith('.') && existsSync(path)) need(moduleOf(path), name)
  }
  /** @type {(module: Module, name: string) => void} */
  const need = (module, name) => {
    const { declared, imported, exported, named, statements } = module
    if (named.has(name)) return
    named.add(name)
    for (const statement of declared.get(name) ?? []) keep(module, statement)
    const given = imported.get(name) ?? exported.get(name)
    if (given?.from !== undefined) needFrom(module, given.from, given.name)
    else if (given !== undefined && given.name !== name) need(module, given.name)
    if (name === '*') for (const all of [...declared.keys(), ...exported.keys()]) need(module, all)
    for (const one of statements) {
      if (one.type === 'ExportAllDeclaration') needFrom(module, one.source.value, name)
    }
  }
  /** @type {(module: Module, statement: Statement) => void} */
  const keep = (module, statement) => {
    if (module.kept.has(statement)) return
    module.kept.add(statement)
    for (const { name, from } of namesWithin(statement)) {
      if (from !== undefined) needFrom(module, from, name)
      else if (module.declared.has(name) || module.imported.has(name)) need(module, name)
    }
  }
  for (const entry of entries) need(moduleOf(entry), '*')
  return new Map(Array.from(modules, ([path, module]) => [path, textOf(module)]))
}

/**
 * @param {string} path
 * @returns {Module}
 */
function readModule(path) {
  const text = readFileSync(path, 'utf8')
  const plugins = [/** @type {const} */ (['typescript', { dts: true }])]
  const { body } = parse(text, { sourceType: 'module', plugins: [...plugins] }).program
  /** @type {Module} */
  const module = {
    ...{ path, text, statements: body, kept: new Set(), named: new Set() },
    ...{ declared: new Map(), imported: new Map(), exported: new Map() },
  }
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration') {
      for (const one of statement.specifiers) {
        const name = one.type === 'ImportSpecifier' ? nameOf(one.imported) : '*'
        module.imported.set(one.local.name, { statement, from: statement.source.value, name })
      }
    } else if (statement.type === 'ExportNamedDeclaration' && !statement.declaration) {
      for (const one of statement.specifiers) {
        const name = one.type === 'ExportSpecifier' ? one.local.name : '*'
        const from = statement.source?.value
        module.exported.set(nameOf(one.exported), { statement, from, name })
      }
    } else {
      for (const name of declaredBy(statement)) {
        module.declared.set(name, [...(module.declared.get(name) ?? []), statement])
      }
    }
  }
  return module
}

/** @param {import('@babel/types').Identifier | import('@babel/types').StringLiteral} node */
function nameOf(node) {
  return node.type === 'Identifier' ? node.name : node.value
}

/**
 * @param {Statement} statement
 * @returns {string[]}
 */
function declaredBy(statement) {
  const declaration = 'declaration' in statement ? statement.declaration : statement
  if (declaration?.type === 'VariableDeclaration') {
    return declaration.declarations.map(({ id }) => /** @type {any} */ (id).name)
  }
  return declaration && 'id' in declaration && declaration.id && 'name' in declaration.id
    ? [declaration.id.name]
    : []
}

/**
 * All names within a node, those of imported types with where they come from. Names of members and
 * parameters are among them, which keeps too much rather than too little.
 *
 * @param {any} node
 * @returns {Generator<{ name: string, from?: string }>}
 */
function* namesWithin(node) {
  if (node.type === 'TSImportType') {
    const from = (node.argument.literal ?? node.argument).value
    let { qualifier } = node
    while (qualifier?.left !== undefined) qualifier = qualifier.left
    yield { name: qualifier?.name ?? '*', from }
  }
  if (node.type === 'Identifier') yield { name: node.name }
  for (const child of Object.values(node).flat()) {
    if (typeof child?.type === 'string' && child.loc !== undefined) yield* namesWithin(child)
  }
}

/**
 * What is left of a module. A comment above a statement goes or stays with it.
 *
 * @param {Module} module
 */
function textOf({ text, statements, kept, named, imported, exported }) {
  let end = 0
  const parts = statements.map((statement) => {
    const begin = end
    end = statement.end ?? 0
    const source = text.slice(begin, end)
    const all = Array.from(statement.type === 'ImportDeclaration' ? imported : exported)
    const names = all.flatMap(([name, of]) => (of.statement === statement ? name : []))
    if (names.length === 0) return kept.has(statement) || isBare(statement) ? source : ''
    const { specifiers } = /** @type {import('@babel/types').ImportDeclaration} */ (statement)
    const left = specifiers.filter((_, at) => named.has(names[at] ?? ''))
    if (left.length === 0) return ''
    const [before, after] = [specifiers[0]?.start ?? 0, specifiers.at(-1)?.end ?? 0]
    const texts = left.map(({ start, end }) => text.slice(start ?? 0, end ?? 0))
    return text.slice(begin, before) + texts.join(', ') + text.slice(after, end)
  })
  return `${parts.join('').trim()}\n`
}

/** Whether a statement has no name: \`export {}\`, or what a module adds to all. */
function isBare(/** @type {Statement} */ statement) {
  if (statement.type === 'ExportNamedDeclaration') return !statement.declaration
  return statement.type === 'ExportAllDeclaration' || statement.type === 'TSModuleDeclaration'
}
