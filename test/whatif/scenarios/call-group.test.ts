import { describe, expect, test } from 'vitest'
import { CallPaths } from '../../../src/calls/call-paths.ts'
import {
  calledBy,
  callGroup,
  dividedGroup,
  groupsByName,
  groupsByService,
  groupTitle,
  reachedBy,
  rootPaths,
} from '../../../src/whatif/scenarios/call-group.ts'

/** web GET calls cart list, whose step asks db read; web GET and api GET call db write. */
function samplePaths() {
  const paths = new CallPaths()
  const name = (text: string) => paths.nameOf(...(text.split(' ') as [string, string]))
  const web = paths.child(null, name('web GET'))
  const cart = paths.child(web, name('cart list'))
  const step = paths.child(cart, name('cart step'))
  const read = paths.child(step, name('db read'))
  const write = paths.child(web, name('db write'))
  const api = paths.child(null, name('api GET'))
  const apiWrite = paths.child(api, name('db write'))
  return { paths, web, cart, step, read, write, api, apiWrite }
}

const { paths, web, cart, step, read, write, api, apiWrite } = samplePaths()
const group = (...members: number[]) => callGroup(paths, members)

describe('groups of calls', () => {
  test('have a service and an operation where all their paths do', () => {
    expect(group(write, apiWrite)).toEqual({
      paths: [write, apiWrite],
      service: 'db',
      operation: 'write',
    })
    expect(group(apiWrite, read)).toMatchObject({ service: 'db', operation: '' })
    expect(group(web, api)).toMatchObject({ service: '', operation: '' })
  })

  test('of requests, of services called by others, of operations', () => {
    expect(rootPaths(paths)).toEqual([web, api])
    expect(groupsByService(paths).map((each) => each.paths)).toEqual([
      [cart],
      [read, write, apiWrite],
    ])
    expect(groupsByName(paths, [read, write, apiWrite]).map((each) => each.paths)).toEqual([
      [read],
      [write, apiWrite],
    ])
  })

  test('what they call, and reach through steps of their own service', () => {
    expect(calledBy(paths, group(cart))).toEqual([step])
    expect(reachedBy(paths, group(cart))).toEqual([step, read])
    expect(reachedBy(paths, group(web, api))).toEqual([cart, write, apiWrite])
  })

  test('divide by operation, then by path', () => {
    const parts = (...members: number[]) =>
      dividedGroup(paths, group(...members)).map((each) => each.paths)
    expect(parts(read, write, apiWrite)).toEqual([[read], [write, apiWrite]])
    expect(parts(write, apiWrite)).toEqual([[write], [apiWrite]])
    expect(parts(read)).toEqual([])
  })
})

describe('titles', () => {
  test.each([
    [group(write, apiWrite), 'db write'],
    [group(write), 'db write called by web'],
    [group(read), 'db read'],
    [group(step), 'cart step'],
    [group(web), 'web GET'],
    [group(web, api), 'all requests'],
  ])('%j', (each, title) => {
    expect(groupTitle(paths, each)).toBe(title)
  })

  test('tell calls of the same name apart by the caller, or by what is further up', () => {
    const paths = new CallPaths()
    const name = (text: string) => paths.nameOf(...(text.split(' ') as [string, string]))
    const write = (root: string, via: string, steps: readonly string[] = []) => {
      const top = paths.child(paths.child(null, name(root)), name(via))
      const last = steps.reduce((at, step) => paths.child(at, name(step)), top)
      return paths.child(last, name('db write'))
    }
    const [get, post] = [write('web GET', 'cart put'), write('web POST', 'cart put')]
    const [drop, direct] = [write('web POST', 'cart drop'), write('web POST', 'log add')]
    const title = (...members: number[]) => groupTitle(paths, callGroup(paths, members))
    expect(title(get, post, drop, direct)).toBe('db write')
    expect(title(get, post, drop)).toBe('db write called by cart')
    expect(title(get, post)).toBe('db write called by cart put')
    expect(title(get)).toBe('db write in web GET')
    expect(title(post, drop, direct)).toBe('db write in web POST')
    expect(title(post)).toBe('db write along web POST › cart put')
    expect(title(get, direct)).toBe('db write along 2 of 4 chains of calls')
  })
})
