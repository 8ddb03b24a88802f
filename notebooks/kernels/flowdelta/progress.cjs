// Says what a cell is at once it takes longer than two seconds, also while it computes without a pause.
const { join } = require('node:path')
const { Worker } = require('node:worker_threads')
const { builtFlowdelta } = require('./language.cjs')

const FIRST_AFTER_MS = 2000
const THEN_EACH_MS = 1000

/** Steps of a comparison in their order, and the functions that are under way in each. */
const STEPS = [
  ['request flows', ['buildFlows']],
  ['categories', ['categorize', 'findResponseTimeMutations', 'matchPrecursors']],
  ['what services do', ['findStepChanges', 'findEdgeChanges']],
  ['in which requests', ['findSegments']],
  ['findings', ['draftFindings', 'claimMutations', 'groupFindings']],
]

/**
 * A thread of its own asks the main one, through the inspector, to look at its stack: that reaches a
 * thread which never returns to its loop, and costs nothing in between.
 */
const WATCH = `
const { Session } = require('node:inspector')
const { parentPort, workerData } = require('node:worker_threads')
const session = new Session()
session.connectToMainThread()
let timer
const look = () => {
  session.post('Runtime.evaluate', { expression: workerData.expression })
  timer = setTimeout(look, workerData.each)
}
parentPort.on('message', (isRunning) => {
  clearTimeout(timer)
  if (isRunning) timer = setTimeout(look, workerData.first)
})`

const LOOK = Symbol.for('flowdelta.kernel.look')

/**
 * Watches cells. \`show\` is tslab's function for an output of the running cell.
 *
 * @param {() => ((content: object, isUpdate: boolean) => void) | null} show
 */
function watchCells(show) {
  const watch = new Worker(WATCH, {
    eval: true,
    execArgv: [],
    workerData: {
      expression: `globalThis[Symbol.for(${JSON.stringify(LOOK.description)})]()`,
      first: FIRST_AFTER_MS,
      each: THEN_EACH_MS,
    },
  })
  watch.unref()
  let cells = 0
  let cell
  const write = (text) => {
    const html = text && `<div style="color: gray; font-size: 0.9em">${text}</div>`
    const content = { data: { 'text/plain': text, 'text/html': html }, metadata: {} }
    show()?.({ ...content, transient: { display_id: cell.id } }, cell.isShown)
    cell.isShown = true
  }
  globalThis[LOOK] = () => {
    if (cell !== undefined)
      write(`${workOf(stackOf())}: ${Math.round((Date.now() - cell.began) / 1000)} s`)
  }
  return async (run) => {
    cell = { id: `flowdelta-progress-${process.pid}-${cells++}`, began: Date.now(), isShown: false }
    watch.postMessage(true)
    try {
      return await run()
    } finally {
      watch.postMessage(false)
      if (cell.isShown) write('')
      cell = undefined
    }
  }
}

/** The names of all functions under way, the innermost first. */
function stackOf() {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = Number.POSITIVE_INFINITY
  const { stack } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  return Array.from(stack.matchAll(/^ +at (?:.*\.)?(\w+)(?: \[.*\])? \(/gm), ([, name]) => name)
}

/** What these functions are part of: a step of a comparison, a function of flowdelta's, or anything. */
function workOf(names) {
  const isUnderWay = ([, functions]) => functions.some((name) => names.includes(name))
  const step = STEPS.findLastIndex(isUnderWay)
  if (step >= 0) return `step ${step + 1} of ${STEPS.length}, ${STEPS[step][0]}`
  const known = publicNames()
  return names.findLast((name) => known.has(name)) ?? 'running'
}

/** What flowdelta exports, if a cell has imported it. */
function publicNames() {
  const { [join(builtFlowdelta(), 'index.cjs')]: module } = require.cache
  return new Set(Object.keys(module?.exports ?? {}))
}

module.exports = { STEPS, watchCells }
