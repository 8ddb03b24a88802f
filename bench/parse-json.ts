// The same graphs as JSON, one a line, through JSON.parse, in a process of its own; prints how long it took.
import { readFileSync } from 'node:fs'

const lines = process.argv.slice(2).flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n\n')
    .filter((graph) => graph.trim() !== '')
    .map((graph) => JSON.stringify(graphOf(graph))),
)
let kept = 0
const start = performance.now()
for (const line of lines) kept += (JSON.parse(line) as { nodes: unknown[] }).nodes.length
const seconds = (performance.now() - start) / 1000
process.stdout.write(JSON.stringify({ seconds, nodes: kept }))

function graphOf(text: string) {
  const [header, , ...statements] = text.split('\n')
  const pairs = statements.flatMap((line) => {
    const [, names, label] = /^(.*) \[label="(.*)"\]$/.exec(line) ?? []
    return names === undefined || label === undefined ? [] : [{ names: names.split(' -> '), label }]
  })
  return {
    header,
    nodes: pairs.filter(({ names }) => names.length === 1),
    edges: pairs.filter(({ names }) => names.length === 2),
  }
}
