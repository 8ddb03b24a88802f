// A line now and then while tests run: what else is printed is only what fails.
const EVERY_MS = 20_000

/** @implements {import('vitest/reporters').Reporter} */
export default class TestProgress {
  #files = 0
  #ended = 0
  #start = 0
  #said = 0

  onTestRunStart(/** @type {readonly unknown[]} */ files) {
    this.#files = files.length
    this.#start = this.#said = performance.now()
  }

  onTestModuleEnd() {
    this.#ended++
    const now = performance.now()
    if (now - this.#said < EVERY_MS) return
    this.#said = now
    const seconds = Math.round((now - this.#start) / 1000)
    process.stdout.write(`${this.#ended} of ${this.#files} files (${seconds} s)\n`)
  }
}
