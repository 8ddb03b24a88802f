// What tslab's TypeScript lacks: a host that completes members, and flowdelta's own words for wrong arguments.
const { realpathSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')

const TYPESCRIPT = createRequire(require.resolve('tslab')).resolve('@tslab/typescript-for-tslab')
const ts = require(TYPESCRIPT)

/** What TypeScript says of arguments: their types, missing or unknown properties, no overload. */
const ABOUT_ARGUMENTS = new Set([2322, 2345, 2353, 2559, 2561, 2739, 2740, 2741, 2769, 2820])

/** @type {readonly import('typescript').Diagnostic[]} */
let heldBack = []

/**
 * Lets tslab compile and complete with these additions, if it is loaded later. tslab 1.0.22 gives
 * completions an empty host, which cannot complete members of imported types.
 */
function extendTypeScript() {
  const { Completions } = ts
  const additions = {
    Completions: {
      ...Completions,
      getCompletionsAtPositionForTslab: (_empty, program, ...rest) =>
        Completions.getCompletionsAtPositionForTslab(hostOf(program), program, ...rest),
    },
    createWatchCompilerHost,
    getPreEmitDiagnosticsOfFiles,
  }
  const added = Object.entries(additions).map(([name, value]) => [
    name,
    { value, enumerable: true },
  ])
  require.cache[TYPESCRIPT].exports = Object.create(null, {
    ...Object.getOwnPropertyDescriptors(ts),
    ...Object.fromEntries(added),
  })
}

/** Node's and JavaScript's own declarations, half of which are comments. */
const OWN_DECLARATIONS = /\/(?:@types\/node|undici-types|typescript-for-tslab\/lib)\/.*\.d\.ts$/

/**
 * A host that compiles cells in half the time: it reads the types of Node, and others once a cell
 * imports them; it makes no nodes of comments that belong to neither the cell nor its packages; and
 * its programs keep no account of what to build again.
 */
function createWatchCompilerHost(files, options, system, _createProgram, ...rest) {
  const readFile = (path, ...more) => {
    const text = system.readFile(path, ...more)
    return OWN_DECLARATIONS.test(path) ? text?.replaceAll('/**', '/* ') : text
  }
  return ts.createWatchCompilerHost(
    files,
    { ...options, types: ['node'] },
    Object.assign(Object.create(system), { readFile }),
    createPlainProgram,
    ...rest,
  )
}

/** The two questions that tslab has for a program: the names of the cell, and the sources it imports. */
function createPlainProgram(...given) {
  const builder = ts.createAbstractBuilder(...given)
  const program = builder.getProgram()
  for (const name of program.getRootFileNames())
    ts.bindSourceFile(program.getSourceFile(name), program.getCompilerOptions())
  builder.getAllDependencies = (cell) => {
    const sources = new Set([cell])
    for (const source of sources) {
      for (const { text } of source.imports) {
        const path = ts.getResolvedModule(source, text, undefined)?.resolvedFileName
        const imported = path && program.getSourceFile(path)
        if (imported && !imported.isDeclarationFile) sources.add(imported)
      }
    }
    return Array.from(sources, ({ fileName }) => fileName)
  }
  return builder
}

function hostOf(program) {
  return Object.assign(Object.create(ts.sys), {
    getCurrentDirectory: () => program.getCurrentDirectory(),
    getCompilationSettings: () => program.getCompilerOptions(),
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
  })
}

/**
 * All that is wrong with a cell up to the first wrong argument of flowdelta's. That and what follows
 * from it are held back: flowdelta checks its arguments itself, and names what was meant.
 */
function getPreEmitDiagnosticsOfFiles(program, files) {
  const found = ts.getPreEmitDiagnosticsOfFiles(program, files)
  const first = found.find((diagnostic) => isForFlowdelta(program, diagnostic))
  const isHeldBack = ({ file, start, code }) =>
    first !== undefined && file === first.file && start >= first.start && !isSyntax(code)
  heldBack = found.filter(isHeldBack)
  return found.filter((diagnostic) => !isHeldBack(diagnostic))
}

/** Codes below 2000 are those of the parser, but for what tslab allows: `await` at the top (1308). */
function isSyntax(code) {
  return code < 2000
}

/** Whether it is about an argument of a function of flowdelta's, and not within another function. */
function isForFlowdelta(program, { code, file, start }) {
  if (!ABOUT_ARGUMENTS.has(code) || file === undefined) return false
  let node = ts.getTokenAtPosition(file, start)
  while (node.parent !== undefined && !ts.isFunctionLike(node)) {
    const { parent } = node
    const isCall = ts.isCallExpression(parent) || ts.isNewExpression(parent)
    if (isCall && parent.arguments?.includes(node)) return isFlowdelta(program, parent)
    node = parent
  }
  return false
}

function isFlowdelta(program, call) {
  const { declaration } = program.getTypeChecker().getResolvedSignature(call) ?? {}
  const file = declaration?.getSourceFile().fileName
  return file?.startsWith(builtFlowdelta()) ?? false
}

/** The folder of the flowdelta that cells import, as TypeScript writes it. */
function builtFlowdelta() {
  const fromHere = createRequire(join(process.cwd(), 'cell.js'))
  const root = dirname(realpathSync(fromHere.resolve('flowdelta/package.json')))
  return `${root.replaceAll('\\', '/')}/dist/`
}

/** What was held back of the last cell, as lines to print; flowdelta may have taken it after all. */
function takeHeldBack() {
  const lines = heldBack.map(({ file, start, messageText }) => {
    const { line, character } = ts.getLineAndCharacterOfPosition(file, start)
    // tslab puts a line before the cell.
    return `${line}:${character + 1} - ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
  heldBack = []
  return lines
}

module.exports = { builtFlowdelta, extendTypeScript, takeHeldBack, ts }
