// Starts tslab as the kernel of flowdelta's notebooks: its parts, put together as tslab's own main.js
// does, with what they lack. Nothing of tslab is changed on disk; another kernelspec starts it plain.
const { writeSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { inspect } = require('node:util')
const { extendTypeScript, takeHeldBack } = require('./language.cjs')

extendTypeScript()
const { interruptible, interruptibleConverter, isInterruption } = require('./interrupts.cjs')
const { watchCells } = require('./progress.cjs')
const { createConverter } = require('tslab/dist/converter.js')
const { createExecutor } = require('tslab/dist/executor.js')
const jupyter = require('tslab/dist/jupyter.js')

/** Frames of a stack below the cell: of tslab, of this kernel and of Node. */
const KERNEL_FRAME =
  /^ +at .*(?:[\\/]tslab[\\/]dist[\\/]|\(?node:|[\\/](?:kernel|interrupts)\.cjs:|sigintHandlersWrap|\(<anonymous>\)$)/
/** The lines of code above an error's name, where they are not the cell's own. */
const SOURCE_EXCERPT = /^(?!evalmachine)\S+:\d+\r?\n[\s\S]*?\n *\^+\r?\n\r?\n/

function main(configPath) {
  const converters = lazyConverters()
  void converters.node // Loads the compiler before the first cell.
  const executor = createExecutor(process.cwd(), converters, { log: printValue, error: printError })
  process.on('SIGINT', () => executor.interrupt())
  process.on('uncaughtException', (error) => console.error('UncaughtException:', error))
  process.on('unhandledRejection', (reason) => console.error('UnhandledPromiseRejection:', reason))
  new jupyter.ZmqServer(new jupyter.JupyterHandlerImpl(patient(executor)), configPath).init()
}

/** Converters of cells for Node and for browsers, each made when it is first needed. */
function lazyConverters() {
  const made = new Map()
  const converter = (isBrowser) => {
    if (!made.has(isBrowser)) {
      made.set(isBrowser, interruptibleConverter(createConverter({ isJS: false, isBrowser })))
    }
    return made.get(isBrowser)
  }
  return {
    get node() {
      return converter(false)
    },
    get browser() {
      return converter(true)
    },
    close() {
      for (const each of made.values()) each.close()
    },
  }
}

/** The executor, which says after a cell what flowdelta did not, and answers all questions of editors. */
function patient(executor) {
  const watched = watchCells(() => jupyter.lastWriteDisplayData)
  return {
    ...executor,
    async execute(code) {
      const isDone = await watched(() => executed(() => executor.execute(code)))
      const untold = takeHeldBack()
      if (!isDone || untold.length === 0) return isDone
      for (const line of untold) console.error(line)
      return false
    },
    complete: (code, position) =>
      answered(() => executor.complete(code, position), {
        start: position,
        end: position,
        candidates: [],
      }),
    inspect: (code, position) => answered(() => executor.inspect(code, position), null),
  }
}

/** Whether a cell ran to its end; showing its last value is part of it. */
async function executed(run) {
  try {
    return await run()
  } catch (error) {
    printError(error)
    return false
  }
}

/** An answer, or none where TypeScript fails: the terminal is told why, and no cell. */
function answered(ask, none) {
  try {
    return ask()
  } catch (error) {
    writeSync(2, `${inspect(error)}\n`)
    return none
  }
}

/** Prints the last value of a cell; tables of Arquero's own show themselves as stages' tables do. */
function printValue(value) {
  const isTable = typeof value?.columnNames === 'function' && typeof value.numRows === 'function'
  interruptible(() => {
    if (isTable) createRequire(join(process.cwd(), 'cell.js'))('flowdelta').show(value)
    else console.log(value)
  })
}

/** Prints what a cell threw, without code and frames that are not the cell's, or a diagnostic. */
function printError(error, ...rest) {
  if (isInterruption(error)) return console.error('Interrupted.')
  if (typeof error?.stack === 'string') {
    error.stack = error.stack
      .replace(SOURCE_EXCERPT, '')
      .split('\n')
      .filter((line) => !KERNEL_FRAME.test(line))
      .join('\n')
  }
  console.error(error, ...rest)
}

main(process.argv[2])
