// Lets Ctrl-C and a front end's ■ end a cell that computes, after its first `await` too.
const { Script } = require('node:vm')
const { ts } = require('./language.cjs')

const RUN = Symbol.for('flowdelta.kernel.run')
const CALL = new Script(`globalThis[Symbol.for(${JSON.stringify(RUN.description)})]()`)

/** Runs a function so that SIGINT ends it, as an error of the code ERR_SCRIPT_EXECUTION_INTERRUPTED. */
function interruptible(run) {
  globalThis[RUN] = run
  return CALL.runInThisContext({ breakOnSigint: true })
}

function isInterruption(error) {
  return (
    error?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ||
    error?.message === 'Interrupted asynchronously'
  )
}

/**
 * The converter of cells, with each stretch between two `await`s of a cell made interruptible. tslab
 * runs only the first one so; Node runs the others straight from its loop.
 */
function interruptibleConverter(converter) {
  return {
    ...converter,
    convert(...given) {
      const converted = converter.convert(...given)
      if (!converted.hasToplevelAwait || !converted.output) return converted
      const source = `return (async () => {\n${converted.output}\n})()`
      const { outputText } = ts.transpileModule(source, {
        compilerOptions: { target: ts.ScriptTarget.ES2016, module: ts.ModuleKind.None },
      })
      const made = `globalThis[Symbol.for(${JSON.stringify(AWAITER.description)})]`
      return { ...converted, output: `return (function () {\n${outputText}\n}).call(${made})` }
    },
  }
}

const AWAITER = Symbol.for('flowdelta.kernel.awaiter')

/** TypeScript makes generators of async functions; its code takes what runs them from \`this\`. */
globalThis[AWAITER] = {
  __awaiter: (self, given, _promise, generator) =>
    new Promise((resolve, reject) => {
      const running = generator.apply(self, given ?? [])
      const go = (verb, value) => {
        try {
          const { done, value: next } = interruptible(() => running[verb](value))
          if (done) resolve(next)
          else
            Promise.resolve(next).then(...['next', 'throw'].map((then) => (got) => go(then, got)))
        } catch (error) {
          reject(error)
        }
      }
      go('next')
    }),
}

module.exports = { interruptible, interruptibleConverter, isInterruption }
