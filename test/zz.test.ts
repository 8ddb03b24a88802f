import { test } from 'vitest'
import { compareShops } from './compare/findings/fixture.ts'
test('x', () => {
  const c = compareShops({ requests: 1000 }, { requests: 1000, failing: 0.1, passesOn: false })
  console.log(c.findings.text())
})
