import { expect, test } from 'vitest'
import { flowdelta, ROOT, schemaErrors } from './run-cli.ts'

test.each([
  'control',
  'create-behaviour',
  'delay-100us',
  'delay-500us',
  'delay-1ms',
  'mds-config',
  'mds-prefetch',
  'periodic-spikes',
  'rare-operation',
  'rmw',
])('the document of %s has at most 32,000 bytes, and every id in it', async (name) => {
  const folder = `${ROOT}datasets/storage-service/${name}`
  const periods = ['--before', `${folder}/before.jsonl.gz`, '--after', `${folder}/after.jsonl.gz`]
  const { out } = await flowdelta('compare', ...periods, '--json')
  expect(Buffer.byteLength(out)).toBeLessThanOrEqual(32_000)
  const document = JSON.parse(out)
  expect(schemaErrors('compare', document)).toBeNull()
  const ids = document.findings.map(({ id }: { id: string }) => id)
  for (const { consequences } of document.findings) {
    expect(ids).toEqual(expect.arrayContaining(consequences))
  }
})
