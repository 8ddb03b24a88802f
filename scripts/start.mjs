// npm start: from a fresh clone to a notebook in the browser. Plain Node.
import { choosePort, findJupyter, installJupyter, startJupyter } from './jupyter.mjs'
import {
  checkNode,
  ensureBuild,
  ensureDependencies,
  readArguments,
  SetupError,
  say,
} from './setup.mjs'

const HELP = `npm start                     opens the notebooks in Jupyter; where there is none, asks before it installs one
npm start -- --run            runs every notebook without Jupyter or Python and writes it as a page under out/

  --yes           installs Jupyter without asking, for machines
  --port N        Jupyter's port (default: the first free one from 8888 on)
  --no-browser    starts Jupyter without opening a browser
  --help          this text`

const NO_JUPYTER = `There is no Jupyter here, and none was installed. Any one of these brings it:
  npm start -- --yes   installs it as said above, where that is possible
  Debian, Ubuntu   sudo apt-get install jupyter-notebook
  uv               https://docs.astral.sh/uv/, then npm start again
  pip              python3 -m venv .venv && .venv/bin/pip install notebook
Until then, here are the notebooks as pages:`

async function main() {
  checkNode()
  const options = await readOptions()
  await ensureDependencies()
  await ensureBuild()
  if (options.run) return writeAllPages()
  const port = await choosePort(options.port)
  if (port === undefined)
    throw new SetupError(
      `Port ${options.port ?? '8888 and the 99 after it'} is taken. Give another one with --port.`,
    )
  const { listNotebooks } = await import('./notebook-runner.mjs')
  const [notebook] = listNotebooks()
  if (notebook === undefined)
    throw new SetupError(
      'There is no notebook in notebooks/. Check the clone: git status, git checkout notebooks.',
    )
  const jupyter = findJupyter() ?? (await installJupyter({ yes: options.yes }))
  if (jupyter === undefined) {
    say(NO_JUPYTER)
    return writeAllPages()
  }
  process.exitCode = await startJupyter(jupyter, { notebook, port, browser: options.browser })
}

async function readOptions() {
  const { values } = await readArguments(HELP, {
    options: {
      run: { type: 'boolean', default: false },
      yes: { type: 'boolean', short: 'y', default: false },
      port: { type: 'string' },
      'no-browser': { type: 'boolean', default: false },
    },
  })
  const port = values.port === undefined ? undefined : Number(values.port)
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
    throw new SetupError(`--port is ${JSON.stringify(values.port)}. Give a number from 1 to 65535.`)
  }
  return { run: values.run, yes: values.yes, browser: !values['no-browser'], port }
}

async function writeAllPages() {
  const { writePages } = await import('./pages.mjs')
  const { pages, failures } = await writePages()
  for (const { file } of pages) say(file)
  for (const failure of failures) say(`\n${failure}`)
  if (failures.length > 0) process.exitCode = 1
}

main().catch((error) => {
  say(error instanceof SetupError ? error.message : (error?.stack ?? String(error)))
  process.exitCode = 1
})
